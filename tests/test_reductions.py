"""Generated reductions: kinds, types and axes against NumPy, in the simulator; and as real CUDA."""
from itertools import combinations

import ml_dtypes
import numpy as np
import pytest

from tfedu.kernels import nvrtc
from tfedu.kernels.program import Untraceable, program_of
from tfedu.kernels.reductions import COMBINE, launches, reduction_kernel, run_reduction

RNG = np.random.default_rng(0)
BF16 = np.dtype(ml_dtypes.bfloat16)
SHAPE = (3, 5, 40)


def same(dtype): return program_of(lambda xp, x: x, np.dtype(dtype))


@pytest.mark.parametrize("axes", [axes for n in (1, 2, 3) for axes in combinations(range(3), n)], ids=str)
def test_axes(axes):
    x = RNG.normal(size=SHAPE).astype("f4")
    for kind in ("sum", "max"):
        np.testing.assert_allclose(run_reduction(np, same("f4"), kind, axes, x), getattr(x, kind)(axes), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", COMBINE)
@pytest.mark.parametrize("dtype", ["f4", "f2", "i4", "?", BF16], ids=str)
def test_kinds_and_types(kind, dtype):
    dtype = np.dtype(dtype)
    x = RNG.integers(-3, 4, (6, 70)).astype(dtype) if dtype.kind in "iu" else (RNG.normal(size=(6, 70)) + 1).astype(dtype)
    if dtype.kind == "b": x = RNG.integers(0, 2, (6, 70)).astype(bool)
    if (dtype.kind == "b") != (kind in ("any", "all")): return
    if kind == "mean" and dtype.kind in "iub":
        with pytest.raises(Untraceable): run_reduction(np, same(dtype), kind, (1,), x)
        return
    exact = x if dtype.kind in "iub" else x.astype("f8")
    for axis in (0, 1):
        found = run_reduction(np, same(dtype), kind, (axis,), x)
        wanted = getattr(exact, kind)(axis).astype(dtype)
        assert found.dtype == dtype and found.shape == wanted.shape
        near = 1e-2 if dtype == BF16 else 2e-3 if dtype == np.float16 else 1e-4
        np.testing.assert_allclose(found.astype("f8"), wanted.astype("f8"), rtol=near, atol=1e-4)


@pytest.mark.parametrize("shape, axes", [((20000,), (0,)), ((900, 3), (0,)), ((2, 9000), (1,)), ((40, 7, 33), (0, 2))], ids=str)
def test_two_stages(shape, axes):
    x = RNG.normal(size=shape).astype("f4")
    stages = launches(np, same("f4"), "mean", axes, (x,), shape)
    assert len(stages) == 2
    np.testing.assert_allclose(run_reduction(np, same("f4"), "mean", axes, x), x.astype("f8").mean(axes), rtol=1e-4, atol=1e-5)
    half = x.astype("f2")
    np.testing.assert_allclose(run_reduction(np, same("f2"), "sum", axes, half), half.astype("f8").sum(axes), rtol=2e-3, atol=.1)


def test_nan_and_nothing():
    x = np.float32([[1, np.nan, 3], [1, 2, 3]])
    for kind in ("max", "min", "sum"): assert np.array_equal(np.isnan(run_reduction(np, same("f4"), kind, (1,), x)), [True, False])
    empty = np.zeros((3, 0), "f4")
    assert np.array_equal(run_reduction(np, same("f4"), "sum", (1,), empty), np.zeros(3))
    assert np.array_equal(run_reduction(np, same("f4"), "prod", (1,), empty), np.ones(3))
    assert run_reduction(np, same("f4"), "sum", (0,), empty).shape == (0,)


def test_what_is_reduced_may_be_computed():
    f4 = np.dtype("f4")
    x, y = RNG.normal(size=(30, 50)).astype("f4"), RNG.normal(size=50).astype("f4")
    program = program_of(lambda xp, x, y: xp.exp(x) * y, f4, f4)
    for axes in ((0,), (1,), (0, 1)):
        np.testing.assert_allclose(run_reduction(np, program, "sum", axes, x, y), (np.exp(x) * y).sum(axes), rtol=1e-4, atol=1e-4)
    turned = run_reduction(np, program, "sum", (0,), x.T[:30], y[:30])
    np.testing.assert_allclose(turned, (np.exp(x.T[:30]) * y[:30]).sum(0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f4", "f2", BF16, "f8", "i4"], ids=str)
@pytest.mark.parametrize("axes", [(0,), (1,)], ids=str)
def test_nvidia_compiles_them(dtype, axes):
    try: nvrtc.toolkit()
    except nvrtc.NotInstalled as missing: pytest.skip(str(missing))
    x = np.ones((5000, 4) if axes == (0,) else (4, 5000), dtype)
    for plan, _, _ in launches(np, same(dtype), "sum", axes, (x,), x.shape):
        assert nvrtc.inspect(reduction_kernel(plan), 90).usage.spills == 0
