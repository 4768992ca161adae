"""How much longer than `import numpy` a fresh interpreter takes to import tfedu, and to make a first tensor."""
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
BASELINE = "import numpy"
CASES = {"import tfedu": "import numpy, tfedu", "first tensor": "import numpy; import tfedu as tf; tf.constant(1.)"}
TARGET = 30  # ms more than NumPy alone


def once(code: str, environment: dict[str, str]) -> tuple[float, float, str]:
    "Seconds from starting an interpreter to its end, its CPU time, and the last line of its complaint if it failed."
    start = perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    complaint = process.stderr.read()  # until the interpreter ends
    _, process.returncode, used = os.wait4(process.pid, 0)
    seconds = perf_counter() - start
    process.stderr.close()
    return seconds, used.ru_utime + used.ru_stime, complaint.strip().split("\n")[-1] if process.returncode else ""


def measure(
    environment: dict[str, str],  # of the interpreters
    rounds: int = 20,  # every case once a round, in random order
) -> dict[str, dict[str, float | str]]:
    "Case to its ms more than `import numpy`: median, minimum and maximum over rounds, and median of the CPU time; or to its error."
    codes = {BASELINE: BASELINE, **CASES}
    errors = {case: once(code, environment)[2] for case, code in codes.items()}  # writes bytecode and fills the file cache, too
    times = {case: [] for case, error in errors.items() if not error}
    for _ in range(rounds):
        for case in random.sample(list(times), len(times)): times[case].append(once(codes[case], environment)[:2])
    seen = {}
    for case in CASES:
        if errors[case]:
            seen[case] = {"error": errors[case]}
            continue
        pairs = zip(times[case], times[BASELINE], strict=True)
        wall, cpu = zip(*((1e3 * (t - base), 1e3 * (c - base_cpu)) for (t, c), (base, base_cpu) in pairs), strict=True)
        seen[case] = {"median": statistics.median(wall), "minimum": min(wall), "maximum": max(wall), "cpu": statistics.median(cpu)}
    return seen


def table(seen: dict[str, dict[str, float | str]]) -> str:
    "The differences; CPU time is the steadier one when the machine is busy."
    lines = ["W8: a fresh interpreter, ms more than `import numpy` takes",
             f"  {'':<22}{'median':>12}{'CPU':>9}   {'min - max':<17}{'target':>6}"]
    for case, s in seen.items():
        if "error" in s:
            lines.append(f"  {case:<22}failed: {s['error']}")
            continue
        spread, result = f"{s['minimum']:.1f} - {s['maximum']:.1f}", "met" if s["median"] <= TARGET else "missed"
        lines.append(f"  {case:<22}{s['median']:>9.1f} ms{s['cpu']:>9.1f}   {spread:<17}{TARGET:>6} {result}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(measure({k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"})))
