"""Checked mode runs kernels in a helper process: it outlives launches, but neither crashes nor Python, and leaves nothing behind."""
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tfedu.kernels import simulator
from tfedu.kernels.compiler import KernelError
from tfedu.kernels.hooks import HELPERS, dismiss
from tfedu.kernels.kernel import Kernel
from tfedu.kernels.report import check, checked_module

ADD = 'extern "C" __global__ void add(int *x, int by) { x[threadIdx.x] += by; }'
ENDLESS = 'extern "C" __global__ void wait(volatile int *x) {\n    while (x[0]) ;\n}'


def ints(n): return np.zeros(n, np.int32)


def add(x, by): return Kernel("add", ADD, register=False).check(1, len(x), (x, np.int32(by)))


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def runs(process):
    "Whether there is a process that has not ended."
    try: return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError: return False


@pytest.fixture
def helper():
    "A fresh helper that knows the kernel `add`."
    x = ints(2)
    add(x, 1)
    dismiss()
    add(x, 1)
    assert x.tolist() == [2, 2]
    return HELPERS[0].process


def test_one_helper_runs_many_launches(helper):
    x = ints(64)
    for _ in range(5): add(x, 2)
    assert HELPERS[0].process == helper and (x == 10).all()


def test_a_kernel_that_is_new_to_the_helper():
    text = 'extern "C" __global__ void f(int *x) { x[threadIdx.x] = %d; }'
    for n in (71, 72, 71):
        assert not Kernel("f", text % n, register=False).check(1, 4, (x := ints(4),)).findings and x.tolist() == [n] * 4


def test_larger_arrays_than_the_helper_knows(helper):
    size = (simulator.MEMORY[0].size >> 2) + (1 << 19)
    x, kernel = ints(size), Kernel("last", 'extern "C" __global__ void last(int *x, int n) { x[n - 1] = x[n / 2] = 7; }', register=False)
    kernel.check(1, 1, (x, np.int32(size)), seconds=600)
    assert x.sum() == 14


CRASHES = {"stack": ("__device__ int deep(volatile int *x, int n) { volatile char room[1000]; room[n % 1000] = n;\n"
                     "    return x[0] ? deep(x, n + 1) + room[(n * 7) % 1000] : n; }\n"
                     'extern "C" __global__ void f(volatile int *x) {\n    x[1] = deep(x, 0);\n}', "crash", (1, 2)),
           "division": ('extern "C" __global__ void f(volatile int *x) {\n    x[0] = 100 / x[1];\n}', "division by zero", (2,)),
           "wild": ('extern "C" __global__ void f(volatile int *x) {\n    x[1l << 40] = 1;\n}', "out of bounds", (2,)),
           "trap": ('extern "C" __global__ void f(volatile int *x) {\n    x[1] = 2;\n    __trap();\n}', "trap", (3,)),
           "runaway": ('extern "C" __global__ void f(volatile int *x) {\n    x[1] = 2;\n    while (x[0]) ;\n}', "time limit", (3,)),
           "early": ('extern "C" __global__ void f(volatile int *x) {\n    if (threadIdx.x) return;\n    __syncthreads();\n}',
                     "skipped barrier", (3,))}


@pytest.mark.parametrize("name", CRASHES)
def test_what_goes_wrong_is_found_and_the_next_launch_is_right(name):
    source, kind, lines = CRASHES[name]
    x, y = np.array([1, 0], np.int32), ints(3)
    finding = Kernel("f", source, register=False).check(1, 2, (x,), seconds=0.4, raises=False).findings[0]
    assert finding.kind == kind and finding.line in lines and x.tolist() == [1, 0]
    add(y, 5)
    assert y.tolist() == [5, 5, 5]


def endless(seconds, then):
    "Findings of a kernel that never ends, when something is done to its helper after a while."
    kernel, x = Kernel("wait", ENDLESS, register=False), ints(1)
    kernel.check(1, 1, (x,))
    x[0] = 1
    threading.Timer(0.2, lambda: then(HELPERS[0].process)).start()
    return kernel.check(1, 1, (x,), seconds=seconds, raises=False).findings


def test_a_helper_that_is_killed():
    finding, = endless(60, lambda process: os.kill(process, signal.SIGKILL))
    assert finding.kind == "crash"
    add(x := ints(1), 3)
    assert x[0] == 3


def test_a_helper_that_does_not_hear_its_alarm():
    start = time.monotonic()
    finding, = endless(0.5, lambda process: os.kill(process, signal.SIGSTOP))
    assert finding.kind == "time limit" and time.monotonic() - start < 30 and not HELPERS


def test_control_c_ends_the_helper():
    with pytest.raises(KeyboardInterrupt): endless(60, lambda _: os.kill(os.getpid(), signal.SIGINT))
    assert not HELPERS
    add(x := ints(1), 3)
    assert x[0] == 3


def test_other_signals_do_not_disturb_a_launch():
    heard, before = [], signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    try: finding, = endless(0.6, lambda _: os.kill(os.getpid(), signal.SIGUSR1))
    finally: signal.signal(signal.SIGUSR1, before)
    assert heard == [1] and finding.kind == "time limit"


def test_a_helper_goes_home_when_nobody_calls(helper):
    wait_for(lambda: not runs(helper))
    add(x := ints(1), 3)
    assert x[0] == 3 and HELPERS[0].process != helper


def test_a_helper_that_somebody_else_has_waited_for(helper):
    os.kill(helper, signal.SIGKILL)
    os.waitpid(helper, 0)
    add(x := ints(1), 3)
    assert x[0] == 3


def test_variables_keep_their_contents():
    code = """__constant__ int step; __device__ int calls = 40;
__device__ int one(int n) { return n; } __device__ int (*change)(int) = one;
extern "C" __global__ void f(int *x, int stop) { x[0] = ++calls; x[1] = change(step); if (stop) __trap(); }"""
    module = checked_module(code, (), ())
    kernel, x = module.get_function("f"), ints(2)
    step, calls = (np.ndarray((), np.int32, module.get_global(name)) for name in ("step", "calls"))
    for value in (5, 6):
        step[...] = value
        assert not check(kernel, 1, 1, (x, np.int32(0))).findings and x.tolist() == [value + 36, value]
    calls[...] = 10
    check(kernel, 1, 1, (x, np.int32(0)))
    assert x.tolist() == [11, 6] and calls == 11
    check(kernel, 1, 1, (x, np.int32(1)))                         # ends the helper
    check(kernel, 1, 1, (x, np.int32(0)))
    assert x.tolist() == [13, 6] and step == 6


def test_what_is_printed(capsys):
    kernel = Kernel("say", 'extern "C" __global__ void say(int n) { printf("%d of %d\\n", blockIdx.x, n); }', register=False)
    for n in (1, 2): kernel.check(n, 1, (np.int32(n),))
    assert capsys.readouterr().out == "0 of 1\n0 of 2\n1 of 2\n"


def test_counts_are_the_same_in_every_launch():
    kernel = Kernel("half", """extern "C" __global__ void half(int n, float *x) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= 0.5f;
}""", register=False)
    reports = [repr(kernel.check(2, 32, (np.int32(40), np.ones(40, "f4")), raises=False)) for _ in range(3)]
    assert "race between blocks" in reports[0] and len(set(reports)) == 1
    quiet = [repr(kernel.check(1, 32, (np.int32(n), np.ones(40, "f4")))) for n in (40, 20, 40, 20)]
    assert quiet[:2] == quiet[2:] and quiet[0] != quiet[1]


def test_many_threads():
    arrays, wrong = [ints(8) for _ in range(8)], []
    def work(i):
        for _ in range(10):
            if add(arrays[i], i).findings: wrong.append(i)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert not wrong and [a.tolist() for a in arrays] == [[10 * i] * 8 for i in range(8)]


def test_the_thread_that_made_the_helper_may_end():
    dismiss()
    maker = threading.Thread(target=add, args=(ints(1), 1))
    maker.start()
    maker.join()
    helper = HELPERS[0].process
    add(x := ints(1), 3)
    assert x[0] == 3 and HELPERS[0].process == helper


def test_no_file_and_no_process_is_left():
    add(x := ints(1), 1)
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(200): add(x, 1)
    assert sorted(os.listdir("/proc/self/fd")) == before and x[0] == 201
    assert os.listdir(f"/proc/{HELPERS[0].process}/fd") == ["0"], "none of Python's files is kept open"
    dismiss()
    assert len(os.listdir("/proc/self/fd")) == len(before) - 1
    with pytest.raises(ChildProcessError): os.waitpid(-1, os.WNOHANG)


def test_a_forked_python_has_a_helper_and_variables_of_its_own(helper):
    module = checked_module('__device__ int n = 3;\nextern "C" __global__ void f(int *x) { x[0] = n++; }', (), ())
    kernel, x = module.get_function("f"), ints(1)
    check(kernel, 1, 1, (x,))
    mine, child = HELPERS[0].process, os.fork()
    if not child:
        try:
            check(kernel, 1, 1, (x,))
            check(kernel, 1, 1, (x,))
            add(y := ints(2), 3)
            good = x[0] == 5 and y.tolist() == [3, 3] and HELPERS[0].process != mine
        finally: os._exit(0 if good else 1)
    for _ in range(20): add(y := ints(2), 7)
    check(kernel, 1, 1, (x,))
    assert os.waitpid(child, 0)[1] == 0 and x[0] == 4 and y.tolist() == [7, 7] and HELPERS[0].process == mine


def test_a_forked_python_gets_variables_as_they_were():
    module = simulator.RawModule(code='__device__ int n = 1; __constant__ int c; extern "C" __global__ void f() {}')
    views = [np.ndarray((), np.int32, module.get_global(name)) for name in ("n", "c")]
    for i in range(30):
        for view in views: view[...] = i
        if not (child := os.fork()):
            time.sleep(0.01)
            os._exit(int([int(view) for view in views] != [i, i]))
        for view in views: view[...] = -1
        assert os.waitpid(child, 0)[1] == 0


def test_a_fork_during_a_launch_of_another_thread():
    kernel = Kernel("wait", ENDLESS, register=False)
    kernel.check(1, 1, (ints(1),))
    thread = threading.Thread(target=lambda: kernel.check(1, 1, (np.ones(1, "i4"),), seconds=0.5, raises=False))
    thread.start()
    time.sleep(0.1)
    child = os.fork()
    if not child:
        try: add(x := ints(1), 4)
        finally: os._exit(0 if x[0] == 4 else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


SCRIPT = """
import os, signal, sys, threading
import numpy as np
from tfedu.kernels.hooks import HELPERS
from tfedu.kernels.kernel import Kernel
kernel, x = Kernel("wait", {source!r}, register=False), np.zeros(1, "i4")
def check(): return kernel.check(1, 1, (x,), seconds=100)
check()
{what}
"""


def script(what, **how):
    text = SCRIPT.format(source=ENDLESS, what=what)
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, **how)


@pytest.mark.parametrize("busy", [0, 1])
def test_a_helper_ends_when_python_is_killed(busy):
    with script(f"x[0] = {busy}\nprint(HELPERS[0].process, flush=True)\nwhile True: check()") as python:
        helper = int(python.stdout.readline())
        time.sleep(0.3)
        assert runs(helper)
        python.kill()
    wait_for(lambda: not runs(helper), 5)


def said(what, **how):
    with script(what, **how) as python: out = python.stdout.read()
    assert python.returncode == 0
    return out


def test_a_helper_ends_with_python():
    assert not runs(int(said("print(HELPERS[0].process)")))


def test_python_may_have_the_usual_handler_for_broken_pipes():
    what = "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\nos.kill(HELPERS[0].process, signal.SIGKILL)\nos.waitpid(HELPERS[0].process, 0)\n"
    assert said(what + "print(check().findings)") == "[]\n"


def test_python_may_be_started_without_files():
    assert said("print(check().findings)", preexec_fn=lambda: os.close(0)) == "[]\n"


def test_no_memory_for_arrays_is_said_and_forgotten(helper):
    memory, x = simulator.MEMORY[0], None
    room, x = memory.room, ints((memory.size >> 2) + (1 << 20))
    try:
        memory.room = memory.size
        for _ in range(2):
            with pytest.raises(KernelError, match="no memory for arrays"): add_to_first(x)
    finally: memory.room = room
    assert add_to_first(x).findings == [] and x.sum() == 1


def add_to_first(x): return Kernel("add", ADD, register=False).check(1, 1, (x, np.int32(1)), seconds=600)


def test_arguments_that_are_too_large():
    code = 'struct Large { char c[70000]; };\nextern "C" __global__ void f(Large a, int *x) { x[0] = a.c[1]; }'
    with pytest.raises(KernelError, match="arguments of a kernel are more than 65,536 bytes"):
        Kernel("f", code, register=False)(1, 1, (np.zeros((), "V70000"), ints(1)))


def test_a_kernel_of_a_checked_module_is_not_called_like_others():
    kernel, x = checked_module(ADD, (), ()).get_function("add"), ints(4)
    for _ in range(2):
        with pytest.raises(KernelError, match="run by tfedu.kernels.report.check"): kernel((1,), (4,), (x, np.int32(1)))
        check(kernel, 1, 4, (x, np.int32(1)))
    assert x.tolist() == [2] * 4
