"""One contender as a process that answers one JSON line for every JSON line it is asked; started by `run.py`.

`worker.py NAME` first says its version, then understands `{"build": workload}` and `{"time": seconds}`. `worker.py` alone lists the
contenders whose framework can be imported here."""
import ctypes
import gc
import importlib.util
import json
import os
import signal
import sys
import traceback
import warnings
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))  # the tfedu beside this folder, whether installed or not

from adapters import CONTENDERS, Runner, load  # noqa: E402
from workloads import WORKLOADS, Workload  # noqa: E402

PR_SET_PDEATHSIG = 1  # sends a signal when the parent ends
SHORT, BATCH = 1e-3, 2e-3  # steps shorter than 1 ms are timed in batches of about 2 ms, for the clock costs something too


def build(adapter: Any, work: Workload) -> tuple[Runner, dict[str, float]] | str:
    "A warm runner and its checked numbers, or the reason why there is none: a public name that a module lacks is one. Other errors pass."
    make = getattr(adapter, work.kind, None)
    if make is None: return f"the adapter has no {work.kind}"
    try: return warm(make(work, work.data())) or "not what it is for"
    except NotImplementedError as error: return f"not implemented: {error}"
    except AttributeError as error:
        if isinstance(error.obj, ModuleType): return f"{error.obj.__name__} has no {error.name!r}"
        raise


def warm(runner: Runner | None) -> tuple[Runner, dict[str, float]] | None:
    "The runner after a few steps (one if it is slow), and the numbers of its check."
    if runner is None: return None
    checked = runner.check()
    for _ in range(3):
        start = perf_counter()
        runner.step()
        if perf_counter() - start > 1: break
    gc.collect()
    return runner, checked


def measure(runner: Runner, seconds: float) -> dict[str, float]:
    "Median and minimum time of one unit of work, in seconds, over a slice of time."
    step = runner.step
    start = perf_counter()
    step()
    once = perf_counter() - start
    repeats = max(1, int(BATCH / max(once, 1e-7))) if once < SHORT else 1
    times, end = [], perf_counter() + seconds
    while not times or start < end:
        start = perf_counter()
        for _ in range(repeats): step()
        times.append((perf_counter() - start) / (repeats * runner.units))
    times.sort()
    return {"median": times[len(times) // 2], "minimum": times[0], "count": len(times) * repeats * runner.units}


def answers(name: str):
    "A generator that is sent requests and yields answers."
    adapter = load(name)
    request, runner = (yield {"version": adapter.version}), None
    while True:
        if "time" in request:
            request = yield measure(runner, request["time"])
            continue
        runner = None  # lets go of the buffers of the workload before
        try:
            built = build(adapter, WORKLOADS[request["build"]])
            if isinstance(built, str): request = yield {"unsupported": built}
            else:
                runner, checked = built
                request = yield {"check": checked}
        except Exception as error:  # whatever goes wrong in a framework belongs in the table
            traceback.print_exc()
            request = yield {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    warnings.filterwarnings("ignore")
    if len(sys.argv) == 1:
        print(json.dumps([name for name, contender in CONTENDERS.items() if importlib.util.find_spec(contender.requires)]))
        return
    if sys.platform == "linux": ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a stopped process cannot see that run.py ended
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a framework prints must not mix with the answers
    conversation = answers(sys.argv[1])
    out.write(json.dumps(next(conversation)) + "\n")
    for line in sys.stdin: out.write(json.dumps(conversation.send(json.loads(line))) + "\n")


if __name__ == "__main__": main()
