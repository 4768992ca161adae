"""Kernels generated from op records: every op and slope, type by type, against NumPy; and as real CUDA."""
from functools import lru_cache

import ml_dtypes
import numpy as np
import pytest

from tfedu.core.dtype import FROM_NUMPY
from tfedu.core.tensor import OPS, load_ops
from tfedu.kernels import nvrtc
from tfedu.kernels.generated import elementwise_kernel, run_elementwise
from tfedu.kernels.kernel import Kernel
from tfedu.kernels.program import HALVES, Link, Untraceable, chain, interpret, program_of, slope_of

load_ops()
RNG = np.random.default_rng(0)
BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(d) for d in ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")] + [BF16]
OUTSIDE = {"bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e", "bessel_k1",
           "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "digamma", "erfcinv", "erfinv", "expint", "fresnel_cos", "fresnel_sin",
           "igamma", "igammac",
           "lgamma", "ndtri", "spence"}   # they ask SciPy
LOOKING = {"floordiv", "floormod", "truncatediv", "truncatemod"}   # they look for zeros in a divisor that is whole


def ops_for(dtype):
    "Elementwise ops that take inputs of `dtype`, all of them."
    for _, call in sorted(OPS.items()):
        if hasattr(call, "op") and call.op.elementwise and all(FROM_NUMPY[dtype] in (g or call.op.T) for g in call.op.groups): yield call.op


@lru_cache(None)
def everything(dtype):
    "For each number of inputs: a program with one result for each op and slope, and what these are called."
    found = {}
    for op in ops_for(dtype):
        count, names, params = len(op.inputs), [], tuple(op.defaults[p] for p in op.params)
        def forward(xp, g, *xs, op=op, params=params):
            result = op.forward(xp, *xs, *params)
            return getattr(result, "out", None) if type(result).__name__ == "Kept" else result
        candidates = [(op.name, forward)]
        slopes = [i for rule in op.rules if rule.slope for i in rule.inputs] if dtype.kind not in "iub" else []
        candidates += [(f"slope of {op.name} by {op.inputs[i]}", slope_of(op, i)) for i in slopes]
        for label, function in candidates:
            try: program_of(function, *[dtype] * (count + 1))
            except Untraceable: continue
            names.append((label, function))
        found.setdefault(count, []).extend(names)
    return {count: ([label for label, _ in pairs],
                    program_of(lambda xp, *xs, pairs=pairs: [f(xp, *xs) for _, f in pairs], *[dtype] * (count + 1)))
            for count, pairs in found.items() if pairs}


def values(dtype, count):
    "Ordinary numbers, and odd ones."
    if dtype.kind == "b": return RNG.integers(0, 2, count).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([*RNG.integers(max(info.min, -9), 9, count - 4).tolist(), info.min, info.max, 1, 2], dtype)
    odd = [0., -0., 1, -1, .5, 2, -2, 30, -30, np.inf, -np.inf, np.nan]
    return np.concatenate([RNG.normal(size=count - len(odd)) * 2, odd]).astype(dtype)


def differing(a, b, tolerance):
    "Where two arrays are not the same NaN, the same infinity, or close."
    same = (a == b) | np.isnan(a) & np.isnan(b) | (np.abs(b) > 1e38)   # next to the end of float32, one rounds to infinity first
    finite = np.isfinite(a) & np.isfinite(b)
    same |= finite & (np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)) <= tolerance * (1 + np.abs(np.where(finite, b, 0))))
    return ~same


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_every_op_and_slope(dtype):
    tolerance = {2: 1e-2 if dtype == BF16 else 2e-3, 4: 3e-5, 8: 1e-11}[dtype.itemsize] if dtype.kind not in "iub" else 0
    for count, (names, program) in everything(dtype).items():
        xs = [RNG.permutation(values(dtype, 200)) for _ in range(count + 1)]
        if dtype.kind in "iu" and count == 2: xs[2] = RNG.integers(0, 20, 200).astype(dtype)   # a power and a shift must not be negative
        for name, found, wanted in zip(names, run_elementwise(np, program, *xs), interpret(program, *xs), strict=True):
            assert found.dtype == wanted.dtype, name
            if dtype.kind in "iub" and found.dtype.kind in "iub": assert np.array_equal(found, wanted), (name, xs, found, wanted)
            else:
                off = differing(found.astype(float), wanted.astype(float), tolerance)
                assert not off.any(), (name, [x[off] for x in xs], found[off], wanted[off])


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_which_ops_are_left_out(dtype):
    covered = {name for names, _ in everything(dtype).values() for name in names}
    missing = {op.name for op in ops_for(dtype)} - covered - OUTSIDE
    assert missing <= (LOOKING if dtype.kind in "iu" else {"nextafter"} if dtype in HALVES else set())


@pytest.mark.parametrize("dtype, arch", [("float32", 90), ("float64", 90), ("float16", 80), ("float16", 90), ("bfloat16", 80),
                                         ("bfloat16", 90),
                                         ("int32", 80), ("bool", 80)])
def test_nvidia_compiles_them(dtype, arch):
    try: nvrtc.toolkit()
    except nvrtc.NotInstalled as missing: pytest.skip(str(missing))
    for count, (_, program) in everything(BF16 if dtype == "bfloat16" else np.dtype(dtype)).items():
        small = program._replace(outputs=program.outputs[::4])   # a fourth of the results: the compiler takes its time
        assert nvrtc.inspect(elementwise_kernel(small, 2 if count == 1 else 1), arch).usage.spills == 0


SHAPES = [((5,), (5,)), ((4, 1), (3,)), ((2, 3, 4), (3, 1)), ((), (7,)), ((2, 1, 3), (1, 5, 1)), ((0, 3), (3,)), ((1, 1), (1,)),
          ((2, 3, 4, 5), (2, 1, 4, 1))]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_broadcasting(shapes):
    f4 = np.dtype("f4")
    program = program_of(lambda xp, x, y: [x - y, xp.maximum(x, y) * 2], f4, f4)
    x, y = (RNG.normal(size=s).astype(f4) for s in shapes)
    for found, wanted in zip(run_elementwise(np, program, x, y), [x - y, np.maximum(x, y) * 2], strict=True):
        assert found.shape == wanted.shape and np.array_equal(found, wanted)


def test_views_are_read_where_they_are():
    f4 = np.dtype("f4")
    program, x = program_of(lambda xp, x, y: x + 2 * y, f4, f4), RNG.normal(size=(6, 8)).astype(f4)
    for view in (x.T, x[::2, ::-1], x[:, 3], np.broadcast_to(x[0], (4, 8))):
        assert np.array_equal(run_elementwise(np, program, view, view)[0], view + 2 * view)


def test_kernels_are_shared():
    f4 = np.dtype("f4")
    program = program_of(lambda xp, x: xp.exp(x), f4)
    assert elementwise_kernel(program, 1) is elementwise_kernel(program_of(lambda xp, y: xp.exp(y), f4), 1)
    assert isinstance(elementwise_kernel(program, 1), Kernel)


def test_long_arrays_go_round_the_grid():
    f4 = np.dtype("f4")
    program, x = program_of(lambda xp, x: x * x, f4), np.arange(1056 * 256 + 77, dtype=f4)
    assert np.array_equal(run_elementwise(np, program, x)[0], x * x)


def test_fused_chains_in_halves_round_once():
    half = np.dtype("f2")
    links = [Link(OPS["multiply"].op, (0, 1)), Link(OPS["add"].op, (2, 0)), Link(OPS["sigmoid"].op, (3,))]
    program, (x, y) = program_of(chain(links, [3, 4]), half, half), RNG.normal(size=(2, 50)).astype(half)
    found = run_elementwise(np, program, x, y)
    z = x.astype("f4") * y.astype("f4") + x.astype("f4")
    assert np.array_equal(found[0], z.astype(half))
    np.testing.assert_allclose(found[1].astype("f4"), 1 / (1 + np.exp(-z)), atol=1e-3)


def test_what_cannot_be_written_down_says_why():
    f4 = np.dtype("f4")
    for function, why in ((lambda xp, x: xp.cumsum(x), "cumsum"), (lambda xp, x: x if x > 0 else -x, "true"),
                          (lambda xp, x: x[0], "subscriptable|getitem"),
                          (lambda xp, x: x.sum(), "sum"), (lambda xp, x: 3, "int"), (lambda xp, x: x + np.ones(3), "ndarray")):
        with pytest.raises(TypeError, match=why): program_of(function, f4)
    double = program_of(lambda xp, x: x + x, np.dtype("c8"))
    with pytest.raises(Untraceable, match="complex64"): run_elementwise(np, double, np.ones(3, "c8"))
