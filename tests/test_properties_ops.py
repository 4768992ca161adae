"""Properties of the ops, one test for each op in the registry: random shapes that broadcast, random axes, random indices.

NumPy (SciPy for what it lacks) gives the values in float64, or in integers or truth values for ops that take no floats. Beyond values:
broadcasting first changes nothing, a gradient has the shape of its input, and stretching an input sums its gradient. What Hypothesis
draws is the shapes; numbers come from one pool, so an example costs little. `thorough()` in conftest.py says how many examples.
"""
import warnings

import numpy as np
import pytest
import scipy.special as special
from conftest import thorough
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices

from tfedu.autodiff.tape import GradientTape
from tfedu.core.convert import constant, convert_to_tensor
from tfedu.core.dtype import bool_, complex128, float64, int64
from tfedu.core.op import INTEGER
from tfedu.core.tensor import OPS, load_ops

load_ops()
CALLS = {name: call for name, call in OPS.items() if hasattr(call, "op")}
ELEMENTWISE = sorted(name for name, call in CALLS.items() if call.op.elementwise)
POOL = np.round(np.random.default_rng(0).uniform(-2, 2, 997), 3)     # hardly two that are equal; two are -0.0

softplus = lambda x: np.logaddexp(0, x)
cross_entropy = lambda logits, labels: softplus(logits) - labels * logits
SELU = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717

# NumPy's function for an op, where it has another name than the op; SciPy's are found by name too.
ELEMENT = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
    "atan2": np.arctan2, "and_": np.bitwise_and, "or_": np.bitwise_or, "xor_": np.bitwise_xor, "invert_": np.invert,
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor, "magnitude": np.abs, "round": np.round,
    "is_finite": np.isfinite, "is_inf": np.isinf, "is_nan": np.isnan, "floordiv": np.floor_divide, "floormod": np.mod, "pow": np.power,
    "divide_no_nan": lambda x, y: np.where(y == 0, 0, x / y), "multiply_no_nan": lambda x, y: np.where(y == 0, 0, x * y),
    "quotient": np.divide, "reciprocal_no_nan": lambda x: np.where(x == 0, 0, 1 / x), "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": special.expit, "silu": lambda x: x * special.expit(x), "positive": lambda x: np.where(x > 0, 1.0, 0.0),
        "softplus": softplus, "softsign": lambda x: x / (1 + np.abs(x)),
    "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "leaky_relu": lambda x: np.where(x > 0, x, .2 * x),
    "gelu": lambda x: x * special.ndtr(x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)), "selu": lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(x)),
    "squared_difference": lambda x, y: (x - y) ** 2, "sigmoid_cross_entropy": cross_entropy,
    "weighted_cross_entropy": lambda labels, logits, w: (1 - labels) * softplus(logits) + w * labels * softplus(-logits),
    # at 0, SciPy has an infinity of the other sign for -0.0; TensorFlow has nan, as at every other pole
    "digamma": lambda x: np.where((x <= 0) & (x == np.floor(x)), np.nan, special.digamma(x)),
    "lgamma": special.gammaln, "igamma": special.gammainc, "igammac": special.gammaincc, "expint": special.expi,
    "fresnel_sin": lambda x: special.fresnel(x)[0], "fresnel_cos": lambda x: special.fresnel(x)[1], "dawsn": special.dawsn,
    "log_sigmoid": lambda x: -softplus(-x), "xdivy": lambda x, y: np.where(x == 0, 0, x / y), "truncatemod": np.fmod,
    "truncatediv": lambda x, y: np.trunc(x / y).astype(x.dtype), "leaky": lambda x: np.where(x > 0, x, .2 * x),
    "left_shift": lambda x, y: np.left_shift(x, np.clip(y, 0, 8 * y.itemsize - 1).astype(y.dtype)),     # by a negative number: not at all
    "right_shift": lambda x, y: np.right_shift(x, np.clip(y, 0, 8 * y.itemsize - 1).astype(y.dtype)),
    **{f"bessel_{kind}": getattr(special, kind) for kind in "i0 i1 i0e i1e j0 j1 k0 k1 k0e k1e y0 y1".split()},
}
# Elementwise ops for which nobody here knows the values.
UNKNOWN = set()


MOST = max(len(CALLS[name].op.inputs) for name in ELEMENTWISE)


def oracle(name): return ELEMENT.get(name) or getattr(np, name, None) or getattr(special, name, None)


def quiet(f, *args, **settings):
    "NumPy's answer without its warnings: ours must not give any."
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return f(*args, **settings)


def numbers(op, shape, start=0):
    "An array of `shape` from the pool, of the first of these types that `op` takes."
    x = np.resize(np.roll(POOL, -97 * start), shape)
    if float64 in op.T: return x
    if op.T & INTEGER: return np.round(4 * x).astype(np.int64 if int64 in op.T else sorted(d.name for d in op.T & INTEGER)[0])
    if bool_ in op.T: return x > 0
    return x + 1j * np.flip(x) if complex128 in op.T else None


def close(got, want):
    got, want = got.numpy(), np.asarray(want)
    assert got.shape == want.shape
    if (got == want).all(): return                                        # nearly always, and much faster than what follows
    if got.dtype.kind in "fc": np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
    else: np.testing.assert_array_equal(got, want)


def gradients(f, xs):
    "The result of `f` on tensors, and its gradients as arrays."
    xs = [constant(x) for x in xs]
    with GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return y, [g if g is None else convert_to_tensor(g) for g in tape.gradient(y, xs)]   # rows of a gather as a whole


def check_gradients(f, arrays, rules):
    "A gradient has its input's shape and type; inputs without a rule have none."
    _, found = gradients(f, arrays)
    for x, g in zip(arrays, found, strict=True): assert g is None or (g.numpy().shape, g.numpy().dtype) == (x.shape, x.dtype)
    assert all(g is None for g in found) or rules


whole_shapes = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def narrowed(whole, bits):
    "An end of the shape `whole`, some axes of it 1, as the bits of a number say: a shape that broadcasts to it."
    return tuple(1 if bits >> i & 1 else n for i, n in enumerate(whole))[(bits >> 4) % (len(whole) + 1):]


def together(n):
    "`n` shapes that broadcast, and the shape that they give. Cheaper than Hypothesis's own strategy, which is most of the time here."
    def shapes(whole, many): return (found := [narrowed(whole, bits) for bits in many]), np.broadcast_shapes(*found)
    return st.builds(shapes, whole_shapes, st.lists(st.integers(0, 79), min_size=n, max_size=n))


def shaped(least, side): return st.lists(st.integers(side, 3), min_size=least, max_size=4).map(tuple)


def test_every_elementwise_op_has_an_oracle(): assert {name for name in ELEMENTWISE if not oracle(name)} == UNKNOWN


@pytest.mark.parametrize("name", ELEMENTWISE)
@thorough()
@given(together(MOST))
@example(([(3, 3, 3, 3)] * MOST, (3, 3, 3, 3)))     # the most numbers from the pool, -0.0 among them
def test_elementwise(name, drawn):
    call, op = CALLS[name], CALLS[name].op
    shapes = drawn[0][:len(op.inputs)]
    whole = np.broadcast_shapes(*shapes)
    xs = [numbers(op, shape, i) for i, shape in enumerate(shapes)]
    wide = [np.broadcast_to(x, whole) for x in xs]
    y = quiet(call, *map(constant, xs))
    assert tuple(y.shape) == tuple(whole)
    if name not in UNKNOWN: close(y, quiet(oracle(name), *xs))
    moving, same = op.rules and xs[0].dtype.kind == "f", all(shape == whole for shape in shapes)
    if same and moving: quiet(check_gradients, call, xs, op.rules)
    if same: return
    close(quiet(call, *map(constant, wide)), y.numpy())
    if not moving: return
    _, narrow = quiet(gradients, call, xs)
    _, stretched = quiet(gradients, call, wide)
    for x, g, h in zip(xs, narrow, stretched, strict=True):
        assert (g is None) == (h is None)
        if g is None: continue
        new = len(whole) - x.ndim
        axes = (*range(new), *(i + new for i, n in enumerate(x.shape) if n != whole[i + new]))
        close(g, np.sum(h.numpy(), axes, keepdims=True).reshape(x.shape))


@st.composite
def axes_of(draw, ndim, several=True):
    "One axis, or a list of different ones where `several`, or None; from either end."
    if not ndim: return draw(st.sampled_from([None, []])) if several else None
    one = st.integers(-ndim, ndim - 1)
    return draw(st.none() | one | st.lists(one, max_size=ndim, unique_by=lambda i: i % ndim) if several else st.none() | one)


def over(f): return lambda x, axis, keepdims: f(x, axis=axis, keepdims=keepdims)


REDUCE = {
    "reduce_sum": over(np.sum), "reduce_prod": over(np.prod), "reduce_mean": over(np.mean), "reduce_all": over(np.all),
    "reduce_any": over(np.any), "reduce_std": over(np.std), "reduce_variance": over(np.var), "reduce_logsumexp": lambda x, axis,
        keepdims: np.log(np.sum(np.exp(x), axis, keepdims=keepdims)),
    "reduce_max": over(np.max), "reduce_min": over(np.min), "reduce_euclidean_norm": lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis,
        keepdims=keepdims)),
}
EMPTY = {"reduce_sum", "reduce_prod", "reduce_all", "reduce_any"}    # NumPy has an answer when there is nothing to reduce


def test_every_reduction_has_an_oracle():
    assert {name for name, call in CALLS.items() if {"axis", "keepdims"} <= set(call.op.names)} <= set(REDUCE)


@pytest.mark.parametrize("name", sorted(set(REDUCE) & set(CALLS)))
@thorough()
@given(st.data())
def test_reduction(name, data):
    call, op = CALLS[name], CALLS[name].op
    shape = data.draw(shaped(0, 0 if name in EMPTY else 1))
    axis, keepdims = data.draw(axes_of(len(shape))), data.draw(st.booleans())
    x = numbers(op, shape)
    y = call(constant(x), axis=axis, keepdims=keepdims)
    close(y, quiet(REDUCE[name], x, tuple(axis) if isinstance(axis, list) else axis, keepdims))
    close(call(constant(x), axis=axis, keepdims=True), y.numpy().reshape(call(constant(x), axis=axis, keepdims=True).shape))
    if op.rules and axis != []: quiet(check_gradients, lambda t: call(t, axis=axis, keepdims=keepdims), [x], op.rules)


def running(f):
    "`f`, a running total, started `exclusive`ly with `first`, or from the other end."
    def run(x, axis, exclusive, reverse, first):
        x = np.flip(x, axis) if reverse else x
        y = f(x, axis=axis)
        if exclusive: y = np.concatenate([np.full_like(y.take([0], axis), first), np.delete(y, -1, axis)], axis) if x.shape[axis] else y
        return np.flip(y, axis) if reverse else y
    return run


RUNNING = {"cumsum": (running(np.cumsum), 0), "cumprod": (running(np.cumprod), 1)}
ALONG = {"softmax": special.softmax, "log_softmax": special.log_softmax, "argmax": np.argmax, "argmin": np.argmin}


@pytest.mark.parametrize("name", sorted(RUNNING))
@thorough()
@given(st.data())
def test_running_total(name, data):
    call, (f, first) = CALLS[name], RUNNING[name]
    shape = data.draw(shaped(1, 0))
    settings = dict(axis=data.draw(st.integers(-len(shape), len(shape) - 1)), exclusive=data.draw(st.booleans()),
        reverse=data.draw(st.booleans()))
    x = numbers(call.op, shape)
    close(call(constant(x), **settings), f(x, **settings, first=first))
    check_gradients(lambda t: call(t, **settings), [x], call.op.rules)


@pytest.mark.parametrize("name", sorted(ALONG))
@thorough()
@given(st.data())
def test_along_an_axis(name, data):
    call = CALLS[name]
    shape = data.draw(shaped(1, 1))
    axis, x = data.draw(st.integers(-len(shape), len(shape) - 1)), numbers(call.op, shape)
    close(call(constant(x), axis=axis), ALONG[name](x, axis=axis))
    if call.op.rules: check_gradients(lambda t: call(t, axis=axis), [x], call.op.rules)


# Ops that move elements. Each entry draws, for an array that has an axis and elements: the other arguments, and NumPy's answer.
def index(draw, x):
    key = draw(basic_indices(x.shape, allow_newaxis=True, allow_ellipsis=True))
    return dict(key=key), x[key]


def rows(draw, x):
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    found = np.array(draw(st.lists(st.integers(0, x.shape[axis] - 1), max_size=4)), np.int64)
    return dict(indices=found, axis=axis), np.take(x, found, axis)


def turned(draw, x):
    perm = draw(st.permutations(range(x.ndim)))
    return dict(perm=perm), np.transpose(x, perm)


def swapped(draw, x):
    axes = draw(st.tuples(*[st.integers(0, x.ndim - 1)] * 2))
    return dict(axis1=axes[0], axis2=axes[1]), np.swapaxes(x, *axes)


def flipped(draw, x):
    axis = draw(axes_of(x.ndim).filter(lambda a: isinstance(a, list)))
    return dict(axis=axis), np.flip(x, tuple(axis))


def rolled(draw, x):
    shift, axis = draw(st.integers(-4, 4)), draw(st.integers(-x.ndim, x.ndim - 1))
    return dict(shift=shift, axis=axis), np.roll(x, shift, axis)


def tiled(draw, x):
    multiples = draw(st.lists(st.integers(0, 2), min_size=x.ndim, max_size=x.ndim))
    return dict(multiples=multiples), np.tile(x, multiples)


def padded(draw, x):
    paddings = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=x.ndim, max_size=x.ndim))
    return dict(paddings=[list(p) for p in paddings]), np.pad(x, paddings)


def stretched(draw, x):
    shape = (*draw(st.lists(st.integers(1, 2), max_size=2)), *x.shape)
    return dict(shape=shape), np.broadcast_to(x, shape)


def reshaped(draw, x):
    cut = draw(st.integers(0, x.ndim))
    shape = [-1, *x.shape[cut:]] if cut else [*x.shape, 1]
    return dict(shape=shape), x.reshape(shape)


def expanded(draw, x):
    axis = draw(st.integers(-x.ndim - 1, x.ndim))
    return dict(axis=axis), np.expand_dims(x, axis)


def squeezed(draw, x): return {}, np.squeeze(x)


MOVE = {"getitem": index, "gather": rows, "transpose": turned, "swapaxes": swapped, "reverse": flipped, "roll": rolled, "tile": tiled,
        "pad": padded, "broadcast_to": stretched, "reshape": reshaped, "expand_dims": expanded, "squeeze": squeezed}


@pytest.mark.parametrize("name", sorted(MOVE))
@thorough()
@given(st.data())
def test_moving_elements(name, data):
    call = CALLS[name]
    x = numbers(call.op, data.draw(shaped(1, 1)))
    settings, want = MOVE[name](data.draw, x)
    inputs = [constant(settings.pop(k)) for k in call.op.inputs[1:]]
    f = lambda t: call(t, *inputs, **settings)
    y, (g,) = gradients(f, [x])
    close(y, want)
    weights = numbers(call.op, want.shape, 3)                # x moves by t: the result moves by f(t), for f is linear
    xs = constant(x)
    with GradientTape() as tape:
        tape.watch(xs)
        y = f(xs)
    g = convert_to_tensor(tape.gradient(y, xs, constant(weights)))
    t = numbers(call.op, x.shape, 5)
    assert g.numpy().shape == x.shape
    np.testing.assert_allclose(np.sum(g.numpy() * t), np.sum(weights * f(constant(t)).numpy()), atol=1e-9)


JOIN = {"concatenate": np.concatenate, "stack": np.stack}


@pytest.mark.parametrize("name", sorted(JOIN))
@thorough()
@given(st.data())
def test_joining(name, data):
    call = CALLS[name]
    shape = data.draw(shaped(1, 0))
    axis, n = data.draw(st.integers(-len(shape), len(shape) - 1)), data.draw(st.integers(1, 3))
    xs = [numbers(call.op, shape, i) for i in range(n)]
    if name == "concatenate": xs = [np.repeat(x, data.draw(st.integers(0, 2)), axis) for x in xs]
    close(call([constant(x) for x in xs], axis=axis), JOIN[name](xs, axis=axis))
    check_gradients(lambda *ts: call(list(ts), axis=axis), xs, call.op.rules)


@pytest.mark.parametrize("name", ["split", "unstack"])
@thorough()
@given(st.data())
def test_taking_apart(name, data):
    call = CALLS[name]
    shape = data.draw(shaped(1, 1))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x, n = numbers(call.op, shape), shape[axis]
    cut = data.draw(st.integers(0, n))
    settings = dict(axis=axis) | (dict(num_or_size_splits=[cut, n - cut]) if name == "split" else {})
    want = np.split(x, [cut], axis) if name == "split" else list(np.moveaxis(x, axis, 0))
    for y, w in zip(call(constant(x), **settings), want, strict=True): close(y, w)
    check_gradients(lambda t: call(t, **settings), [x], call.op.rules)


@thorough()
@given(together(3))
def test_where(shapes):
    call = CALLS["where"]
    condition, x, y = (numbers(call.op, shape, i) for i, shape in enumerate(shapes[0]))
    close(call(*map(constant, (condition > 0, x, y))), np.where(condition > 0, x, y))
    check_gradients(lambda a, b: call(constant(condition > 0), a, b), [x, y], call.op.rules)


@thorough()
@given(together(2), st.tuples(*[st.integers(0, 3)] * 3), st.tuples(*[st.booleans()] * 4))
def test_matmul(batches, sizes, flags):
    call, (m, k, n) = CALLS["matmul"], sizes
    ta, tb, aa, ab = flags[0], flags[1], flags[2] and not flags[0], flags[3] and not flags[1]
    shape_a, shape_b = ((*batches[0][0], m, k), (*batches[0][1], k, n))
    a, b = numbers(call.op, shape_a), numbers(call.op, shape_b, 1)
    given_a, given_b = (np.swapaxes(x, -1, -2) if turn else x for x, turn in ((a, ta or aa), (b, tb or ab)))
    settings = dict(transpose_a=ta, transpose_b=tb, adjoint_a=aa, adjoint_b=ab)
    close(call(constant(given_a), constant(given_b), **settings), np.matmul(a, b))
    check_gradients(lambda x, y: call(x, y, **settings), [given_a, given_b], call.op.rules)
    _, narrow = gradients(call, [a, b])
    _, wide = gradients(call, [np.broadcast_to(x, (*batches[1], *x.shape[-2:])) for x in (a, b)])
    for x, g, h in zip((a, b), narrow, wide, strict=True):
        new = h.numpy().ndim - x.ndim
        axes = (*range(new), *(i + new for i, size in enumerate(x.shape) if size != h.numpy().shape[i + new]))
        close(g, np.sum(h.numpy(), axes, keepdims=True).reshape(x.shape))


some_letters = st.lists(st.sampled_from("abcd"), max_size=3, unique=True)


@thorough()
@given(some_letters, some_letters, st.data())
def test_contract(first, second, data):
    call, every = CALLS["contract"], sorted({*first, *second})
    result = "".join(data.draw(st.permutations(every))[:data.draw(st.integers(0, len(every)))])
    size = {letter: data.draw(st.integers(1, 3)) for letter in every}
    xs = [numbers(call.op, tuple(size[letter] for letter in term), i) for i, term in enumerate((first, second))]
    terms = tuple("".join(term) for term in (first, second))
    close(call([constant(x) for x in xs], terms=terms, result=result), np.einsum(f"{','.join(terms)}->{result}", *xs))
    check_gradients(lambda *ts: call(list(ts), terms=terms, result=result), xs, call.op.rules)
