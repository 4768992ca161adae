"""Every pass alone, all and none compute the same: random programs, odd numbers, all types; memory; CUDA code of fused chains."""
import tracemalloc
import warnings

import ml_dtypes
import numpy as np
import pytest

import tfedu as tf
from tfedu.core.config import OPTIONS
from tfedu.kernels import nvrtc
from tfedu.kernels.generated import elementwise_kernel
from tfedu.program.cards import part, run_on_card
from tfedu.program.execute import compiled
from tfedu.program.fuse import Groups, grouped, in_turn
from tfedu.program.passes import ORDER, improve
from tfedu.program.strips import POOL, Pool, runner
from tfedu.program.symbols import symbol
from tfedu.program.tracing import Writing, writing

F = np.dtype("float32")
UNARY = ["exp", "tanh", "abs", "negative", "square", "sigmoid", "nn.relu", "nn.gelu", "sin", "floor", "sign", "nn.softplus", "sqrt",
         "math.rsqrt", "nn.elu"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "divide", "math.squared_difference"]


def function(name):
    found = tf
    for word in name.split("."): found = getattr(found, word)
    return found


def traced(f, *specs):
    "The graph of `f` on inputs of the given shapes and types."
    with writing(Writing("program")) as graph:
        xs = [symbol(graph.input(shape, np.dtype(dtype))) for shape, dtype in specs]
        graph.outputs = [y.array for y in tf.nest.flatten(f(*xs))]
    return graph


def programs():
    "No pass, each alone, each left out, and all."
    distinct = list(dict.fromkeys(better for _, better in ORDER))
    yield "none", lambda g: g
    for one in distinct: yield one.__name__, one

    def without(left):
        def run(g):
            for _, better in ORDER: g = g if better is left else better(g)
            return g
        return run
    for one in distinct: yield f"without {one.__name__}", without(one)
    yield "all", improve


def same(a, b, rtol):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
    if a.dtype.kind in "biu": assert np.array_equal(a, b)
    else: np.testing.assert_allclose(np.asarray(a, np.float64), np.asarray(b, np.float64), rtol=rtol, atol=rtol)
    if rtol == 0 and a.dtype.kind == "f": assert np.array_equal(np.signbit(a), np.signbit(b))


def check(f, arrays, rtol=0., unknown=False):
    "All combinations of passes give what the plain graph gives."
    shapes = [tuple(None if unknown else n for n in a.shape) for a in arrays]
    graph = traced(f, *[(shape, a.dtype) for shape, a in zip(shapes, arrays, strict=True)])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = [np.array(y, copy=True) for y in compiled(graph).run(*arrays)]
        for name, better in programs():
            program = compiled(better(graph))
            copies = [a.copy() for a in arrays]
            for _ in range(2):   # the second run meets scratch and pool as the first left them
                for y, z in zip(program.run(*copies), wanted, strict=True):
                    try: same(y, z, rtol)
                    except AssertionError as error: raise AssertionError(f"{name}: {error}") from error
            for a, b in zip(arrays, copies, strict=True): assert a.tobytes() == b.tobytes(), f"{name} changed an input"


def random_program(rng, size):
    "A function of three arrays that broadcast: elementwise ops, several outputs, views, products and sums between."
    plan = [(rng.random(), *rng.integers(0, 1 << 30, 4)) for _ in range(size)]

    def f(*xs):
        values = list(xs)
        for kind, a, b, which, axis in plan:
            x, y = values[a % len(values)], values[b % len(values)]
            if kind < .35: values.append(function(UNARY[which % len(UNARY)])(x))
            elif kind < .8: values.append(function(BINARY[which % len(BINARY)])(x, y))
            elif kind < .86 and len(x.shape): values.append(tf.reduce_max(x, axis % len(x.shape), keepdims=True))
            elif kind < .9: values.append(tf.transpose(tf.transpose(x)))
            elif kind < .95: values.append(tf.where(x > y, x, y))
            else: values.append(tf.cast(x > 0.25, x.dtype) * x)
        return values[-1], values[len(values) // 2], values[-3]
    return f


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("large", [False, True])
def test_random_programs(seed, large):
    rng = np.random.default_rng(seed)
    rows, columns = (257, 150) if large else (3, 5)
    shapes = [(rows, columns), (rows, 1), (columns,)] if seed % 2 else [(rows, columns), (1, columns), ()]
    arrays = [rng.normal(size=shape).astype(F) for shape in shapes]
    arrays[0].flat[:5] = [np.nan, np.inf, -np.inf, 0., -0.]
    check(random_program(rng, 14), arrays, unknown=seed % 3 == 0 and seed % 2 == 1)


@pytest.mark.parametrize("dtype", ["float16", "float64", "bfloat16", "int32", "int64", "int8", "uint8"])
@pytest.mark.parametrize("large", [False, True])
def test_types(dtype, large):
    rng = np.random.default_rng(3)
    shape = (300, 200) if large else (4, 3)
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    arrays = [rng.integers(0, 9, s).astype(kind) for s in (shape, shape[1:])]

    def f(x, y):
        z = x * y + x
        return z - y, tf.maximum(z, x), tf.cast(z > x, tf.int32), z * z
    check(f, arrays)


def test_bool():
    rng = np.random.default_rng(3)
    arrays = [rng.random((300, 200)) > .5, rng.random(200) > .5]
    check(lambda x, y: (tf.logical_and(x, y), tf.logical_or(tf.logical_not(x), y), tf.where(x, 1., 2.) * 3.), arrays)


@pytest.mark.parametrize("shape", [(8, 128, 64), (40000,), (1, 70000), (70000, 1), (300, 200), (0, 5)])
def test_reductions_at_the_end(shape):
    x = np.random.default_rng(0).normal(size=shape).astype(F)

    def f(x):
        y = tf.exp(x) * 2.0
        return (tf.reduce_sum(y), tf.reduce_mean(y * x), tf.reduce_sum(y, 0), tf.reduce_mean(x * y, 0, keepdims=True),
                tf.reduce_sum(y, -1), tf.reduce_mean(y, -1, keepdims=True) * y)
    with np.errstate(all="ignore"): check(f, [x], rtol=2e-5)


def test_layer_norm_and_its_gradient_are_few_nodes():
    def f(x, gain, bias):
        with tf.GradientTape() as tape:
            tape.watch((x, gain, bias))
            c = x - tf.reduce_mean(x, -1, keepdims=True)
            y = c * tf.math.rsqrt(tf.reduce_mean(c * c, -1, keepdims=True) + 1e-5) * gain + bias
            loss = tf.reduce_sum(y * y * x)
        return loss, tape.gradient(loss, (x, gain, bias))
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(F) for shape in ((4, 128, 256), (256,), (256,))]
    check(f, arrays, rtol=2e-3)
    graph = improve(traced(f, *[(a.shape, F) for a in arrays]))
    assert [node.kind for node in graph.nodes].count("fused") == 1, graph


def test_no_cycle_between_groups():
    def f(a, w):
        b = tf.exp(a)
        c = tf.matmul(b, w)
        return b * 2.0 + c, tf.tanh(b) - c
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(256, 256)).astype(F) for _ in range(2)]
    check(f, arrays)
    nodes = traced(f, *[(a.shape, F) for a in arrays]).nodes
    order = in_turn(nodes, grouped(nodes))
    done = set()
    for members in order:
        inside = {id(v) for node in members for v in node.outputs}
        assert all(id(v) in done | inside for node in members for v in node.reads())
        done |= inside


@pytest.mark.parametrize("seed", range(20))
def test_groups_can_always_run(seed):
    rng = np.random.default_rng(seed)
    ways = [lambda a, b: a + b, lambda a, b: tf.matmul(a, b) * 1e-3, lambda a, b: tf.tanh(a), lambda a, b: a * tf.reduce_sum(b, 0),
            lambda a, b: b - tf.reduce_mean(a)]

    def f(x, w):
        values = [x, w]
        for _ in range(30):
            a, b = (values[int(rng.integers(len(values)))] for _ in range(2))
            values.append(ways[int(rng.integers(5))](a, b))
        return values[-5:]
    nodes = traced(f, ((256, 256), F), ((256, 256), F)).nodes
    groups, done = grouped(nodes), set()
    assert isinstance(groups, Groups)
    for members in in_turn(nodes, groups):
        inside = {id(v) for node in members for v in node.outputs}
        assert all(id(v) in done | inside for node in members for v in node.reads())
        done |= inside


def test_effects_stay_in_order():
    v, w = tf.Variable(np.ones((300, 300), F)), tf.Variable(np.ones((300, 300), F))

    def f(x):
        a = v * x + 1.0
        v.assign_add(a)
        b = v * x + a
        w.assign(b * 2.0)
        v.assign(v - b)
        return v + w, a
    x = tf.constant(np.full((300, 300), 2., F))
    wanted = [y.numpy() for y in f(x)], v.numpy(), w.numpy()
    v.assign(np.ones((300, 300), F)), w.assign(np.ones((300, 300), F))
    got = [y.numpy() for y in tf.function(f)(x)], v.numpy(), w.numpy()
    for a, b in zip(tf.nest.flatten(wanted), tf.nest.flatten(got), strict=True): assert np.array_equal(a, b)


def test_results_are_not_shared():
    f = tf.function(lambda x: (x * 2.0 + 1.0, tf.exp(x) - 1.0))
    x = tf.constant(np.ones((1000, 300), F))
    first = f(x)
    kept = [y.numpy().copy() for y in first]
    second = f(x * 2.0)
    for a, b, c in zip(first, kept, second, strict=True): assert np.array_equal(a.numpy(), b) and not np.array_equal(a.numpy(), c.numpy())


def test_gradients_of_functions():
    def f(x, y): return tf.reduce_mean(tf.tanh(x * y + x) * x, -1)
    rng = np.random.default_rng(0)
    x, y = tf.constant(rng.normal(size=(500, 300)).astype(F)), tf.constant(rng.normal(size=300).astype(F))
    found = []
    for g in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch((x, y))
            z = g(x, y)
        found.append([z, *tape.gradient(z, (x, y))])
    for a, b in zip(*found, strict=True): np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("off", [None, "remapping"])
def test_memory_of_a_long_chain(off):
    "At most three live arrays of 10 million numbers: the input, and two."
    def chain(x):
        for _ in range(100): x = tf.tanh(x) * 1.5
        return x
    before = dict(OPTIONS)
    if off: tf.config.optimizer.set_experimental_options({off: False})
    try:
        POOL.clear()
        n = 10_000_000 if off is None else 2_000_000
        tracemalloc.start()
        x = tf.constant(np.ones(n, F))
        f = tf.function(chain).get_concrete_function(x)
        tracemalloc.reset_peak()
        y = f(x)
        _, peak = tracemalloc.get_traced_memory()
        assert peak < 3.3 * 4 * n, peak / 4 / n
        assert y.shape == (n,)
    finally:
        tracemalloc.stop()
        OPTIONS.clear(), OPTIONS.update(before)


def test_pool():
    pool = Pool(1 << 22)
    a = pool.take((1 << 18,), F)
    b = pool.take((1 << 18,), F)
    assert a is not b
    at, view = id(a), a[3:]
    del a
    c = pool.take((1 << 18,), F)
    assert id(c) != at
    del view
    assert id(pool.take((1 << 18,), F)) == at
    for n in range(20): pool.take(((1 << 18) + n,), F)
    assert sum(a.nbytes for a in pool.arrays) <= (1 << 22) + 4 * (1 << 20)


def test_switches():
    def f(x): return tf.reduce_sum(tf.exp(x) * 2.0 + tf.exp(x))
    graph, before = traced(f, ((300, 300), F)), dict(OPTIONS)
    try:
        tf.config.optimizer.set_experimental_options({"remapping": False})
        assert all(node.kind != "fused" for node in improve(graph).nodes)
        tf.config.optimizer.set_experimental_options({"remapping": True})
        assert any(node.kind == "fused" for node in improve(graph).nodes)
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
        assert improve(graph) is graph
    finally: OPTIONS.clear(), OPTIONS.update(before)


def layer_norm(x, gain, bias):
    c = x - tf.reduce_mean(x, -1, keepdims=True)
    y = c * tf.math.rsqrt(tf.reduce_mean(c * c, -1, keepdims=True) + 1e-5) * gain + bias
    return tf.nn.gelu(y), tf.reduce_sum(y, [0, 1]), tf.reduce_mean(y)


def chains(f, *shapes): return [node for node in improve(traced(f, *[(s, F) for s in shapes])).nodes if node.kind == "fused"]


def test_fused_chains_run_on_the_simulated_card():
    node, = chains(layer_norm, (4, 128, 256), (256,), (256,))
    rng = np.random.default_rng(0)
    shapes = {(4, 128, 256): (2, 3, 256), (256,): (256,), (): ()}
    arrays = [v.node.what if v.node.kind == "constant" else rng.normal(size=shapes[v.shape]).astype(F) for v in node.inputs]
    for a, b in zip(run_on_card(np, node.what, *arrays), runner(node.what)(*arrays), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_nvidia_compiles_fused_chains():
    try: nvrtc.toolkit()
    except nvrtc.NotInstalled as missing: pytest.skip(str(missing))

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_mean(0.5 * x * (1 + tf.tanh(0.7978845608 * (x + 0.044715 * x * x * x))))
        return loss, tape.gradient(loss, x)
    node, = chains(step, (1000, 1000))
    program, inputs = part(node.what, tuple(out.step for out in node.what.outs if not out.late), set(range(node.what.inputs)))
    assert nvrtc.inspect(elementwise_kernel(program, 1), 90).usage.spills == 0


def test_an_output_is_scratch_until_it_is_made():
    "Several outputs, some read again, with where and casts between: every strip must give what NumPy gives."
    x = np.random.default_rng(0).normal(size=(600, 700)).astype("float32")
    def f(x):
        a = x * 2
        b = tf.where(a > 1, a * a, -a)
        c = tf.cast(tf.cast(b, "float64") * 3, "float32") + a
        return b + 1, tf.reduce_sum(c * b), c * a - b
    for found, wanted in zip(tf.function(f)(x), f(tf.constant(x)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)
