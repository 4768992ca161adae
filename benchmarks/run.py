"""Times tfedu, its peers and hand-written NumPy side by side, and prints ratios: see README.md.

Every contender is a process that lives as long as the run and is stopped (SIGSTOP) except in its own slices: threads that wait for work by
spinning would steal from the one that is timed. Each round gives every contender one slice, in a new random order, so that a slow minute of
the machine hits all alike."""
import argparse
import json
import os
import platform
import random
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import import_time
from adapters import CONTENDERS, OURS
from workloads import DEFAULT, WORKLOADS

HERE = Path(__file__).resolve().parent
REFERENCE, IMPORT = "numpy", "W8"
START, ANSWER = 180, 120  # seconds that a contender may take to start, and to answer
# Freed memory is kept instead of being returned to the system: page faults would otherwise dominate, most of all for peers without a pool.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": 2 ** 32, "MALLOC_TRIM_THRESHOLD_": 2 ** 33, "MALLOC_TOP_PAD_": 2 ** 26, "MALLOC_ARENA_MAX": 1}


def environment() -> dict[str, str]:
    "Ours, with the malloc above and without settings that slow NumPy's BLAS down or keep Python from caching bytecode."
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_", "MALLOC_")) and k != "PYTHONDONTWRITEBYTECODE"}
    return kept | {k: str(v) for k, v in MALLOC.items()} | {"TF_CPP_MIN_LOG_LEVEL": "3"}


def cpu_seconds(pid: int | None = None) -> float:
    "CPU time used by a process, or by the whole machine; 0 where /proc does not say."
    try:
        if pid is None:
            user, nice, system, _, _, hard, soft = (int(n) for n in Path("/proc/stat").read_text().split()[1:8])
            ticks = user + nice + system + hard + soft  # without idle and waiting
        else: ticks = sum(int(n) for n in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])
    except OSError: return 0.
    return ticks / os.sysconf("SC_CLK_TCK")


class Failure(Exception): pass


class Process:
    "A contender: `worker.py` under some interpreter."

    def __init__(self, contender: str, python: str, priority: bool):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([python, HERE / "worker.py", contender], env=environment(), start_new_session=True, text=True,
                                        bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        if priority:  # Linux weighs sessions against each other, so `nice` counts only within one
            os.setpriority(os.PRIO_PROCESS, self.process.pid, -20)
            group = Path(f"/proc/{self.process.pid}/autogroup")
            if group.exists(): group.write_text("-20")

    def answer(self, seconds: float) -> dict[str, Any]:
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        if not ready: raise Failure(f"no answer in {seconds:.0f} s")
        line = self.process.stdout.readline()
        if line: return json.loads(line)
        self.errors.seek(0)
        said = self.errors.read().strip().split("\n")[-1]
        raise Failure(said or f"ended with status {self.process.wait()}")

    def start(self) -> str:
        version = self.answer(START)["version"]
        os.kill(self.process.pid, signal.SIGSTOP)
        return version

    def ask(self, seconds: float = ANSWER, **request: Any) -> dict[str, Any]:
        "Runs only while it answers."
        os.kill(self.process.pid, signal.SIGCONT)
        with suppress(BrokenPipeError):  # the missing answer tells more
            self.process.stdin.write(json.dumps(request) + "\n")
        answer = self.answer(seconds)
        os.kill(self.process.pid, signal.SIGSTOP)
        return answer

    def time(self, seconds: float) -> dict[str, float]:
        "A slice; `others` is how many cores the rest of the machine kept busy meanwhile."
        machine, own, start = cpu_seconds(), cpu_seconds(self.process.pid), time.perf_counter()
        answer = self.ask(time=seconds)
        elsewhere = (cpu_seconds() - machine) - (cpu_seconds(self.process.pid) - own)
        return answer | {"others": max(0., elsewhere / (time.perf_counter() - start))}

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def contenders(pythons: dict[str, str], only: list[str]) -> dict[str, tuple[str, str]]:
    "Name to (contender, interpreter). Peers of a further interpreter carry its name if they would hide one that is already there."
    found = {}
    for label, python in {"": sys.executable, **pythons}.items():
        try: listed = subprocess.run([python, HERE / "worker.py"], capture_output=True, text=True, env=environment())
        except OSError as error: raise SystemExit(f"--python: {label}={python}: {error.strerror}") from None
        if listed.returncode: raise SystemExit(f"{python} cannot run benchmarks/worker.py: {listed.stderr.strip().split(chr(10))[-1]}")
        for name in json.loads(listed.stdout):
            if label and name in OURS: continue
            found[f"{label}:{name}" if name in found else name] = name, python
    unknown = [name for name in only if name not in found]
    if unknown: raise SystemExit(f"--only: {', '.join(unknown)} not found. Here are: {', '.join(found)}")
    return {name: value for name, value in found.items() if name == REFERENCE or not only or name in only}


def race(processes: dict[str, Process], workload: str, rounds: int, seconds: float) -> dict[str, dict[str, Any]]:
    "Builds a workload in every process and times them in turns. Contender to what was seen of it."
    seen = {name: {"rounds": []} for name in processes}

    def ask(name: str, method: Callable[..., dict[str, Any]], *args: Any, **kwargs: Any) -> dict[str, Any]:
        try: return method(*args, **kwargs)
        except Failure as failure:  # it will not answer any more
            processes.pop(name).end()
            return {"error": str(failure)}
    for name in tuple(processes): seen[name] |= ask(name, processes[name].ask, build=workload)
    for _ in range(rounds):
        racing = [name for name, result in seen.items() if "check" in result and "error" not in result]
        for name in random.sample(racing, len(racing)):
            answer = ask(name, processes[name].time, seconds)
            if "error" in answer: seen[name] |= answer
            else: seen[name]["rounds"].append(answer)
    return seen


def judge(seen: dict[str, dict[str, Any]], workload: str) -> None:
    "Adds `milliseconds`, `ratio` (median, minimum, maximum over rounds), `difference` from the reference's numbers, `same` and `target`."
    work, reference = WORKLOADS[workload], seen[REFERENCE]
    if "error" in reference: raise SystemExit(f"{workload}: hand-written NumPy failed: {reference['error']}")
    for name, result in seen.items():
        if "check" not in result or "error" in result: continue
        ratios = [mine["median"] / its["median"] for mine, its in zip(result["rounds"], reference["rounds"], strict=True)]
        result["milliseconds"] = 1e3 * statistics.median(r["median"] for r in result["rounds"])
        result["ratio"] = statistics.median(ratios), min(ratios), max(ratios)
        result["difference"] = max(abs(result["check"][k] - value) / max(abs(value), 1e-12) for k, value in reference["check"].items())
        result["same"] = result["difference"] <= work.tolerance  # False for NaN too
        if name in work.targets: result["target"] = work.targets[name]


def table(seen: dict[str, dict[str, Any]], workload: str) -> str:
    "What `make bench` shows of a workload, fastest first."
    lines = [f"{workload}: {WORKLOADS[workload].title}", f"  {'contender':<22}{'time':>12}{'ratio':>9}   {'min - max':<17}{'target':>6}"]
    timed = {name: result for name, result in seen.items() if "ratio" in result}
    for name, result in sorted(timed.items(), key=lambda item: item[1]["ratio"][0]):
        median, low, high = result["ratio"]
        milliseconds = result["milliseconds"]
        duration = f"{milliseconds:.3g} ms" if milliseconds >= 1 else f"{1e3 * milliseconds:.3g} us"
        goal = f"{result['target']:>6} {'met' if median <= result['target'] else 'missed'}" if "target" in result else ""
        wrong = "" if result["same"] else f"   another result: differs by {result['difference']:.1e}"
        spread = f"{low:.2f} - {high:.2f}" if name != REFERENCE else ""
        lines.append(f"  {name:<22}{duration:>12}{median:>9.2f}   {spread:<17}{goal}{wrong}".rstrip())
    lines += [f"  {name:<22}failed: {result['error']}" for name, result in seen.items() if "error" in result]
    reasons = {}
    for name, result in seen.items():
        if "unsupported" in result: reasons.setdefault(result["unsupported"], []).append(name)
    if reasons: lines.append("  not supported yet: " + "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items()))
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time tfedu and its peers against hand-written NumPy.",
                                     epilog=f"Contenders: {', '.join(CONTENDERS)}. Exit status 1: tfedu failed or computed something else.")
    parser.add_argument("--workloads", default=",".join((*DEFAULT, IMPORT)),
                        help=f"of {', '.join(WORKLOADS)}, {IMPORT}, or all (default %(default)s)")
    parser.add_argument("--only", default="", help="contenders to run beside numpy (default: all that are installed)")
    parser.add_argument("--rounds", type=int, default=9, help="slices of each contender (default %(default)s)")
    parser.add_argument("--slice", type=float, default=.3, help="seconds of a slice (default %(default)s)")
    parser.add_argument("--json", type=Path, help="write everything that was measured to this file")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH", help="a further interpreter with peers; repeatable")
    parser.add_argument("--priority", action="store_true", help="run contenders before other programs of the machine (needs root)")
    parser.add_argument("--strict", action="store_true", help="exit status 1 for a missed target too")
    options = parser.parse_args()
    options.workloads = [*WORKLOADS, IMPORT] if options.workloads == "all" else options.workloads.split(",")
    unknown = [w for w in options.workloads if w not in WORKLOADS and w != IMPORT]
    if unknown: parser.error(f"--workloads: unknown {', '.join(unknown)}")
    wrong = [p for p in options.python if "=" not in p]
    if wrong: parser.error(f"--python: expected NAME=PATH, got {wrong[0]}")
    if options.rounds < 1: parser.error("--rounds: expected at least 1")
    options.python, options.only = dict(p.split("=", 1) for p in options.python), [name for name in options.only.split(",") if name]
    return options


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the processes are ended below
    versions, results, processes = {}, {}, {}
    workloads = [w for w in options.workloads if w != IMPORT]
    chosen = contenders(options.python, options.only) if workloads else {}
    try:
        for name, (contender, python) in chosen.items():
            processes[name] = Process(contender, python, options.priority)
            try: versions[name] = processes[name].start()
            except Failure as failure:
                print(f"{name} did not start: {failure}", flush=True)
                processes.pop(name).end()
        print(", ".join(dict.fromkeys(versions.values())) + f"; {options.rounds} rounds of {options.slice} s\n", flush=True)
        for workload in workloads:
            results[workload] = race(processes, workload, options.rounds, options.slice)
            judge(results[workload], workload)
            print(table(results[workload], workload), flush=True)
    finally:
        for process in processes.values(): process.end()
    imports = import_time.measure(environment(), max(5, 2 * options.rounds)) if IMPORT in options.workloads else {}
    if imports: print(import_time.table(imports))
    if options.json:
        machine = {"system": platform.platform(), "python": platform.python_version(), "cpus": os.cpu_count(), "versions": versions}
        settings = {"rounds": options.rounds, "slice": options.slice}
        options.json.write_text(json.dumps({"machine": machine, **settings, "workloads": results, "import": imports}, indent=1))
    return verdict(results, imports, [name for name in chosen if name.startswith("tfedu") and name not in versions], options.strict)


def verdict(results: dict[str, dict[str, Any]], imports: dict[str, Any], unstarted: list[str], strict: bool) -> int:
    "Prints what is worth a second look, and gives the exit status."
    ours = [(workload, name, r) for workload, seen in results.items() for name, r in seen.items() if name.startswith("tfedu")]
    broken = [*unstarted, *(f"{name} {workload}" for workload, name, r in ours if "error" in r or not r.get("same", True))]
    missed = [f"{name} {workload} {r['ratio'][0]:.2f} ({r['target']})" for workload, name, r in ours
              if "target" in r and r["ratio"][0] > r["target"]]
    broken += [case for case, seen in imports.items() if "error" in seen]
    missed += [f"{case} {seen['median']:.0f} ms ({import_time.TARGET})" for case, seen in imports.items()
               if seen.get("median", 0) > import_time.TARGET]
    others = [s["others"] for seen in results.values() for r in seen.values() for s in r.get("rounds", ())]
    busy = statistics.mean(others) if others else 0
    if busy > .1: print(f"Other programs kept {busy:.1f} cores busy meanwhile: measure again on a quiet machine (or see --priority).")
    if broken: print(f"Failed: {', '.join(broken)}")
    if missed: print(f"Missed targets: {', '.join(missed)}")
    return int(bool(broken or strict and missed))


if __name__ == "__main__": sys.exit(main())
