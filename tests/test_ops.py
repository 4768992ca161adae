"""The sweep: every declared op is tested, without anyone writing a test for it.

For each op in the registry, in the cases below: forward mode, reverse mode and second derivatives against finite differences, shapes and
dtypes of results and gradients in every floating type, rules on bare arrays against rules on tensors, broadcasting, and the declared
shape rule against the actual shape. An op that is differentiable and for which no input can be made up fails the test.
"""
import numpy as np
import pytest

from tfedu.autodiff.check import check_grads
from tfedu.autodiff.tape import GradientTape
from tfedu.core.convert import constant
from tfedu.core.dtype import as_dtype
from tfedu.core.errors import OpError
from tfedu.core.op import COMPLEX, FLOATING
from tfedu.core.tensor import OPS, Tensor, load_ops

load_ops()


def draw(*shape, low=0.5, high=1.5): return np.random.default_rng(sum(shape) + len(shape)).uniform(low, high, shape)


FLAGS, ROWS = np.array([[True, False, True], [False, True, True]]), np.array([2, 0, 2])
A, B = draw(2, 3), draw(2, 3, low=2, high=4)
ZERO_ONE = np.array([[0., 1., 0.], [0., 0., 1.]])

# What an op needs beyond positive numbers of shape (2, 3): a list of (inputs, settings). Inputs that are not floats get no gradient.
CASES = {
    "getitem": [((A,), dict(key=(slice(None), slice(None, None, -2)))), ((A,), dict(key=(1, None, Ellipsis)))],
    "put_slice": [((A[:, :2],), dict(shape=(2, 4), key=(slice(None), slice(0, None, 2))))],
    "reshape": [((A,), dict(shape=(3, -1)))], "squeeze": [((A[None, :, None],), {}), ((A[None],), dict(axis=[0]))],
    "expand_dims": [((A,), dict(axis=-1))], "swapaxes": [((A,), dict(axis1=0, axis2=1))],
    "concatenate": [(([A, B],), dict(axis=1))], "stack": [(([A, B],), dict(axis=-1))],
    "split": [((A,), dict(num_or_size_splits=[1, 2], axis=1))],
    "cast": [((A,), dict(dtype="float64"))], "saturate_cast": [((A,), dict(dtype="float64"))],
    "where": [((FLAGS, A, B), {}), ((FLAGS, A, B[:1]), {})],
    "complex_": [((A, B), {})],
    **{name: [((A + 1j * B,), {})] for name in ("conj", "real", "imag", "magnitude", "angle")},
    "multiply_no_nan": [((A, B), {})],
    "shift": [((A,), dict(axis=1, step=1, fill=0))], "recurrence": [((A, B), dict(axis=1))],
    "sum_to": [((A,), dict(shape=(3,)))], "broadcast_to": [((A,), dict(shape=(4, 2, 3)))],
    "add_n": [(([A, B, A],), {})],
    "pad": [((A,), dict(paddings=[[1, 0], [2, 1]])), ((A,), dict(paddings=[[1, 0], [2, 1]], mode="REFLECT"))],
    "tile": [((A,), dict(multiples=[2, 3]))], "reverse": [((A,), dict(axis=[1]))], "roll": [((A,), dict(shift=1, axis=1))],
    "gather": [((A, np.array([1, 0, 1])), {}), ((A, ROWS), dict(axis=1))],
    "scatter_rows": [((draw(3, 2), ROWS), dict(shape=(3, 2), axis=0, batch_dims=0))],
    "put_rows": [((draw(3, 2), draw(2, 2), np.array([2, 0])), {})],
    "matmul": [((A, draw(3, 4)), {}), ((A, draw(4, 3)), dict(transpose_b=True)),
               ((draw(5, 3, 2), A), dict(transpose_a=True, transpose_b=True))],
    "contract": [(([A, draw(3, 4)],), dict(terms=("ab", "bc"), result="ca"))],
    "bias_add": [((draw(2, 3, 4), draw(4)), {}), ((draw(2, 3, 4), draw(3)), dict(data_format="NCHW"))],
    "gelu": [((A,), {}), ((A,), dict(approximate=True))],
    "blame": [((np.array([1, 2]), A), {})],
    "sparse_softmax_cross_entropy_with_logits": [((np.array([1, 2]), A), {})],
    "softmax_cross_entropy_with_logits": [((ZERO_ONE, A), {}), ((A / A.sum(1, keepdims=True), B), {})],
    "sigmoid_cross_entropy": [((A, B), {})], "weighted_cross_entropy": [((A, B, B), {})],
    **{name: [((A,), {}), ((A,), dict(axis=0, keepdims=True)), ((draw(2, 3, 2),), dict(axis=[-1, 0]))] for name in
       ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_logsumexp", "reduce_variance", "reduce_std")},
    **{name: [((A,), dict(axis=1)), ((A,), dict(axis=0, exclusive=True, reverse=True))] for name in ("cumsum", "cumprod")},
    **{name: [((A,), {}), ((A,), dict(axis=0))] for name in ("softmax", "log_softmax")},
    "transpose": [((A,), {}), ((draw(2, 3, 4),), dict(perm=[2, 0, 1]))], "unstack": [((A,), {}), ((A,), dict(axis=1))],
}
KINKED = {"maximum", "minimum", "floormod"}   # in a coarse dtype two numbers may meet at the kink, where the slope jumps
BETWEEN = ("asin", "acos", "atanh", "sigmoid", "tanh", "erf", "erfc", "elu", "selu", "silu", "softsign")
NARROW = {name: (draw(2, 3, low=-.9, high=.9),) for name in BETWEEN} | {"acosh": (1.5 + A,)}


def cases(op):
    "Inputs and settings for `op`: the table above, or random numbers for what works element by element or says its shapes."
    if op.name in CASES: return CASES[op.name]
    if op.elementwise or (len(op.inputs) == 1 and not op.lists):
        plain = NARROW.get(op.name, tuple(draw(2, 3, low=.5 + .1 * i, high=1.5 + .1 * i) for i in range(len(op.inputs))))
        if len(plain) != 2: return [(plain, {})]
        x, y = plain
        return [(pair, {}) for pair in (plain, (x, y[0]), (x[:, :1], y[:1]), (x, y[0, 0]))]
    raise AssertionError(f"{op.name} is differentiable, but test_ops.py has no inputs for it")


def floating(x): return isinstance(x, np.ndarray | np.floating) and x.dtype.kind in "fc"


def bound(call, inputs, settings):
    "A function of the floating inputs alone, and those inputs."
    flat = [v for x in inputs for v in (x if isinstance(x, list) else [x])]
    moving = [v for v in flat if floating(v)]
    def f(*values):
        rest = iter(values)
        put = lambda x: next(rest) if floating(x) else constant(x)
        return call(*[[put(v) for v in x] if isinstance(x, list) else put(x) for x in inputs], **settings)
    return f, moving


DIFFERENTIABLE = sorted(name for name, call in OPS.items() if hasattr(call, "op") and call.op.rules)
EACH = [pytest.param(name, i, id=f"{name}-{i}") for name in DIFFERENTIABLE for i in range(len(cases(OPS[name].op)))]


@pytest.mark.parametrize("name, case", EACH)
def test_derivatives_agree_with_differences(name, case):
    f, moving = bound(OPS[name], *cases(OPS[name].op)[case])
    check_grads(f, moving, order=2)


def widest(shapes, rng, most=4):
    "Shapes that broadcast: a random one, and ends of it with some axes of size 1."
    whole = rng.integers(1, most, rng.integers(0, 4))
    for n in range(shapes): yield tuple(np.where(rng.random(len(whole)) < .3, 1, whole)[rng.integers(0, len(whole) + 1) if n else 0:])


@pytest.mark.slow
@pytest.mark.parametrize("name, case", EACH)
def test_third_derivatives_agree_with_differences(name, case):
    f, moving = bound(OPS[name], *cases(OPS[name].op)[case])
    check_grads(f, moving, order=3, tolerance=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if OPS[name].op.elementwise or OPS[name].op.shape])
def test_third_derivatives_on_random_shapes(name, seed):
    op, rng = OPS[name].op, np.random.default_rng(seed)
    if op.shape: inputs = [rng.uniform(-1, 1, s) for s in op.shape.example_shapes(batches=list(widest(len(op.inputs), rng)))]
    elif name in NARROW: inputs = [rng.uniform(NARROW[name][0].min(), NARROW[name][0].max(), s) for s in widest(len(op.inputs), rng)]
    elif name in CASES and len(op.inputs) == 1: inputs = [CASES[name][0][0][0] + np.zeros((*s, 1, 1)) for s in widest(1, rng)]
    else: inputs = [rng.uniform(.5 + .1 * i, 1.5 + .1 * i, s) for i, s in enumerate(widest(len(op.inputs), rng))]
    check_grads(OPS[name], inputs, order=3, tolerance=1e-5, seed=seed)


def gradients(f, xs, recorded):
    "Gradients of all outputs; with an outer tape around, so that the rules run on tensors, when `recorded`."
    with GradientTape() as outer:
        if recorded: outer.watch(xs)
        with GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        if recorded: return y, tape.gradient(y, xs)
    return y, tape.gradient(y, xs)


@pytest.mark.parametrize("name, case", EACH)
def test_every_floating_dtype_keeps_its_type_and_shape(name, case):
    op = OPS[name].op
    f, moving = bound(OPS[name], *cases(op)[case])
    wanted = COMPLEX if any(x.dtype.kind == "c" for x in moving) else FLOATING
    _, exact = gradients(f, [constant(x) for x in moving], False)
    for dtype in sorted(op.T & wanted, key=lambda d: d.name):
        if op.name in ("cast", "saturate_cast") and dtype.name != "float64" or op.name in KINKED and dtype.size == 2: continue
        xs = [constant(np.asarray(x).astype(dtype.np)) for x in moving]
        for recorded in (False, True):
            y, grads = gradients(f, xs, recorded)
            assert all(isinstance(v, Tensor) for v in (y if isinstance(y, list) else [y]))
            for x, g, e in zip(xs, grads, exact, strict=True):
                if e is None: assert g is None; continue
                assert (g.dtype, g.shape) == (x.dtype, x.shape), f"{dtype.name}, recorded={recorded}: gradient is {g.dtype.name} {g.shape}"
                tolerance = {"bfloat16": .12, "float16": .02}.get(dtype.name, 1e-4)
                want = e.numpy()
                near = tolerance * max(1, np.abs(want).max())
                np.testing.assert_allclose(g.numpy().astype(want.dtype), want, rtol=tolerance, atol=near)


def ones(dtype, shape): return constant(np.full(shape, b"a", object) if dtype.name == "string" else np.ones(shape, dtype.np))


@pytest.mark.parametrize("name", sorted(n for n, c in OPS.items() if hasattr(c, "op") and c.op.elementwise))
def test_elementwise_ops_take_every_shape_and_refuse_wrong_types(name):
    op = OPS[name].op
    for dtype in sorted(op.T, key=lambda d: d.name):
        for shape in ((), (0,), (2, 0, 3), (1,), (2, 3)):
            y = OPS[name](*[ones(dtype, shape) for _ in op.inputs])
            assert y.shape.as_list() == list(shape) and y.dtype in ((op.result or dtype), dtype.real_dtype)
    for dtype in {"float32", "int32", "bool", "string", "complex64"} - {d.name for d in op.T}:
        x = ones(as_dtype(dtype), 1)
        with pytest.raises(OpError, match=name) as caught: OPS[name](*[x] * len(op.inputs))
        assert dtype in str(caught.value)


@pytest.mark.parametrize("name", sorted(n for n, c in OPS.items() if hasattr(c, "op") and c.op.elementwise and len(c.op.inputs) == 2))
def test_two_inputs_of_different_types_or_shapes_are_refused(name):
    op = OPS[name].op
    first, second = (sorted(op.T, key=lambda d: d.name) * 2)[:2]
    if first is not second:
        with pytest.raises(OpError) as caught: OPS[name](ones(first, 2), ones(second, 2))
        assert name in str(caught.value) and first.name in str(caught.value) and second.name in str(caught.value)
    with pytest.raises(OpError) as caught: OPS[name](ones(first, 2), ones(first, 3))
    assert name in str(caught.value) and "(2,)" in str(caught.value) and "(3,)" in str(caught.value)


@pytest.mark.parametrize("name", sorted(n for n, c in OPS.items() if hasattr(c, "op") and c.op.shape))
def test_the_shape_rule_is_the_shape(name):
    op = OPS[name].op
    for first, second in (((), ()), ((2,), (2,)), ((4, 1), (3,))):
        shapes = op.shape.example_shapes(batches=[first, second])
        y = OPS[name](*[constant(np.ones(s, np.float32)) for s in shapes])
        assert [o.as_list() for o in op.shape.outputs(name, shapes)] == [y.shape.as_list()]


NO_GRADIENT = set("""and_ argmax argmin bitwise_and bitwise_or bitwise_xor ceil equal floor floordiv greater greater_equal invert
    invert_ is_finite is_inf is_nan less less_equal logical_and logical_not logical_or logical_xor not_equal one_hot_rows ones_like or_
    positive ratio reduce_all reduce_any rint round stop_gradient xor_ zero_fraction zeros_like""".split())
NOT_MOVING = {"where": ["condition"], "blame": ["labels"], "sparse_softmax_cross_entropy_with_logits": ["labels"], "gather": ["indices"],
              "scatter_rows": ["indices"], "put_rows": ["places"]}


def test_a_gradient_is_missing_only_where_there_is_none():
    "An op, or an input of an op, that loses its rule fails here; a new op without one must be added to the list on purpose."
    ops = {name: call.op for name, call in OPS.items() if hasattr(call, "op")}
    assert {name for name, op in ops.items() if not op.rules} == NO_GRADIENT
    ruled = {name: {i for rule in op.rules for i in rule.inputs} for name, op in ops.items() if op.rules}
    still = {name: [x for i, x in enumerate(ops[name].inputs) if i not in moving] for name, moving in ruled.items()}
    assert {name: inputs for name, inputs in still.items() if inputs} == NOT_MOVING
    plain = {name for name, call in OPS.items() if not hasattr(call, "op")}
    assert plain == {"abs", "gather_nd", "tensor_equals", "tensor_not_equals", "truediv"}


# Which types an op takes, as TensorFlow's op definitions list them (a few take more, as their notebooks say). A second entry beside the
# declaration, so that widening or narrowing one is noticed.
TYPES = {
    "ANY": """broadcast_to cast concatenate equal expand_dims gather getitem identity not_equal one_hot_rows ones_like pad put_rows
        put_slice reshape reverse roll shift split squeeze stack stop_gradient swapaxes tile transpose unstack where
        zero_fraction zeros_like""",
    "BOOL": """logical_and logical_not logical_or logical_xor reduce_all reduce_any""",
    "BOOL | INTEGER": """and_ invert_ or_ xor_""",
    "BOOL | REAL": """argmax argmin""",
    "COMPLEX": """magnitude""",
    "FLOATING": """atan2 blame ceil elu erf erfc floor gelu is_finite is_inf is_nan l2_loss leaky_relu log_softmax reduce_logsumexp rint
        selu sigmoid_cross_entropy silu softmax softmax_cross_entropy_with_logits softplus softsign
        sparse_softmax_cross_entropy_with_logits weighted_cross_entropy""",
    "INDEX | INEXACT": """contract matmul""",
    "INEXACT": """acos acosh angle asin asinh atan atanh cos cosh divide_no_nan exp expm1 log log1p multiply_no_nan quotient reciprocal
        reciprocal_no_nan recurrence reduce_std reduce_variance rsqrt sigmoid sin sinh sqrt sum_to tan tanh""",
    "INTEGER": """bitwise_and bitwise_or bitwise_xor invert ratio""",
    "NUMBER": """add_n bias_add conj cumprod cumsum imag multiply negative pow real reduce_mean reduce_prod reduce_sum scatter_rows
        sign square subtract""",
    "NUMBER | TEXT": """add""",
    "REAL": """absolute floordiv floormod greater greater_equal less less_equal maximum minimum positive reduce_max reduce_min relu
        relu6 round saturate_cast squared_difference""",
    "float32 float64": """complex_""",
}


@pytest.mark.parametrize("types", TYPES)
def test_an_op_takes_the_types_that_are_written_down(types):
    import tfedu.core.op as groups
    wanted = frozenset().union(*(getattr(groups, word) if word.isupper() else {as_dtype(word)} for word in types.split() if word != "|"))
    assert {name: OPS[name].op.T for name in TYPES[types].split()} == dict.fromkeys(TYPES[types].split(), wanted)


def test_every_op_has_its_types_written_down():
    assert sorted(" ".join(TYPES.values()).split()) == sorted(name for name, call in OPS.items() if hasattr(call, "op"))
