"""Ops on whole numbers and truth values against NumPy, in every such type they take: exact, wrapping around where the type ends."""
import numpy as np
import pytest
from test_properties_ops import CALLS, ELEMENT, REDUCE, RUNNING, quiet

from tfedu.core.convert import constant
from tfedu.core.op import BOOL, INTEGER

# NumPy's function where it differs from the one for floats: 0 ** negative and division by 0 are refused, so they are not drawn.
EXACT = {"floordiv": np.floor_divide, "floormod": np.mod, "ratio": lambda x, y: x.astype(np.float64) / y, "magnitude": np.abs,
         "relu6": lambda x: np.clip(x, 0, 6), "squared_difference": lambda x, y: (x - y) * (x - y), "absolute": np.absolute,
         "truncatediv": lambda x, y: (x - np.fmod(x, y)) // y, "positive": lambda x: (x > 0).astype(x.dtype), "round": lambda x: x,
         "sign": np.sign}
SHAPES = {"same": ((3, 4), (3, 4)), "broadcast": ((3, 1), (4,)), "scalar": ((), (5,)), "empty": ((0, 2), (1, 2))}


def oracle(name): return EXACT.get(name) or ELEMENT.get(name) or getattr(np, name, None)


def whole(dtype, shape, seed, least=None):
    "Numbers from the whole range of a type, its ends among them."
    rng, kind = np.random.default_rng(seed), dtype.np
    if dtype in BOOL: return rng.integers(0, 2, shape).astype(bool)
    ends = np.iinfo(kind)
    low = ends.min if least is None else least
    x = rng.integers(low, ends.max if least is None else least + 5, shape, kind, endpoint=True)
    if least is None and x.size > 2: x.flat[0], x.flat[1] = ends.min, ends.max
    return x


def same(got, want):
    assert got.numpy().shape == np.shape(want)
    np.testing.assert_array_equal(got.numpy(), np.asarray(want).astype(got.dtype.np))


TYPED = [(name, dtype) for name, call in sorted(CALLS.items()) for dtype in sorted(call.op.T & (INTEGER | BOOL), key=lambda d: d.name)]
ELEMENTWISE = [pytest.param(*pair, id=f"{pair[0]}-{pair[1].name}") for pair in TYPED if CALLS[pair[0]].op.elementwise and oracle(pair[0])]
REDUCTIONS = [pytest.param(*pair, id=f"{pair[0]}-{pair[1].name}") for pair in TYPED
              if pair[0] in REDUCE and pair[0] != "reduce_euclidean_norm"]
RUNS = [pytest.param(*pair, id=f"{pair[0]}-{pair[1].name}") for pair in TYPED if pair[0] in RUNNING]


@pytest.mark.parametrize("name, dtype", ELEMENTWISE)
def test_elementwise(name, dtype, record_property):
    call = CALLS[name]
    small = name in "pow floordiv floormod truncatediv truncatemod left_shift right_shift".split()   # a second number that the op accepts
    for case, shapes in SHAPES.items():
        record_property("sweep", f"{name} {dtype.name} {case}")
        xs = [whole(dtype, shape, i, 1 if small and i else None) for i, shape in enumerate(shapes[:len(call.op.inputs)])]
        same(quiet(call, *map(constant, xs)), quiet(oracle(name), *xs))


@pytest.mark.parametrize("name, dtype", REDUCTIONS)
def test_reduction(name, dtype, record_property):
    for axis, keepdims in ((None, False), (0, True), ([-1], False), ([0, 2], True)):
        record_property("sweep", f"{name} {dtype.name} {axis} {keepdims}")
        x = whole(dtype, (2, 3, 2), 0, 1 if name == "reduce_mean" else None)
        want = REDUCE[name](x, tuple(axis) if isinstance(axis, list) else axis, keepdims)
        if name == "reduce_mean": want = np.trunc(want)           # TensorFlow divides whole numbers by the count, and drops the rest
        same(quiet(CALLS[name], constant(x), axis=axis, keepdims=keepdims), want)


@pytest.mark.parametrize("name, dtype", RUNS)
def test_running_total(name, dtype, record_property):
    f, first = RUNNING[name]
    for axis, exclusive, reverse in ((0, False, False), (-1, True, False), (1, True, True)):
        record_property("sweep", f"{name} {dtype.name} {axis} {exclusive} {reverse}")
        x = whole(dtype, (3, 4), 0)
        same(CALLS[name](constant(x), axis=axis, exclusive=exclusive, reverse=reverse), f(x, axis, exclusive, reverse, first))


@pytest.mark.parametrize("dtype", sorted(INTEGER, key=lambda d: d.name), ids=lambda d: d.name)
def test_the_length_of_a_whole_vector_is_cut_to_a_whole_number(dtype, record_property):
    record_property("sweep", f"reduce_euclidean_norm {dtype.name}")
    same(CALLS["reduce_euclidean_norm"](constant(np.array([[3, 4], [1, 1]], dtype.np)), axis=1), [5, 1])
