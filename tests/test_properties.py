"""Properties of the public API that hold for every input: random shapes (empty, 0-d, with axes of size 1), types and memory layouts.

NumPy is the reference for values. The reference for gradients is the pairing <g, J t> = <J' g, t> of reverse and forward mode, differences,
and, for operations that only move elements, where each element went.
"""
import operator
import warnings
from collections import namedtuple
from functools import reduce
from math import prod

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, basic_indices, mutually_broadcastable_shapes

import tfedu as tf
from tfedu.autodiff.check import check_grads
from tfedu.autodiff.forward import jvp

HALF = ["float16", "bfloat16"]
FLOATS = [*HALF, "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL, NUMBERS = FLOATS + INTEGERS, FLOATS + COMPLEX + INTEGERS
EVERY = [*NUMBERS, "bool", "string"]
EXACT = ["float64", "complex128"]     # types in which derivatives are checked
CLOSE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5}

seeds = st.integers(0, 2 ** 20)
shapes = array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)
with_axes = array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=3)


def together(n, **options): return mutually_broadcastable_shapes(num_shapes=n, min_side=0, max_side=3, max_dims=4, **options)


def typed(name): return np.dtype({"bfloat16": ml_dtypes.bfloat16, "string": object}.get(name, name))


def numbers(seed, shape, name):
    "Integers from their whole range; floats are quarters between -4 and 4, so that they tie and their sums are exact."
    rng, dtype = np.random.default_rng(seed), typed(name)
    if name == "string":
        out = np.empty(shape, object)
        out.flat = [b"abcdef"[:k] for k in rng.integers(0, 7, prod(shape))]
        return out
    if dtype.kind == "b": return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu": return np.asarray(rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True))
    quarters = lambda: rng.integers(-16, 17, shape) / 4
    return np.asarray(quarters() + 1j * quarters() if dtype.kind == "c" else quarters()).astype(dtype)


def reals(seed, shape, name="float64"):
    "Smooth positions: no two numbers are equal."
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, shape)
    return np.asarray(x + 1j * rng.uniform(-2, 2, shape) if name == "complex128" else x)


LAYOUTS = {
    "plain": tf.constant,
    "transposed": lambda a: tf.transpose(tf.constant(a.T)),
    "reversed": lambda a: tf.constant(a[..., ::-1])[..., ::-1] if a.ndim else tf.constant(a),
    "strided": lambda a: tf.constant(np.repeat(a, 2, -1))[..., 1::2] if a.ndim else tf.constant(a),
}
layouts = st.sampled_from(sorted(LAYOUTS)).map(LAYOUTS.get)


def axes_of(ndim): return st.integers(-ndim, ndim - 1)


def plain(x):
    "The values of a tensor or array in a type that NumPy compares."
    a = np.asarray(x.numpy() if hasattr(x, "numpy") else x)
    return a.astype(np.float64) if a.dtype.kind == "V" or a.dtype.name == "bfloat16" else a


def agree(tensor, want, name=None, wide=1):
    "`tensor` is a tensor with the values of the array `want`, in type `name` if given; floats up to rounding, times `wide`."
    want = np.asarray(want)
    assert isinstance(tensor, tf.Tensor) and tuple(tensor.shape) == want.shape
    if name: assert tensor.dtype.name == name
    if not (tensor.dtype.is_floating or tensor.dtype.is_complex): return np.testing.assert_array_equal(plain(tensor), plain(want))
    tolerance = wide * CLOSE.get(tensor.dtype.name, 1e-11)
    np.testing.assert_allclose(plain(tensor), plain(want), rtol=tolerance, atol=tolerance)


def quiet(f, *args, **settings):
    "NumPy's answer without its warnings: ours must not give any."
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return f(*args, **settings)


def exact(a):
    "For sums in a wide type: the reference is rounded once, at the end."
    return a.astype(np.float64) if a.dtype.name in FLOATS else a.astype(np.complex128) if a.dtype.kind == "c" else a


def inner(gs, ts): return sum(np.vdot(plain(g), plain(t)).real for g, t in zip(gs, ts, strict=True) if g is not None and t is not None)


def check_pairing(f, arrays, seed):
    "Gradients fit their sources, are linear in what flows in, and pair with forward mode."
    xs = [tf.constant(a) for a in arrays]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(xs)
        y = f(*xs)
    name = y.dtype.name
    g, h = reals(seed, y.shape, name), reals(seed + 1, y.shape, name)
    def pull(seed):
        found = tape.gradient(y, xs, output_gradients=tf.constant(seed), unconnected_gradients="zero")
        return [tf.convert_to_tensor(g) for g in found]   # rows of a gather as a whole
    pulled = pull(g)
    for x, u in zip(xs, pulled, strict=True): assert (u.shape, u.dtype) == (x.shape, x.dtype)
    for u, v, both in zip(pulled, pull(h), pull(g + 2 * h), strict=True): np.testing.assert_allclose(both, u + 2 * v, rtol=1e-8, atol=1e-8)
    ts = [reals(seed + 2 + i, x.shape, x.dtype.name) for i, x in enumerate(xs)]
    value, moved = jvp(f, xs, [tf.constant(t) for t in ts])
    np.testing.assert_array_equal(value, y)
    if moved is not None: assert (moved.shape, moved.dtype) == (y.shape, y.dtype)
    np.testing.assert_allclose(inner([g], [moved]), inner(pulled, ts), rtol=1e-8, atol=1e-8)


def check_moved(f, reference, a, put=tf.constant):
    "`f` moves elements of `a` as `reference` does in NumPy; numbered places tell where each came from, and its gradient goes back there."
    places = np.arange(a.size).reshape(a.shape)
    came_from = np.asarray(reference(places))
    agree(f(put(places)), came_from, "int64")
    x = put(a)
    agree(f(x), a.reshape(-1)[came_from], x.dtype.name)
    x, g = put(places / 4), np.arange(came_from.size).reshape(came_from.shape) % 7 - 2.5
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    want = np.bincount(came_from.ravel(), g.ravel(), a.size).reshape(a.shape)
    agree(tf.convert_to_tensor(tape.gradient(y, x, output_gradients=tf.constant(g))), want, "float64")


# Element by element

BINARY = {   # our function, NumPy's, the types of the inputs
    "add": (tf.add, np.add, NUMBERS), "subtract": (tf.subtract, np.subtract, NUMBERS), "multiply": (tf.multiply, np.multiply, NUMBERS),
    "+": (operator.add, np.add, NUMBERS), "*": (operator.mul, np.multiply, NUMBERS),
    "maximum": (tf.maximum, np.maximum, REAL), "minimum": (tf.minimum, np.minimum, REAL),
    "squared_difference": (tf.math.squared_difference, lambda x, y: np.square(x - y), REAL),
    "equal": (tf.equal, np.equal, EVERY), "not_equal": (tf.not_equal, np.not_equal, EVERY),
    "less": (tf.less, np.less, REAL), "less_equal": (tf.less_equal, np.less_equal, REAL),
    "greater": (tf.greater, np.greater, REAL), "greater_equal": (tf.greater_equal, np.greater_equal, REAL),
    "logical_and": (tf.logical_and, np.logical_and, ["bool"]), "logical_or": (tf.logical_or, np.logical_or, ["bool"]),
    "logical_xor": (tf.math.logical_xor, np.logical_xor, ["bool"]),
    "bitwise_and": (tf.bitwise.bitwise_and, np.bitwise_and, INTEGERS), "bitwise_or": (tf.bitwise.bitwise_or, np.bitwise_or, INTEGERS),
    "bitwise_xor": (tf.bitwise.bitwise_xor, np.bitwise_xor, INTEGERS),
}
DIVISION = {"/": (operator.truediv, np.true_divide, ["float32", "float64", *COMPLEX, "int32", "int64"]),
            "//": (operator.floordiv, np.floor_divide, [*FLOATS, *INTEGERS]), "%": (operator.mod, np.remainder, [*FLOATS, *INTEGERS]),
            "floordiv": (tf.math.floordiv, np.floor_divide, INTEGERS), "floormod": (tf.math.floormod, np.remainder, INTEGERS)}


def given_choice(table):
    "Draws one row of `table`, with one of its types."
    return given(row=st.sampled_from(sorted(table)).flatmap(lambda k: st.tuples(st.just(table[k]), st.sampled_from(table[k][-1]))),
                 seed=seeds, data=st.data())


@given_choice(BINARY | DIVISION)
def test_two_inputs_broadcast_as_in_numpy(row, seed, data):
    (ours, theirs, _), name = row
    (first, second), out = data.draw(together(2))
    a, b = numbers(seed, first, name), numbers(seed + 1, second, name)
    if row[0] in DIVISION.values(): b = np.where(b == 0, np.ones((), b.dtype), b)
    y = quiet(theirs, a, b)
    result = ours(data.draw(layouts)(a), data.draw(layouts)(b))
    assert tuple(result.shape) == out
    agree(result, y, None if ours is operator.truediv else "bool" if np.asarray(y).dtype == bool else name)


SLOPED = {
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "divide": lambda x, y: x / (y * y + 1),
    "pow": lambda x, y: (x * x + 1) ** y, "maximum": tf.maximum,
    "minimum": tf.minimum, "squared_difference": tf.math.squared_difference, "atan2": tf.math.atan2,
    "no_nan": tf.math.divide_no_nan, "where": lambda x, y: tf.where(tf.greater(x, y), x, y * x),
}


@given(st.sampled_from(sorted(SLOPED)), together(2), seeds)
def test_gradients_go_back_through_broadcasting(name, together, seed):
    a, b = (reals(seed + i, shape) for i, shape in enumerate(together.input_shapes))
    check_pairing(SLOPED[name], [a, b], seed)
    if name in ("add", "subtract", "multiply", "divide"):
        check_pairing(SLOPED[name], [reals(seed + i, shape, "complex128") for i, shape in enumerate(together.input_shapes)], seed)


@given(together(2), seeds)
def test_the_gradient_of_a_broadcast_sum_counts(together, seed):
    a, b = (tf.constant(numbers(seed + i, shape, "float32")) for i, shape in enumerate(together.input_shapes))
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a + b
    for x, g in zip((a, b), tape.gradient(y, [a, b]), strict=True):
        agree(g, np.full(x.shape, prod(y.shape) // prod(x.shape) if prod(x.shape) else 0), "float32")


UNARY = {
    "negative": (tf.negative, np.negative, NUMBERS), "abs": (tf.abs, np.abs, [*FLOATS, "int32", "int64"]),
    "square": (tf.square, np.square, NUMBERS), "sign": (tf.sign, np.sign, [*FLOATS, "int32", "int64"]),
    "exp": (tf.exp, np.exp, ["float32", *EXACT]), "sin": (tf.sin, np.sin, ["float32", *EXACT]),
    "cos": (tf.cos, np.cos, ["float32", *EXACT]), "tanh": (tf.tanh, np.tanh, ["float32", "float64"]),
    "floor": (tf.floor, np.floor, FLOATS), "ceil": (tf.math.ceil, np.ceil, FLOATS),
    "round": (tf.round, np.rint, FLOATS), "sqrt": (lambda x: tf.sqrt(tf.abs(x)), lambda a: np.sqrt(np.abs(a)), FLOATS),
    "sigmoid": (tf.sigmoid, lambda a: 1 / (1 + np.exp(-a)), ["float32", "float64"]),
    "softplus": (tf.math.softplus, lambda a: np.log1p(np.exp(a)), ["float32", "float64"]),
    "relu": (tf.nn.relu, lambda a: np.maximum(a, 0), FLOATS), "expm1": (tf.math.expm1, np.expm1, ["float32", "float64"]),
    "logical_not": (tf.logical_not, np.logical_not, ["bool"]), "invert": (tf.bitwise.invert, np.invert, INTEGERS),
    "conj": (tf.math.conj, np.conj, COMPLEX),
}


@given_choice(UNARY)
def test_one_input_element_by_element(row, seed, data):
    (ours, theirs, _), name = row
    a = numbers(seed, data.draw(shapes), name)
    x = data.draw(layouts)(a)
    agree(ours(x), quiet(theirs, a), name)
    if name in EXACT and ours not in (tf.floor, tf.math.ceil, tf.round, tf.sign): check_pairing(ours, [reals(seed, a.shape, name)], seed)


@given(st.lists(st.floats(width=32), max_size=5), st.lists(st.floats(width=32), min_size=1, max_size=5))
def test_unusual_floats(xs, ys):
    "nan, infinities, negative zero and the smallest numbers, without warnings."
    a, b = np.array(xs, np.float32)[:, None], np.array(ys, np.float32)
    x, y = tf.constant(a), tf.constant(b)
    for ours, theirs in ((tf.add, np.add), (tf.multiply, np.multiply), (tf.divide, np.divide), (tf.maximum, np.maximum),
                         (tf.minimum, np.minimum), (tf.less, np.less), (tf.equal, np.equal)):
        np.testing.assert_array_equal(ours(x, y), quiet(theirs, a, b))
    for ours, theirs in ((tf.math.is_nan, np.isnan), (tf.math.is_inf, np.isinf), (tf.math.is_finite, np.isfinite), (tf.floor, np.floor)):
        np.testing.assert_array_equal(ours(x), quiet(theirs, a))
    np.testing.assert_array_equal(tf.math.divide_no_nan(x, y), quiet(lambda: np.where(b == 0, 0, a / b)))


@given(together(3), st.sampled_from(EVERY), layouts, seeds)
def test_where(together, name, put, seed):
    choice, first, second = together.input_shapes
    c, a, b = numbers(seed, choice, "bool"), numbers(seed + 1, first, name), numbers(seed + 2, second, name)
    agree(tf.where(put(c), put(a), put(b)), np.where(c, a, b), name)
    agree(tf.where(put(c)), np.argwhere(c), "int64")
    check_pairing(lambda x, y: tf.where(c, x, y), [reals(seed, first), reals(seed, second)], seed)


@given(shapes, st.sampled_from([*NUMBERS, "bool"]), st.sampled_from([*NUMBERS, "bool"]), layouts, seeds)
def test_cast(shape, source, target, put, seed):
    a = numbers(seed, shape, source)
    if typed(source).kind not in "iub" and typed(target).kind == "u": a = a * a.conj()   # what becomes of negative floats is undefined
    wanted = a.real if source in COMPLEX and target not in [*COMPLEX, "bool"] else a
    wanted = quiet(wanted.astype, typed(target))
    x = put(a)
    agree(tf.cast(x, target), wanted, target)
    if source not in FLOATS: return
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(x, target)
    g = tape.gradient(y, x)
    if target in FLOATS + COMPLEX: agree(g, np.ones(shape), source)
    else: assert g is None


# Reductions and scans

def lowest(name): return -np.inf if name in FLOATS else np.iinfo(name).min


def highest(name): return np.inf if name in FLOATS else np.iinfo(name).max


REDUCTIONS = {   # our function, NumPy's, the types of the input
    "sum": (tf.reduce_sum, np.sum, [*FLOATS, *COMPLEX, "int32", "int64"]), "prod": (tf.reduce_prod, np.prod, ["float64", "int32"]),
    "mean": (tf.reduce_mean, np.mean, [*FLOATS, *COMPLEX]), "max": (tf.reduce_max, np.max, REAL), "min": (tf.reduce_min, np.min, REAL),
    "all": (tf.reduce_all, np.all, ["bool"]), "any": (tf.reduce_any, np.any, ["bool"]),
    "logsumexp": (tf.reduce_logsumexp, lambda a, *at, **kept: np.log(np.sum(np.exp(a), *at, **kept)), ["float32", "float64"]),
    "variance": (tf.math.reduce_variance, np.var, ["float32", *EXACT]), "std": (tf.math.reduce_std, np.std, ["float32", *EXACT]),
}


def axis_choices(ndim):
    "None, one axis, or several different ones, counted from either end."
    several = st.lists(st.integers(0, ndim - 1), unique=True, max_size=ndim) if ndim else st.just([])
    signed = several.flatmap(lambda axes: st.tuples(*[st.sampled_from([a, a - ndim]) for a in axes]).map(list))
    return st.none() | signed | (axes_of(ndim) if ndim else st.none())


@given_choice(REDUCTIONS)
def test_reductions_over_any_axes(row, seed, data):
    (ours, theirs, _), name = row
    a = numbers(seed, data.draw(shapes), name)
    axis, keepdims = data.draw(axis_choices(a.ndim)), data.draw(st.booleans())
    several = list(range(a.ndim)) if axis is None else axis if isinstance(axis, list) else [axis]
    some, options = prod(a.shape[i] for i in several), {"keepdims": keepdims}
    if ours is tf.reduce_max: options["initial"] = lowest(name)
    if ours is tf.reduce_min: options["initial"] = highest(name)
    if name in INTEGERS and ours in (tf.reduce_sum, tf.reduce_prod): options["dtype"] = a.dtype
    want = np.asarray(quiet(theirs, exact(a), tuple(several), **options))
    agree(ours(data.draw(layouts)(a), axis=axis, keepdims=keepdims), want, None if name in COMPLEX else name)
    if name in EXACT and some: check_pairing(lambda x: ours(x, axis, keepdims), [reals(seed, a.shape, name)], seed)


@given(with_axes, st.data(), st.sampled_from([*REAL, "bool"]), seeds)
def test_the_first_of_several_extremes(shape, data, name, seed):
    axis, a = data.draw(axes_of(len(shape))), numbers(seed, shape, name)
    assume(shape[axis])
    x = data.draw(layouts)(a)
    agree(tf.argmax(x, axis), np.argmax(plain(a), axis), "int64")
    agree(tf.argmin(x, axis, tf.int32), np.argmin(plain(a), axis), "int32")


@given(with_axes, st.data(), st.sampled_from([*FLOATS, *COMPLEX, "int32", "int64"]), st.booleans(), st.booleans(), seeds)
def test_cumsum(shape, data, name, exclusive, reverse, seed):
    a, axis = numbers(seed, shape, name), data.draw(axes_of(len(shape)))
    turn = (lambda v: np.flip(v, axis)) if reverse else (lambda v: v)
    totals = np.cumsum(turn(exact(a)), axis, dtype=exact(a).dtype)
    agree(tf.cumsum(data.draw(layouts)(a), axis, exclusive, reverse), turn(totals - turn(exact(a)) if exclusive else totals), name)
    check_pairing(lambda x: tf.cumsum(x, axis, exclusive, reverse), [reals(seed, shape)], seed)


# Moving elements

@given(shapes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_reshape_goes_there_and_back(shape, data, name, put, seed):
    a = numbers(seed, shape, name)
    order = data.draw(st.permutations(shape))
    sizes = [*order, 1] if data.draw(st.booleans()) else [a.size]
    if a.size and data.draw(st.booleans()): sizes[data.draw(st.integers(0, len(sizes) - 1))] = -1
    check_moved(lambda x: tf.reshape(x, sizes), lambda v: v.reshape(sizes), a, put)
    agree(tf.reshape(tf.reshape(put(a), sizes), shape), a, name)


@given(shapes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_transpose_goes_there_and_back(shape, data, name, put, seed):
    a, ndim = numbers(seed, shape, name), len(shape)
    order = data.draw(st.permutations(range(ndim)))
    check_moved(lambda x: tf.transpose(x, order), lambda v: v.transpose(order), a, put)
    check_moved(tf.transpose, np.transpose, a, put)
    agree(tf.transpose(tf.transpose(put(a), order), [order.index(i) for i in range(ndim)]), a, name)


@given(shapes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_expand_and_squeeze_undo_each_other(shape, data, name, put, seed):
    a = numbers(seed, shape, name)
    axis = data.draw(axes_of(len(shape) + 1))
    check_moved(lambda x: tf.expand_dims(x, axis), lambda v: np.expand_dims(v, axis), a, put)
    agree(tf.squeeze(tf.expand_dims(put(a), axis), axis), a, name)
    agree(tf.squeeze(tf.expand_dims(put(a), axis), [axis]), a, name)
    check_moved(tf.squeeze, np.squeeze, a, put)


@given(with_axes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_concat_and_split_undo_each_other(shape, data, name, put, seed):
    axis = data.draw(axes_of(len(shape)))
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    whole = list(shape)
    whole[axis] = sum(sizes)
    a = numbers(seed, whole, name)
    cuts = np.cumsum(sizes)[:-1]
    asked = list(sizes)
    if data.draw(st.booleans()): asked[data.draw(st.integers(0, len(sizes) - 1))] = -1
    pieces = tf.split(put(a), asked, axis)
    for piece, want in zip(pieces, np.split(a, cuts, axis), strict=True): agree(piece, want, name)
    agree(tf.concat(pieces, axis), a, name)
    swapped = lambda v: np.concatenate(np.split(v, cuts, axis)[::-1], axis)
    check_moved(lambda x: tf.concat(tf.split(x, sizes, axis)[::-1], axis), swapped, a, put)
    agree(tf.concat(tf.split(put(a), whole[axis], axis), axis) if whole[axis] else tf.constant(a), a, name)
    check_pairing(lambda x, y: tf.concat([x, y, x], axis), [reals(seed, shape), reals(seed + 1, whole)], seed)


@given(with_axes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_stack_and_unstack_undo_each_other(shape, data, name, put, seed):
    a, axis = numbers(seed, shape, name), data.draw(axes_of(len(shape)))
    parts = tf.unstack(put(a), axis=axis)
    assert len(parts) == shape[axis]
    for i, part in enumerate(parts): agree(part, np.take(a, i, axis), name)
    if not parts: return
    agree(tf.stack(parts, axis), a, name)
    check_moved(lambda x: tf.stack(tf.unstack(x, axis=axis)[::-1], axis), lambda v: np.flip(v, axis), a, put)
    check_pairing(lambda x, y: tf.stack([x, y, x], axis), [reals(seed, shape), reals(seed + 1, shape)], seed)


@given(shapes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_slices(shape, data, name, put, seed):
    key = data.draw(basic_indices(shape, max_dims=6, allow_newaxis=True, allow_ellipsis=True))
    check_moved(lambda x: x[key], lambda v: v[key], numbers(seed, shape, name), put)
    x = put(reals(seed, shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[key]
    want = np.zeros(shape)
    want[key] = 1
    agree(tape.gradient(y, x), want, "float64")
    check_pairing(lambda x: x[key], [reals(seed, shape)], seed)


@given(with_axes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_tile_reverse_and_roll(shape, data, name, put, seed):
    a = numbers(seed, shape, name)
    times = data.draw(st.tuples(*[st.integers(0, 2) for _ in shape]))
    check_moved(lambda x: tf.tile(x, times), lambda v: np.tile(v, times), a, put)
    axis, shift = data.draw(axes_of(len(shape))), data.draw(st.integers(-5, 5))
    check_moved(lambda x: tf.reverse(x, [axis]), lambda v: np.flip(v, axis), a, put)
    check_moved(lambda x: tf.roll(x, shift, axis), lambda v: np.roll(v, shift, axis), a, put)


@given(together(2), st.sampled_from(EVERY), layouts, seeds)
def test_broadcast_to(together, name, put, seed):
    a, shape = numbers(seed, together.input_shapes[0], name), together.result_shape
    check_moved(lambda x: tf.broadcast_to(x, shape), lambda v: np.broadcast_to(v, shape), a, put)


# Places given by numbers

def taken(a, index, axis, batch):
    "What `tf.gather` means, batch by batch."
    if not batch: return np.take(a, index, axis)
    if not len(a): return np.empty((*a.shape[:axis], *index.shape[batch:], *a.shape[axis + 1:]), a.dtype)
    return np.stack([taken(part, i, axis - 1, batch - 1) for part, i in zip(a, index, strict=True)])


@given(with_axes, st.data(), st.sampled_from(EVERY), st.sampled_from(["int32", "int64"]), layouts, seeds)
def test_gather(shape, data, name, index_type, put, seed):
    axis = data.draw(st.integers(0, len(shape) - 1))
    batch = data.draw(st.integers(0, axis))
    places = shape[:batch] + data.draw(array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    assume(shape[axis] or not prod(places))
    index = np.asarray(np.random.default_rng(seed).integers(0, max(shape[axis], 1), places)).astype(index_type)
    at = data.draw(st.sampled_from([axis, axis - len(shape)]))
    a = numbers(seed, shape, name)
    check_moved(lambda x: tf.gather(x, index, axis=at, batch_dims=batch), lambda v: taken(v, index, axis, batch), a, put)
    check_pairing(lambda x: tf.gather(x, index, axis=at, batch_dims=batch), [reals(seed, shape)], seed)


@given(shapes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_gather_nd_and_scatter_nd(shape, data, name, put, seed):
    depth = data.draw(st.integers(0, len(shape)))
    outer = data.draw(array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    assume(depth and (prod(shape[:depth]) or not prod(outer)))
    rng = np.random.default_rng(seed)
    index = np.stack([rng.integers(0, max(n, 1), outer) for n in shape[:depth]], -1)
    at = tuple(np.moveaxis(index, -1, 0))
    check_moved(lambda x: tf.gather_nd(x, index), lambda v: v[at], numbers(seed, shape, name), put)
    updates = reals(seed, (*outer, *shape[depth:]))
    want = np.zeros(shape)
    np.add.at(want, at, updates)
    agree(tf.scatter_nd(index, updates, shape), want, "float64")
    check_pairing(lambda u: tf.scatter_nd(index, u, shape), [updates], seed)


@given(shapes, st.data(), st.integers(0, 4), st.sampled_from(["float32", "int32", "bool"]), seeds)
def test_one_hot(shape, data, depth, name, seed):
    a = np.asarray(np.random.default_rng(seed).integers(-2, 6, shape))
    axis = data.draw(st.integers(-1, len(shape)))
    on, off = {"float32": (2.5, -1.), "int32": (7, 3), "bool": (True, False)}[name]
    want = np.where(np.moveaxis(a[..., None] == np.arange(depth), -1, axis), on, off)
    agree(tf.one_hot(a, depth, on, off, axis, name), want, name)
    agree(tf.one_hot(a, depth), a[..., None] == np.arange(depth), "float32")


@given(with_axes, st.data(), st.sampled_from(EVERY), layouts, seeds)
def test_boolean_mask(shape, data, name, put, seed):
    axis = data.draw(st.integers(0, len(shape) - 1))
    mask = numbers(seed, shape[axis:data.draw(st.integers(axis + 1, len(shape)))], "bool")
    check_moved(lambda x: tf.boolean_mask(x, mask, axis), lambda v: v[(*[slice(None)] * axis, mask)], numbers(seed, shape, name), put)


# Products

@given(together(2), st.tuples(*[st.integers(0, 3)] * 3), st.data(), st.sampled_from([*FLOATS, *COMPLEX, "int32", "int64"]), seeds)
def test_matmul(together, sizes, data, name, seed):
    (m, k, n), flags, sides = sizes, {}, []
    for side, batch, shape in zip("ab", together.input_shapes, ((m, k), (k, n)), strict=True):
        turn = data.draw(st.sampled_from([None, "transpose", "adjoint"]))
        if turn: flags[f"{turn}_{side}"] = True
        sides.append((*batch, *(shape[::-1] if turn else shape)))
    def reference(a, b):
        for side in "ab":
            turned = a if side == "a" else b
            if flags.keys() & {f"transpose_{side}", f"adjoint_{side}"}: turned = turned.swapaxes(-1, -2)
            if f"adjoint_{side}" in flags: turned = turned.conj()
            a, b = (turned, b) if side == "a" else (a, turned)
        return quiet(np.matmul, a, b)
    a, b = (numbers(seed + i, shape, name) for i, shape in enumerate(sides))
    agree(tf.matmul(data.draw(layouts)(a), data.draw(layouts)(b), **flags), reference(exact(a), exact(b)), name)
    wide = "complex128" if name in COMPLEX else "float64"
    check_pairing(lambda x, y: tf.matmul(x, y, **flags), [reals(seed + i, shape, wide) for i, shape in enumerate(sides)], seed)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.data(), seeds)
def test_einsum_and_tensordot(sizes, data, seed):
    letters = "abcd"[:len(sizes)]
    words = [data.draw(st.lists(st.sampled_from(letters), unique=True, max_size=len(letters)).map("".join)) for _ in range(2)]
    result = data.draw(st.lists(st.sampled_from(sorted(set("".join(words)))), unique=True).map("".join)) if any(words) else ""
    a, b = (reals(seed + i, [sizes[letters.index(c)] for c in word]) for i, word in enumerate(words))
    equation = f"{','.join(words)}->{result}"
    agree(tf.einsum(equation, a, b), np.einsum(equation, a, b), "float64")
    check_pairing(lambda x, y: tf.einsum(equation, x, y), [a, b], seed)
    shared = [c for c in words[0] if c in words[1]]
    axes = [[word.index(c) for c in shared] for word in words]
    agree(tf.tensordot(a, b, axes), np.tensordot(a, b, axes), "float64")


# Softmax and what is made of it

@given(with_axes, st.data(), st.sampled_from(FLOATS), st.integers(-50, 50), layouts, seeds)
def test_softmax_sums_to_one_and_ignores_a_shift(shape, data, name, shift, put, seed):
    axis, a = data.draw(axes_of(len(shape))), numbers(seed, shape, name)
    p = tf.nn.softmax(put(a), axis)
    e = np.exp(exact(a))
    agree(p, e / e.sum(axis, keepdims=True), name)
    if shape[axis]: np.testing.assert_allclose(plain(p).astype(np.float64).sum(axis), 1, rtol=CLOSE.get(name, 1e-12))
    agree(tf.exp(tf.nn.log_softmax(put(a), axis)), e / e.sum(axis, keepdims=True), name, wide=3)
    x = reals(seed, shape)
    agree(tf.nn.softmax(x + 20 * shift, axis), tf.nn.softmax(x, axis), "float64", wide=10)
    agree(tf.nn.log_softmax(x + 20 * shift, axis), tf.nn.log_softmax(x, axis), "float64", wide=10)
    check_pairing(lambda x: tf.nn.softmax(x, axis), [x], seed)
    check_pairing(lambda x: tf.nn.log_softmax(x, axis), [x], seed)


@given(shapes, st.integers(1, 4), st.sampled_from(FLOATS), st.sampled_from(["int32", "int64"]), layouts, seeds)
def test_cross_entropies_are_their_definitions(shape, classes, name, label_type, put, seed):
    a = numbers(seed, (*shape, classes), name)
    labels = np.asarray(np.random.default_rng(seed).integers(0, classes, shape)).astype(label_type)
    e = np.exp(exact(a))
    p = e / e.sum(-1, keepdims=True)
    hard = np.eye(classes)[labels]
    want = -(hard * np.log(p)).sum(-1)
    agree(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, put(a)), want, name)
    agree(tf.nn.softmax_cross_entropy_with_logits(hard.astype(typed(name)), put(a)), want, name)
    x = put(a)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
    agree(tape.gradient(loss, x), p - hard, name)
    x, y, w = reals(seed, a.shape), 1 / (1 + np.exp(reals(seed + 1, a.shape))), np.exp(reals(seed + 2, (classes,)))
    e = np.exp(x)
    agree(tf.nn.softmax_cross_entropy_with_logits(y, x), -(y * np.log(e / e.sum(-1, keepdims=True))).sum(-1), "float64")
    yes, no = np.log(e / (1 + e)), np.log(1 / (1 + e))
    agree(tf.nn.sigmoid_cross_entropy_with_logits(y, x), -y * yes - (1 - y) * no, "float64")
    agree(tf.nn.weighted_cross_entropy_with_logits(y, x, w), -y * yes * w - (1 - y) * no, "float64")
    check_pairing(lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x), [x], seed)
    check_pairing(tf.nn.softmax_cross_entropy_with_logits, [y, x], seed)
    check_pairing(tf.nn.sigmoid_cross_entropy_with_logits, [y, x], seed)
    check_pairing(tf.nn.weighted_cross_entropy_with_logits, [y, x, w], seed)


@given(shapes.filter(len), st.data(), seeds)
def test_soft_labels_along_any_axis(shape, data, seed):
    axis = data.draw(axes_of(len(shape)))
    y, x = np.exp(reals(seed, shape)), reals(seed + 1, shape)
    e = np.exp(x)
    agree(tf.nn.softmax_cross_entropy_with_logits(y, x, axis), -(y * np.log(e / e.sum(axis, keepdims=True))).sum(axis), "float64")
    check_pairing(lambda y, x: tf.nn.softmax_cross_entropy_with_logits(y, x, axis), [y, x], seed)


# Variables

WHOLE = {"assign": lambda old, new: new, "assign_add": np.add, "assign_sub": np.subtract}
ROWS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "update": lambda old, new: new}
CHANGES = [*WHOLE, *(f"scatter_{k}" for k in ROWS), "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update"]
steps = st.lists(st.tuples(st.sampled_from(CHANGES), seeds, st.booleans()), min_size=1, max_size=10)
READS = [tf.convert_to_tensor, lambda v: v.value(), lambda v: v.read_value(), lambda v: v.numpy(), lambda v: v[...], tf.identity,
         lambda v: tf.reshape(v, [-1]), tf.transpose]


@given(array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3), st.sampled_from(["float32", "float64", "int32", "int64"]), steps,
       st.sampled_from(READS), layouts, seeds)
def test_a_variable_changes_and_what_was_read_does_not(shape, name, steps, read, put, seed):
    model = numbers(seed, shape, name).copy()
    variable, kept, given_away = tf.Variable(put(model)), [], []
    for what, seed, hold in steps:
        if hold: kept.append([(now := read(variable)), np.array(now)])
        rng = np.random.default_rng(seed)
        if what in WHOLE:
            new = numbers(seed, shape, name)
            model = quiet(WHOLE[what], model, new).copy()
            getattr(variable, what)(put(new) if hold else new)
            if not hold: given_away.append(new)
        else:
            depth = rng.integers(1, len(shape) + 1) if "_nd_" in what else 1
            count = rng.integers(0, 4) if prod(shape[:depth]) else 0
            at = np.stack([rng.integers(0, max(n, 1), count) for n in shape[:depth]], -1)
            new = numbers(seed, (count, *shape[depth:]), name)
            combine, model = ROWS[what.rpartition("_")[2]], model.copy()
            for place, row in zip(at.tolist(), new, strict=True): model[(*place,)] = quiet(combine, model[(*place,)], row)
            if "_nd_" in what: getattr(variable, what)(at, new)
            else: getattr(variable, what)(tf.IndexedSlices(tf.constant(new), tf.constant(at[:, 0])))
        for array in given_away: array[...] = 0     # what was handed in belongs to the caller
        np.testing.assert_allclose(variable, model, rtol=1e-5)
        assert variable.dtype.name == name and tuple(variable.shape) == shape
        for now, then in kept: np.testing.assert_array_equal(now, then)


@given(shapes, st.lists(seeds, min_size=1, max_size=4), seeds)
def test_a_tape_sees_the_value_that_was_read(shape, values, seed):
    "Assigning after the use leaves the gradient as it was at the time of the use."
    v = tf.Variable(reals(seed, shape))
    before = v.numpy()
    with tf.GradientTape() as tape:
        y = v * v
        for s in values: v.assign(reals(s, shape))
    agree(tape.gradient(y, v), 2 * before, "float64")


# Structures

Pair = namedtuple("Pair", "left right")
one_leaf = st.fixed_dictionaries({"leaf": st.tuples(shapes, st.sampled_from(["tensor", "variable", "unused"]), seeds)})
nests = st.recursive(one_leaf, lambda inside: st.one_of(
    st.lists(inside, max_size=3), st.lists(inside, max_size=3).map(tuple), st.builds(Pair, inside, inside),
    st.dictionaries(st.sampled_from("abc"), inside, max_size=3)), max_leaves=6)


def built(plan):
    "The structure with its tensors and variables, and the same with what the gradients should be."
    if isinstance(plan, dict) and "leaf" in plan:
        shape, kind, seed = plan["leaf"]
        a = reals(seed, shape)
        return (tf.Variable(a) if kind == "variable" else tf.constant(a)), (None if kind == "unused" else 2 * a)
    if isinstance(plan, dict): both = {k: built(v) for k, v in plan.items()}
    else: both = [built(v) for v in plan]
    if isinstance(plan, dict): return {k: v for k, (v, _) in both.items()}, {k: w for k, (_, w) in both.items()}
    make = (lambda values: Pair(*values)) if isinstance(plan, Pair) else type(plan)
    return make([v for v, _ in both]), make([w for _, w in both])


@given(nests, st.sampled_from(["none", "zero"]))
def test_gradients_have_the_structure_of_their_sources(plan, unconnected):
    sources, wanted = built(plan)
    used = [(x, w) for x, w in zip(tf.nest.flatten(sources), tf.nest.flatten(wanted), strict=True)]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        target = {"squares": [x * x for x, w in used if w is not None], "more": ()}
    grads = tape.gradient(target, sources, unconnected_gradients=unconnected)
    tf.nest.assert_same_structure(sources, grads)
    for x, g, (_, w) in zip(tf.nest.flatten(sources), tf.nest.flatten(grads), used, strict=True):
        if w is None and unconnected == "none": assert g is None
        else: agree(g, np.zeros(x.shape) if w is None else w, "float64")


# Graphs

def level(x, y):
    "`y` if it broadcasts against `x` without making it larger than 60 elements, else its mean."
    try: small = prod(np.broadcast_shapes(tuple(x.shape), tuple(y.shape))) <= 60
    except ValueError: small = False
    return y if small else tf.reduce_mean(y)


def along(f):
    "`f(x, axis, k)` for an axis of `x`; scalars get one."
    def step(x, y, k):
        x = x if len(x.shape) else tf.reshape(x, [1])
        return f(x, k % (2 * len(x.shape)) - len(x.shape), k)
    return step


def gram(x):
    x = x if len(x.shape) > 1 else x[None]
    return tf.matmul(x, x, transpose_b=True)


# Smooth, and of moderate size: differences are exact enough. `x` and `y` are tensors or variables, `k` chooses a variant.
STEPS = {
    "add": lambda x, y, k: tf.sin(x + level(x, y)), "multiply": lambda x, y, k: tf.tanh(x * level(x, y)),
    "divide": lambda x, y, k: x / (1 + tf.square(level(x, y))), "subtract": lambda x, y, k: x - .5 * level(x, y),
    "pow": lambda x, y, k: tf.tanh((1.5 + tf.sin(x)) ** level(x, y)), "log": lambda x, y, k: tf.math.log(2 + tf.sin(x)),
    "sigmoid": lambda x, y, k: tf.sigmoid(x), "softplus": lambda x, y, k: tf.math.softplus(x) - 1,
    "where": lambda x, y, k: tf.where(np.arange(1) == k % 2, x, level(x, y)),
    "sum": along(lambda x, axis, k: tf.sin(tf.reduce_sum(x, axis, keepdims=k % 3 == 0))),
    "mean": along(lambda x, axis, k: tf.reduce_mean(x, [axis], keepdims=k % 3 == 0)),
    "prod": along(lambda x, axis, k: tf.tanh(tf.reduce_prod(x, axis))),
    "logsumexp": along(lambda x, axis, k: tf.sin(tf.reduce_logsumexp(x, axis))),
    "cumsum": along(lambda x, axis, k: tf.sin(tf.cumsum(x, axis, k % 2 == 0, k % 3 == 0))),
    "softmax": along(lambda x, axis, k: tf.nn.softmax(x, axis)),
    "entropy": along(lambda x, axis, k: tf.nn.sparse_softmax_cross_entropy_with_logits(np.zeros(tuple(x.shape)[:-1], int), x)),
    "transpose": lambda x, y, k: tf.transpose(x), "reshape": lambda x, y, k: tf.reshape(x, [-1]),
    "expand": along(lambda x, axis, k: tf.expand_dims(x, axis)[..., 0]),
    "slice": along(lambda x, axis, k: x[..., None, ::-1]), "row": along(lambda x, axis, k: x[k % x.shape[0]]),
    "gather": along(lambda x, axis, k: tf.gather(x, [k % x.shape[axis], 0], axis=axis)),
    "split": along(lambda x, axis, k: tf.concat(tf.split(x, [1, -1], axis)[::-1], axis)),
    "stack": lambda x, y, k: tf.stack([x, tf.broadcast_to(tf.reduce_mean(y), x.shape)], -1),
    "unstack": along(lambda x, axis, k: tf.add_n([i * .5 * part for i, part in enumerate(tf.unstack(x, axis=axis))])),
    "matmul": lambda x, y, k: tf.sin(gram(x if len(x.shape) else tf.reshape(x, [1]))),
}
several, variants = st.integers(0, 5), st.integers(0, 11)
programs = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), several, several, variants), min_size=1, max_size=8)
starts = st.lists(array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3), min_size=1, max_size=3)


def run(program, xs):
    "Every step takes two earlier values, the latest first; the last two values are the result."
    values = list(xs)
    for name, i, j, k in program:
        y = STEPS[name](values[-1 - i % len(values)], values[-1 - j % len(values)], k)
        values.append(y if prod(y.shape) <= 60 else tf.reduce_mean(y, 0))
    return values[-2:]


@given(starts, programs, seeds)
def test_three_ways_to_differentiate_any_graph(starts, program, seed):
    "Reverse mode, forward mode and differences agree, also for the gradient's gradient."
    xs = [reals(seed + i, shape) for i, shape in enumerate(starts)]
    f = lambda *inputs: run(program, inputs)
    check_grads(f, xs, order=2 if len(program) < 6 else 1, tolerance=1e-5, seed=seed)
    check_pairing(lambda *inputs: reduce(operator.add, [tf.reduce_sum(y) for y in f(*inputs)]), xs, seed)


@given(starts, programs, seeds)
@example([(1,)], [("gather", 0, 0, 1), ("sigmoid", 0, 0, 0)], 0)
def test_every_kind_of_tape_gives_the_same_gradient(starts, program, seed):
    "Persistent or not, inside another tape or not, by tensors or by variables: the same numbers, and rows of a gather stay rows."
    arrays = [reals(seed + i, shape) for i, shape in enumerate(starts)]
    found = []
    for persistent, nested, variables in ((False, False, False), (True, False, False), (False, True, False), (False, False, True)):
        xs = [(tf.Variable if variables else tf.constant)(a) for a in arrays]
        with tf.GradientTape() as outer:
            if nested: outer.watch(xs)
            with tf.GradientTape(persistent) as tape:
                if not variables: tape.watch(xs)
                y = run(program, xs)
            found.append(tape.gradient(y, xs, unconnected_gradients=tf.UnconnectedGradients.ZERO))
    for other in found[1:]:
        for g, h in zip(found[0], other, strict=True):
            assert type(h) is type(g)
            agree(tf.convert_to_tensor(h), plain(tf.convert_to_tensor(g)), "float64")


# Random numbers

@given(seeds, shapes, st.sampled_from(["float16", "float32", "float64", "int32", "int64"]), st.integers(-100, 100), st.integers(1, 100))
def test_random_numbers_stay_inside_and_come_again(seed, shape, name, low, width):
    draws = [tf.random.Generator.from_seed(seed).uniform(shape, low, low + width, name) for _ in range(2)]
    agree(draws[0], plain(draws[1]), name)
    assert np.all(plain(draws[0]) >= low) and np.all(plain(draws[0]) <= low + width - (name[0] == "i"))
    n = tf.random.Generator.from_seed(seed).normal(shape, dtype="float32")
    assert tuple(n.shape) == shape and np.isfinite(n.numpy()).all()


def test_the_profile_is_the_one_that_was_asked_for(request):
    from hypothesis import settings
    nightly = request.config.getoption("--slow")
    if request.config.getoption("--hypothesis-profile", None): pytest.skip("a profile was chosen by hand")
    assert settings.default.derandomize is not nightly and settings.default.deadline is None
