"""Bugs planted in CUDA sources (tests/planted/*.cu): checked mode names the line of each, and is silent about right kernels."""
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

FOLDER = Path(__file__).parent / "planted"
TYPES = {"float": "f4", "__half": "f2", "int": "i4", "unsigned": "u4", "signed char": "i1", "unsigned char": "u1", "long long": "i8"}
LAUNCH = re.compile(r"// <<<(\(.*?\)|\d+), (\(.*?\)|\d+)(?:, (\d+))?>>>(.*)")


class Planted(NamedTuple):
    "A kernel of a file, and how it is launched."
    file: str
    name: str
    grid: int | tuple
    block: int | tuple
    shared: int
    sizes: dict      # of arrays that have not 64 elements
    parameters: str
    bugs: dict       # line -> the kinds of finding that may be reported there


def planted(path):
    "The kernels of a source. A comment above each says how it is launched; lines that are wrong end with `// BUG` and a kind."
    kernels, bugs, launch, name = [], {}, None, None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if found := LAUNCH.match(line): launch = found
        if found := re.search(r"__global__ void (\w+)\((.*)\)", line): name, parameters = found.groups()
        if found := re.search(r"// BUG (.+)", line): bugs[number] = found[1]
        if line == "}" and name:
            sizes = {key: int(size) for key, size in re.findall(r"\*?(\w+): (\d+)", launch[4])}
            kernels.append(Planted(path.name, name, eval(launch[1]), eval(launch[2]), int(launch[3] or 0), sizes, parameters, bugs))
            bugs, name = {}, None
    return kernels


def arguments(kernel):
    "0, 1, 2 ... for what the kernel only reads, zeros for what it writes, 64 for numbers."
    values = []
    for parameter in kernel.parameters.split(", "):
        kind, name = re.match(r"(?:const |volatile )?([\w ]+?) \*?(\w+)$", parameter).groups()
        dtype, size = np.dtype(TYPES[kind]), kernel.sizes.get(name, 64)
        if "*" not in parameter: values.append(dtype.type(64))
        else: values.append(np.arange(size).astype(dtype) if "const" in parameter else np.zeros(size, dtype))
    return tuple(values)


KERNELS = [kernel for path in sorted(FOLDER.glob("*.cu")) for kernel in planted(path)]
WRONG, RIGHT = [k for k in KERNELS if k.bugs], [k for k in KERNELS if not k.bugs]


@lru_cache
def compiled(file, name):
    from tfedu.kernels.kernel import Kernel
    return Kernel(name, (FOLDER / file).read_text(), register=False)


def check(planted, order):
    "The report of one run."
    kernel = compiled(planted.file, planted.name)
    how = {"shared_mem": planted.shared, "order": order, "seed": 3, "seconds": 0.7, "raises": False}
    return kernel.check(planted.grid, planted.block, arguments(planted), **how)


def test_there_are_enough():
    kinds = {kind for kernel in WRONG for kind in kernel.bugs.values()}
    assert len(WRONG) >= 40 and len(kinds) >= 12
    assert all(kernel.name.endswith("right") for kernel in RIGHT)


@pytest.mark.parametrize("kernel", WRONG, ids=lambda k: k.name)
def test_bug_is_found(kernel):
    "In one of three orders; whatever is reported, in any order, is a line that is wrong and a kind that fits."
    reported = False
    for order in ("up", "down", "random"):
        findings = check(kernel, order).findings
        for finding in findings:
            assert finding.line in kernel.bugs, f"{order}: line {finding.line}: {finding.text}"
            assert finding.kind in kernel.bugs[finding.line], f"{order}: line {finding.line}: {finding.kind}"
        reported = reported or bool(findings)
        if findings and findings[0].kind == "time limit": break   # such a run is slow, and the same in every order
    assert reported


@pytest.mark.parametrize("kernel", RIGHT, ids=lambda k: k.name)
@pytest.mark.parametrize("order", ["up", "down", "random"])
def test_right_kernel_is_silent(kernel, order):
    assert check(kernel, order).findings == []
