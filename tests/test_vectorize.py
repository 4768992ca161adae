"""tf.vectorized_map and Jacobians in one walk: every op of the sweep against the loop, gradients, nests, nesting, what is remembered."""
import logging

import numpy as np
import pytest
from tables import CASES, PLAIN
from tables.inputs import FLAGS
from test_ops import cases

import tfedu as tf
from tfedu.core.convert import constant
from tfedu.core.tensor import OPS, load_ops
from tfedu.core.trace import watching
from tfedu.program import batching

load_ops()

# What runs row by row: the places of different numbers differ in number from row to row.
LOOPED = {"first_places"}
DECLINED = {"rnn", "histogram_fixed_width_bins"}   # recurrent weights, or a range, of its own for each row
HOW_SECOND = {"unravel_index"}   # the second input says what the first means, and must be known while a graph is written


def inputs_of(name):
    "Inputs and settings from the tables of the sweep, or made up for ops without floats."
    if name in MADE_UP: return MADE_UP[name]
    return cases(OPS[name].op)


W = np.array([[2, 0, 1], [1, 1, 2]])
MADE_UP = {
    **{name: [((FLAGS, FLAGS[::-1]), {}), ((FLAGS, FLAGS[0]), {})] for name in ("logical_and", "logical_or", "logical_xor", "and_", "or_", "xor_")},
    **{name: [((W, W[::-1] + 1), {}), ((W, W[0] + 1), {})] for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "truncatediv")},
    **{name: [((FLAGS,), {})] for name in ("logical_not", "invert_")}, "invert": [((W,), {})], "ratio": [((W, W + 1), {})],
    **{name: [((FLAGS,), {}), ((FLAGS,), dict(axis=1))] for name in ("reduce_all", "reduce_any")},
    **{name: [((np.array([[1., 3, 2], [6, 5, 4]]),), {}), ((np.array([[1., 3, 2], [6, 5, 4]]),), dict(axis=-1))] for name in ("argmax", "argmin", "argsort")},
    "bitcast": [((np.float32([[1, 2]]),), dict(type="int32")), ((np.float32([[1, 2]]),), dict(type="int8"))],
    "first_places": [((np.array([3, 1, 3]),), {})], "tally": [((np.array([[0, 2, 2], [1, 1, 5]]),), dict(size=4))],
    "histogram_fixed_width_bins": [((np.array([[0., 1.5], [3, 9]]), np.array([0., 5])), {})],
    "in_top_k": [((np.array([1, 2]), np.float32([[1, 3, 2], [6, 5, 4]])), dict(k=1))],
    "invert_permutation": [((np.array([2, 0, 1]),), {})], "is_non_decreasing": [((np.array([1., 1, 2]),), {}), ((np.array([3., 1, 2]),), {})],
    "is_strictly_increasing": [((np.array([[1., 2], [3, 4]]),), {})], "nonzero_flags": [((W,), {})],
    "one_hot_rows": [((W,), dict(depth=3, on=1., off=0., axis=axis, dtype=tf.float32)) for axis in (-1, 0, 1)],
    "searchsorted": [((np.array([[1., 3, 5], [2, 4, 6]]), np.array([[0., 4], [4, 9]])), {}), ((np.array([1., 3, 5]), np.array([2., 3])), dict(side="right"))],
    "sequence_mask": [((np.array([1, 3]),), dict(maxlen=4))], "unravel_index": [((np.array([1, 5]), np.array([2, 3])), {}), ((np.array(4), np.array([2, 3])), {})],
    **{name: [((W,), {})] for name in ("ones_like", "zeros_like", "zero_fraction", "stop_gradient", "positive")},
    **{name: [((np.array([[1.5, -0.5], [2.5, np.inf]]),), {})] for name in ("ceil", "floor", "rint", "round", "is_finite", "is_inf", "is_nan")},
    "where": [*CASES["where"], ((FLAGS[0], np.float32([1, 2, 3]), np.float32(1)), {})],
}
NAMES = sorted(name for name, call in OPS.items() if hasattr(call, "op") and name not in PLAIN)
EACH = [pytest.param(name, i, id=f"{name}-{i}") for name in NAMES for i in range(len(inputs_of(name)))]


def three(x, same=False):
    "Three inputs like `x`: floats a little apart, whole numbers in another order along the last axis where that keeps their meaning."
    if isinstance(x, list): return [three(v) for v in x]
    if x is None: return None
    x = np.asarray(x)
    if x.dtype.kind in "fc" and not same: return np.stack([x, x * 1.01, x * .99]).astype(x.dtype)
    return np.stack([x, x, x])


WHOLE = {"zeta", "polygamma", "betainc"}   # their first floats must be whole numbers


def batch_of(name, inputs, which):
    "For each input (in lists, each part): three of it, if its place is in `which`, else itself as a tensor; and whether it is batched."
    flat = [v for x in inputs for v in (x if isinstance(x, list) else [x])]
    places = [i for i, v in enumerate(flat) if v is not None]
    chosen = [i for i in places if which == "all" or i == places[0 if which == "first" else -1]]
    still = {0, 1} if name in WHOLE else set()
    return [None if v is None else constant(three(v, i in still)) if i in chosen else constant(v) for i, v in enumerate(flat)], chosen


def function_of(name, inputs, settings, fixed, chosen):
    "A function of the batched inputs alone."
    def f(rows):
        moving, flat = iter(rows), []
        for i, v in enumerate(fixed): flat.append(next(moving) if i in chosen else v)
        rest = iter(flat)
        return OPS[name](*[[next(rest) for _ in x] if isinstance(x, list) else next(rest) for x in inputs], **settings)
    return f


def looped(f, rows):
    "`f` of each row, stacked."
    outs = [f([x[i] for x in rows]) for i in range(3)]
    return [tf.stack(list(column)) for column in zip(*outs, strict=True)] if isinstance(outs[0], (list, tuple)) else [tf.stack(outs)]


def close(a, b, **kw):
    if a.dtype == tf.string: return np.testing.assert_array_equal(a.numpy(), b.numpy())
    np.testing.assert_allclose(a.numpy(), b.numpy(), **{"rtol": 1e-5, "atol": 1e-7, **kw})


@pytest.fixture
def slow_ones():
    "Names of what ran row by row."
    batching.TOLD.clear()
    yield batching.TOLD
    batching.TOLD.clear()


@pytest.mark.parametrize("which", ["all", "first", "last"])
@pytest.mark.parametrize("name, case", EACH)
def test_every_op_agrees_with_the_loop(name, case, which, slow_ones):
    inputs, settings = inputs_of(name)[case]
    xs, chosen = batch_of(name, inputs, which)
    if which != "all" and len(xs) == 1 or which != "first" and name in HOW_SECOND: return
    f, rows = function_of(name, inputs, settings, xs, chosen), [xs[i] for i in chosen]
    expected = looped(f, rows)
    found = tf.vectorized_map(f, rows)
    for a, b in zip(found if isinstance(found, (list, tuple)) else [found], expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        close(a, b)
    assert slow_ones <= LOOPED | DECLINED, f"{name} runs row by row"
    if name in LOOPED: assert slow_ones == {name}
    if which == "first" and name not in LOOPED: assert not slow_ones
