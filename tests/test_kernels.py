"""Every case of every kernel: fast, and checked in three thread orders, against what the case wants. A text with several kernels is
compiled once for all of them."""
import importlib
import pkgutil
from functools import lru_cache

import numpy as np
import pytest

import tfedu.kernels
from tfedu.kernels.kernel import KERNELS
from tfedu.kernels.report import check
from tfedu.kernels.simulator import RawModule

for module in pkgutil.iter_modules(tfedu.kernels.__path__):
    if module.name != "magic": importlib.import_module(f"tfedu.kernels.{module.name}")

EACH = [(name, i) for name in sorted(KERNELS) for i in range(len(KERNELS[name].cases))]


def fresh(case): return tuple([a.copy() if isinstance(a, np.ndarray) else a for a in case.args])


def close(case, args, how):
    for at, want in case.want.items():
        got = np.asarray(args[at])
        both = [a.astype(np.float64) if a.dtype.kind in "fV" else a for a in (got, np.asarray(want))]
        np.testing.assert_allclose(*both, rtol=case.rtol, atol=case.atol, err_msg=f"{how}: argument {at}")


def test_every_kernel_has_a_case():
    assert len(KERNELS) > 100
    assert not [name for name, kernel in KERNELS.items() if not kernel.cases]
    assert not [(name, i) for name, i in EACH if not KERNELS[name].cases[i](np.random.default_rng(0)).want]


@lru_cache
def module(source, options):
    "The text of a kernel, for all kernels that have the same."
    names = [k.name for k in KERNELS.values() if (k.source, k.options) == (source, options) and not k.plain]
    return RawModule(code=source, options=options, name_expressions=names)


@pytest.mark.parametrize(("name", "which"), EACH)
def test_a_kernel_computes_what_its_case_wants(name, which):
    kernel, case = KERNELS[name], KERNELS[name].cases[which](np.random.default_rng(0))
    function = kernel.built["numpy"] = module(kernel.source, kernel.options).get_function(name)
    kernel(case.grid, case.block, args := fresh(case), shared_mem=case.shared_mem)
    close(case, args, "fast")
    for order in ("up", "down", "random"):
        found = check(function, case.grid, case.block, args := fresh(case), shared_mem=case.shared_mem, order=order, seed=3).findings
        assert not found, "\n".join(map(str, found))
        close(case, args, order)
