"""The sweep: every declared op is tested, without anyone writing a test for it.

For each op in the registry, in the cases below: forward mode, reverse mode and second derivatives against finite differences, shapes and
dtypes of results and gradients in every floating type, rules on bare arrays against rules on tensors, broadcasting, and the declared
shape rule against the actual shape. An op that is differentiable and for which no input can be made up fails the test.
"""
import numpy as np
import pytest
from tables import CASES, KINKED, NARROW, NO_GRADIENT, NOT_MOVING, PLAIN, TYPES
from tables.inputs import draw

from tfedu.autodiff.check import check_grads
from tfedu.autodiff.tape import GradientTape
from tfedu.core.convert import constant, convert_to_tensor
from tfedu.core.dtype import as_dtype
from tfedu.core.errors import OpError
from tfedu.core.op import COMPLEX, FLOATING, told
from tfedu.core.tensor import OPS, Tensor, load_ops
from tfedu.program import effects  # noqa: F401   (declares an op, too)

load_ops()


def cases(op):
    "Inputs and settings for `op`: the table above, or random numbers for what works element by element or says its shapes."
    if op.name in CASES: return CASES[op.name]
    if op.elementwise or (len(op.inputs) == 1 and not op.lists):
        plain = NARROW.get(op.name, tuple(draw(2, 3, low=.5 + .1 * i, high=1.5 + .1 * i) for i in range(len(op.inputs))))
        if len(plain) != 2: return [(plain, {})]
        x, y = plain
        return [(pair, {}) for pair in (plain, (x, y[0]), (x[:, :1], y[:1]), (x, y[0, 0]))]
    raise AssertionError(f"{op.name} is differentiable, but tests/tables has no inputs for it")


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
def test_derivatives_agree_with_differences(name, case, record_property):
    f, moving = bound(OPS[name], *cases(OPS[name].op)[case])
    for x in moving: record_property("sweep", f"{name} {x.dtype} {case}")
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
        if recorded: return y, dense(tape.gradient(y, xs))
    return y, dense(tape.gradient(y, xs))


def dense(grads): return [g if g is None else convert_to_tensor(g) for g in grads]


@pytest.mark.parametrize("name, case", EACH)
def test_every_floating_dtype_keeps_its_type_and_shape(name, case, record_property):
    op = OPS[name].op
    f, moving = bound(OPS[name], *cases(op)[case])
    wanted = COMPLEX if any(x.dtype.kind == "c" for x in moving) else FLOATING
    _, exact = gradients(f, [constant(x) for x in moving], False)
    for dtype in sorted(op.T & wanted, key=lambda d: d.name):
        if op.name in ("cast", "saturate_cast", "thinned") and dtype.name != "float64" or op.name in KINKED and dtype.size == 2: continue
        record_property("sweep", f"{name} {dtype.name} {case}")
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
def test_elementwise_ops_take_every_shape_and_refuse_wrong_types(name, record_property):
    op = OPS[name].op
    for dtype in sorted(op.T, key=lambda d: d.name):
        for shape in ((), (0,), (2, 0, 3), (1,), (2, 3)):
            record_property("sweep", f"{name} {dtype.name} {shape}")
            y = OPS[name](*[ones(dtype, shape) for _ in op.inputs])
            assert y.shape.as_list() == list(shape) and y.dtype in ((op.result or dtype), dtype.real_dtype)
    for dtype in {"float32", "int32", "bool", "string", "complex64"} - {d.name for d in op.T}:
        x = ones(as_dtype(dtype), 1)
        with pytest.raises(OpError, match=told(op)) as caught: OPS[name](*[x] * len(op.inputs))
        assert dtype in str(caught.value)


@pytest.mark.parametrize("name", sorted(n for n, c in OPS.items() if hasattr(c, "op") and c.op.elementwise and len(c.op.inputs) == 2))
def test_two_inputs_of_different_types_or_shapes_are_refused(name):
    op = OPS[name].op
    first, second = (sorted(op.T, key=lambda d: d.name) * 2)[:2]
    if first is not second:
        with pytest.raises(OpError) as caught: OPS[name](ones(first, 2), ones(second, 2))
        assert told(op) in str(caught.value) and first.name in str(caught.value) and second.name in str(caught.value)
    with pytest.raises(OpError) as caught: OPS[name](ones(first, 2), ones(first, 3))
    assert told(op) in str(caught.value) and "(2,)" in str(caught.value) and "(3,)" in str(caught.value)


@pytest.mark.parametrize("name", sorted(n for n, c in OPS.items() if hasattr(c, "op") and c.op.shape))
def test_the_shape_rule_is_the_shape(name):
    op = OPS[name].op
    for first, second in (((), ()), ((2,), (2,)), ((4, 1), (3,))):
        shapes = op.shape.example_shapes(batches=[first, second])
        y = OPS[name](*[constant(np.ones(s, np.float32)) for s in shapes])
        assert [o.as_list() for o in op.shape.outputs(name, shapes)] == [y.shape.as_list()]


def test_a_gradient_is_missing_only_where_there_is_none():
    "An op, or an input of an op, that loses its rule fails here; a new op without one must be added to the list on purpose."
    ops = {name: call.op for name, call in OPS.items() if hasattr(call, "op")}
    assert {name for name, op in ops.items() if not op.rules} == NO_GRADIENT
    ruled = {name: {i for rule in op.rules for i in rule.inputs} for name, op in ops.items() if op.rules}
    still = {name: [x for i, x in enumerate(ops[name].inputs) if i not in moving] for name, moving in ruled.items()}
    assert {name: inputs for name, inputs in still.items() if inputs} == NOT_MOVING
    plain = {name for name, call in OPS.items() if not hasattr(call, "op")}
    assert plain == PLAIN


@pytest.mark.parametrize("types", TYPES)
def test_an_op_takes_the_types_that_are_written_down(types):
    import tfedu.core.op as groups
    wanted = frozenset().union(*(getattr(groups, word) if word.isupper() else {as_dtype(word)} for word in types.split() if word != "|"))
    assert {name: OPS[name].op.T for name in TYPES[types].split()} == dict.fromkeys(TYPES[types].split(), wanted)


def test_every_op_has_its_types_written_down():
    assert sorted(" ".join(TYPES.values()).split()) == sorted(name for name, call in OPS.items() if hasattr(call, "op"))
