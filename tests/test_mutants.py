"""Every barrier of every kernel is needed: checked mode reports the kernel without it, and says nothing about the kernel as it is.

A kernel is compiled once. In its source each barrier call becomes `(kept(3) ? __syncthreads() : void())`, and the number of the one to
leave out is set at run time."""
import importlib
import pkgutil
import re
from functools import lru_cache

import numpy as np
import pytest

import tfedu.kernels
from tfedu.kernels.hooks import dismiss
from tfedu.kernels.kernel import KERNELS
from tfedu.kernels.report import check, checked_module
from tfedu.kernels.simulator import USUAL_SHARED
from tfedu.kernels.source import blanked

BARRIER = re.compile(r"\b(__syncthreads(?:_count|_and|_or)?|__syncwarp)\s*\(")
ORDERS = ("up", "down", "random")
SWITCH = ('static volatile int left_out = -1; extern "C" __attribute__((visibility("default"))) void leave_out(int k) { left_out = k; } '
          "static inline bool kept(int k) { if (left_out == -2 - k) __trap(); return left_out != k; } ")

for module in pkgutil.iter_modules(tfedu.kernels.__path__):
    if module.name != "magic": importlib.import_module(f"tfedu.kernels.{module.name}")


def calls(source):
    "Where the barrier calls of a source begin and end, and where their arguments do; comments and strings are not looked at."
    blank, found = blanked(source), []
    for match in BARRIER.finditer(blank):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(blank[end], 0)
            end += 1
        found.append((match.start(), match.end(), end))
    return found


def mutable(source):
    "The source in which each barrier can be left out at run time; lines stay where they are."
    for k, (start, inside, end) in reversed(list(enumerate(calls(source)))):
        call = source[start:end]
        instead = f"int({source[inside:end - 1]})" if "_" in call[len("__syncthreads"):inside - start] else "void()"
        source = f"{source[:start]}(kept({k}) ? {call} : {instead}){source[end:]}"
    return f'{SWITCH}\n#line 1 "kernel.cu"\n{source}'


def body(kernel):
    "Where the kernel's own text begins and ends."
    blank = blanked(kernel.source)
    start = blank.index("{", re.search(rf"__global__[^;{{]*?\b{re.escape(kernel.name.split('<')[0])}\s*\(", blank).end())
    depth, end = 1, start + 1
    while depth:
        depth += {"{": 1, "}": -1}.get(blank[end], 0)
        end += 1
    return start, end


@lru_cache
def runs(name):
    "The cases of a kernel."
    return [function(np.random.default_rng(0)) for function in KERNELS[name].cases]


def compiled(kernel):
    "The kernel with barriers that can be left out, compiled together with all other kernels of the same source."
    same = [k for k in KERNELS.values() if (k.source, k.options) == (kernel.source, kernel.options)]
    module = checked_module(mutable(kernel.source), kernel.options, tuple(sorted(k.name for k in same if not k.plain)))
    module.compile()
    return module.get_function(kernel.name)


def findings(kernel, without, orders=ORDERS):
    "What is found without one barrier (-1: with all), until something is found."
    function = compiled(kernel)
    function.module.lib.leave_out(without)
    dismiss()                                         # the next helper is a copy of this process, with this number in it
    for order in orders:
        for case in runs(kernel.name):
            args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in case.args)
            if case.shared_mem > USUAL_SHARED:
                function.compile()
                function.max_dynamic_shared_size_bytes = case.shared_mem
            report = check(function, case.grid, case.block, args, order=order, seed=1, shared_mem=case.shared_mem, seconds=20.0, blocks=0)
            if report.findings: return report.findings
    return []


def test_the_mutator_reads_cuda():
    source = 'if (a) __syncthreads(); else b(); // __syncthreads();\nx = __syncthreads_count(f(1, 2)); __syncwarp(); __syncwarp(m[(0)]);'
    text = mutable(source).split('"kernel.cu"\n')[1]
    assert text == ("if (a) (kept(0) ? __syncthreads() : void()); else b(); // __syncthreads();\n"
                    "x = (kept(1) ? __syncthreads_count(f(1, 2)) : int(f(1, 2))); (kept(2) ? __syncwarp() : void()); "
                    "(kept(3) ? __syncwarp(m[(0)]) : void());")


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_every_barrier_is_needed(name):
    """The kernel as it is: nothing is found (for all orders, see test_kernels.py). Without any one of its barriers: something is. A barrier
    in a function that this kernel does not call cannot be missed, so whether it is reached is asked last."""
    kernel = KERNELS[name]
    found = findings(kernel, -1, ("up",))
    assert not found, "\n".join(map(str, found))
    (begin, end), lines, silent = body(kernel), kernel.source.split("\n"), []
    for k, (start, _, _) in enumerate(calls(kernel.source)):
        if findings(kernel, k): continue
        reached = bool(findings(kernel, -2 - k))
        number = kernel.source.count("\n", 0, start)
        if (reached or begin < start < end) and not re.search(r"//.*redundant", lines[number]):
            silent.append(f"line {number + 1}{'' if reached else ' (never reached)'}: {lines[number].strip()}")
    assert not silent, f"{name}: nothing is reported without the barrier of " + "; ".join(silent)
