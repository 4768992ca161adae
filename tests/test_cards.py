"""A card as the default device, graphs and optimizers on it, what it cannot do done at home: the simulated one against the processor."""
import os
import subprocess
import sys

import numpy as np
import pytest

import tfedu as tf
from tfedu.core import trace
from tfedu.core.memory import DEVICES
from tfedu.core.tensor import OPS
from tfedu.core.trace import watching
from tfedu.kernels import promotion
from tfedu.kernels.gpu import Array, Card, Simulated, Ufunc, simulate

RNG = np.random.default_rng(0)
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 5e-3, "bfloat16": 4e-2}


@pytest.fixture
def card():
    with simulate(placed=True) as xp: yield xp
    assert DEVICES == {"CPU": np} and trace.UNUSUAL == []


def where(x): return x.device[-5:]


def test_default_placement(card):
    assert [where(tf.constant(v)) for v in (1., True, 1j, np.int64(1), 1, "text")] == ["GPU:0"] * 4 + ["CPU:0"] * 2
    assert where(tf.Variable([1., 2.])) == where(tf.zeros(3)) == where(tf.random.normal([2])) == where(tf.constant(1.) + 1) == "GPU:0"
    assert where(tf.shape(tf.zeros((2, 3)))) == where(tf.constant(1) + 2) == where(tf.range(3)) == "CPU:0"
    assert where(tf.gather(tf.zeros((3, 2)), [0, 1])) == where(tf.cast(tf.constant(1), tf.float32) * 2) == "GPU:0"
    with tf.device("/CPU:0"): x, y = tf.constant(1.), tf.constant(1.) * tf.constant(2.)
    assert where(x) == where(y) == "CPU:0" and where(x + y) == "GPU:0"
    with tf.device("/CPU:0"), tf.device(None): assert where(tf.constant(1.)) == "GPU:0"
    with tf.device("/GPU:0"): assert where(tf.constant(["a"])) == where(tf.constant(["a"]) == tf.constant(["b"])) == "CPU:0"


def test_only_if_asked():
    with simulate(): assert where(tf.constant(1.)) == "CPU:0"
    assert where(tf.constant(1.)) == "CPU:0" and trace.UNUSUAL == []


def test_hidden_cards_are_not_used(card):
    tf.config.set_visible_devices([], "GPU")
    assert where(tf.constant(1.)) == where(tf.constant(1.) * 2) == "CPU:0" and tf.config.list_logical_devices("GPU") == []
    assert trace.UNUSUAL == []   # nor does any operation look for them again


def test_a_second_card():
    with simulate(2, placed=True):
        with tf.device("/GPU:1"): x = tf.constant([1., 2.])
        assert where(x * 2) == "GPU:1" and where(tf.constant(1.)) == "GPU:0"


@pytest.mark.parametrize("asked, expected", [("default", "1 GPU:0"), ("1", "1 CPU:0"), ("0", "0 CPU:0"), ("", "0 CPU:0")])
def test_cards_are_looked_for(root, asked, expected):
    code = "import tfedu as tf; print(len(tf.config.list_physical_devices('GPU')), tf.constant(1.).device[-5:])"
    if asked == "default": code = code.replace("; print", "; x = tf.constant(1.); print")   # an operation looks, too
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60,
                          env={"TFEDU_SIMULATED_GPU": asked, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(root)})
    assert done.stdout.strip() == expected, done.stderr


def test_the_processor_loads_no_kernels(root):
    code = ("import sys, tfedu as tf; tf.constant(1.) + 1.; tf.config.list_physical_devices(); "
            "print([m for m in sys.modules if 'tfedu.kernels' in m])")
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_golden_values_with_a_card_as_default(root):
    "What TensorFlow computed, where every tensor is on a card unless it is int32 or text, and our kernels run; without TF32."
    code = ("import sys, pytest, tfedu as tf; tf.config.experimental.enable_tensor_float_32_execution(False); "
            "sys.exit(pytest.main(['-q', '-n', '0', '-p', 'no:cacheprovider', 'tests/test_golden.py', '-k', "
            "'(composite or nn or stateless) and not weighted_cross']))")   # whose halves cancel in another order
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=500,
                          env={**os.environ, "TFEDU_SIMULATED_GPU": "default"})
    assert done.returncode == 0, done.stdout[-3000:]


def sums(x, n):
    total = x * 0
    for i in tf.range(n):
        if tf.reduce_sum(total) < 3: total = total + x * tf.cast(i, tf.float32)
    return total


@tf.custom_gradient
def halved(x):
    return x * 2, lambda g: g * .5


V = np.float32([[.5, -1.], [2., .3]])
FUNCTIONS = {
    "dense": lambda x, v: tf.nn.softmax(x @ v) * 2, "loop": lambda x, v: sums(x, 4) @ v, "captured": lambda x, v: x * V + v,
    "cond": lambda x, v: tf.cond(tf.reduce_sum(x) > 0, lambda: x * v, lambda: x), "custom": lambda x, v: halved(x * v) * 3,
    "scan": lambda x, v: tf.scan(lambda a, b: a * b + v[0], x), "numpy inside": lambda x, v: tf.boolean_mask(x * v, [True, False]),
}


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_graphs(name, placed):
    "Value, gradients and tangent of a tf.function: eager on the processor, and as a graph on the card."
    def results(f):
        x, v = tf.Variable(np.float32([[1., 2.], [.3, -.5]])), tf.Variable(V)
        with tf.GradientTape() as tape: y = f(x, v)
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as moving: y2 = f(x, v)
        tangent = moving.jvp(y2) if name != "custom" else tf.zeros(())
        return [y, *tape.gradient(y, [x, v], unconnected_gradients="zero"), tangent]
    expected = [t.numpy() for t in results(FUNCTIONS[name])]
    with simulate(placed=placed):
        with tf.device(None if placed else "/GPU:0"): found = results(tf.function(FUNCTIONS[name]))
        assert where(found[0]) == "GPU:0" or name == "numpy inside"
        for a, b in zip(found, expected, strict=True): np.testing.assert_allclose(a.numpy(), b, rtol=1e-5, atol=1e-6)


def test_graphs_over_variables_and_tensors_of_a_card():
    "Without any scope, and with a step of training inside."
    with simulate():
        v, x = tf.Variable([1., 2.]), tf.constant([3., 4.]).gpu()
        with tf.device("/GPU:0"): w = tf.Variable([1., 2.])
        results = tf.function(lambda x: x * v)(x), tf.function(lambda: w * 2.)(), tf.function(lambda: x + 1.)()
        assert [where(y) for y in results] == ["GPU:0"] * 3
        optimizer = tf.keras.optimizers.SGD(.1, momentum=.5)
        @tf.function
        def step():
            with tf.GradientTape() as tape: loss = tf.reduce_sum(w * w)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
            return loss
        assert [float(step()) for _ in range(3)] == pytest.approx([5., 3.2, 1.458], rel=1e-5) and type(w.array) is Array


def test_second_derivative_of_a_loop_while_somebody_watches():
    "What a loop starts with is also what it captures: each share counted once."
    def f(x): return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), [tf.constant(0), x])[1]
    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            s = tf.reduce_sum(tape.gradient(y, x) ** 2)
        return outer.gradient(s, x)
    x = tf.constant([.7, .4])
    with watching(lambda *_: None): np.testing.assert_allclose(tf.function(second)(x).numpy(), 36 * np.float32([.7, .4]) ** 3, rtol=1e-5)


def test_tangents_cross_between_memories(card):
    with tf.device("/CPU:0"): x = tf.constant([1., 2.])
    with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as moving:
        y = x.gpu() * x.gpu()
        with tf.device("/CPU:0"): z = y * x
    assert moving.jvp(y).numpy().tolist() == [2, 4] and moving.jvp(z).numpy().tolist() == [3, 12]


def test_soft_placement(card):
    "An op without a way on cards is computed at home; in strict mode it fails."
    op = tf.tanh.op
    old = dict(op.kernels)
    op.on("GPU")(lambda xp, x: np.tanh(np.asarray(x)))
    try:
        x = tf.constant([.5])
        assert tf.tanh(x).numpy() == pytest.approx(np.tanh(.5)) and where(tf.tanh(x)) == "GPU:0"
        tf.config.set_soft_device_placement(False)
        with pytest.raises(TypeError, match="copied home"): tf.tanh(x)
    finally:
        tf.config.set_soft_device_placement(True)
        op.kernels.clear(), op.kernels.update(old)


def test_errors_are_those_of_the_processor(card):
    with pytest.raises(tf.errors.InvalidArgumentError, match="add"): tf.zeros(2) + tf.zeros(3)
    with pytest.raises(TypeError, match="axis"): tf.reduce_sum(tf.zeros(2), "first")
    with pytest.raises(ValueError, match="rate"): tf.nn.dropout(tf.ones(2), 2.)


SHAPES = [(5, 33), (3, 2, 7), (0, 4), (1, 1030)]
OPS_OF_ROWS = {"layer_norm": lambda x, a, b: OPS["layer_norm"](x, a, b, 1e-2), "softmax": lambda x, a, b: tf.nn.softmax(x + a) * b,
               "log_softmax": lambda x, a, b: tf.nn.log_softmax(x * a) + b,
               "loss": lambda x, a, b: tf.nn.sparse_softmax_cross_entropy_with_logits(np.zeros(x.shape[:-1], np.int64), x * a + b),
               "dropout": lambda x, a, b: tf.nn.dropout(x + a, .4, seed=3) * b,
               "dropout of rows": lambda x, a, b: tf.nn.dropout(x + a, .4, [1] * (x.shape.rank - 1) + [None], seed=3) * b}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", OPS_OF_ROWS)
def test_rows_forward_and_backward(name, dtype, shape, turned):
    "Sizes that no block divides, nothing at all, and arrays that are not contiguous."
    given = [RNG.normal(size=s) for s in (shape[::-1] if turned else shape, shape[-1:], shape[-1:])]
    found = []
    for device in ("CPU:0", "GPU:0"):
        tf.random.set_seed(7)
        with simulate(), tf.device(device):
            xs = [tf.Variable(tf.cast(v, dtype)) for v in given]
            with tf.GradientTape() as tape:
                y = OPS_OF_ROWS[name](tf.transpose(xs[0]) if turned else xs[0], *xs[1:])
                total = tf.reduce_sum(tf.cast(y, tf.float32) * (tf.cast(y, tf.float32) + 1))
            found.append([v.numpy().astype("f8") for v in (y, *tape.gradient(total, xs))])
            assert where(y) == device
    tf.random.set_seed(None)
    for a, b in zip(*found, strict=True):
        near = TOLERANCE[dtype] * max(1, np.abs(a).max(initial=0))
        np.testing.assert_allclose(b, a, rtol=TOLERANCE[dtype] if dtype != "float64" else 1e-5, atol=near if dtype != "float64" else 1e-5)


def test_dropout_is_the_same_everywhere():
    "Bit for bit, call after call, also its gradient; and the kernel ran."
    for dtype in TOLERANCE:
        found = []
        for device in ("CPU:0", "GPU:0"):
            tf.random.set_seed(5)
            with simulate(), tf.device(device):
                x = tf.cast(tf.constant(RNG.normal(size=1029) * 0 + 1.25), dtype)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    ys = [tf.nn.dropout(x, .3), tf.nn.dropout(x, .3, seed=1), tf.nn.dropout(x, .3, seed=1)]
                    total = tf.add_n(ys)
                found.append([v.numpy() for v in (*ys, tape.gradient(total, x))])
        for a, b in zip(*found, strict=True): assert np.array_equal(a, b)
        assert not np.array_equal(found[0][1], found[0][2])
    tf.random.set_seed(None)


def test_the_kernels_run(monkeypatch):
    used = []
    expected = {"layer_norm_rows": 4, "layer_norm_gradient": 4, "dropout": 8, "softmax_gradient": 8, "cross_entropy_gradient": 4,
                "sgd_step": 1, "adam_once": 2}
    for name in expected:
        def counted(*args, name=name, usual=getattr(promotion, name), **kw): return used.append(name) or usual(*args, **kw)
        monkeypatch.setattr(promotion, name, counted)
    with simulate(placed=True):
        v, one, zero = tf.Variable(RNG.normal(size=(3, 5)).astype("f4")), tf.ones(5), tf.zeros(5)
        for optimizer in (tf.keras.optimizers.SGD(.1), tf.keras.optimizers.Adam()):
            for _ in range(2):
                with tf.GradientTape() as tape:
                    y = tf.nn.dropout(OPS["layer_norm"](v, one, zero), .5)
                    z = tf.nn.softmax(y) + tf.nn.log_softmax(y)
                    loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 2], z))
                optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    assert {name: used.count(name) for name in set(used)} == expected


OPTIMIZERS = {
    "SGD": lambda: tf.keras.optimizers.SGD(.1), "momentum": lambda: tf.keras.optimizers.SGD(.1, .9),
    "Nesterov": lambda: tf.keras.optimizers.SGD(.1, .9, True), "clipped": lambda: tf.keras.optimizers.SGD(.1, .9, clipnorm=.5),
    "Adam": lambda: tf.keras.optimizers.Adam(.05), "AMSGrad": lambda: tf.keras.optimizers.Adam(.05, amsgrad=True),
    "decay": lambda: tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.ExponentialDecay(.1, 2, .5), global_clipnorm=2.),
}


@pytest.mark.parametrize("scope", ["/GPU:0", None])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name, dtype, scope):
    "Eleven variables of odd sizes, one of them empty, for some steps; rows of one of them, too."
    sizes, rng = [(n,) for n in (1, 33, 257, 3, 64, 1000, 5, 7, 2)] + [(0,), (9, 5)], np.random.default_rng(1)
    starts, steps = [rng.normal(size=s) for s in sizes], [[rng.normal(size=s) for s in sizes] for _ in range(4)]
    def trained():
        optimizer, variables = OPTIMIZERS[name](), [tf.Variable(tf.cast(v, dtype)) for v in starts]
        for gradients in steps:
            optimizer.apply_gradients([(tf.cast(g, dtype), v) for g, v in zip(gradients, variables, strict=True)])
        rows = tf.IndexedSlices(tf.cast(steps[0][-1][:3], dtype), tf.constant([4, 1, 4]), tf.constant([9, 5]))
        optimizer.apply_gradients([(rows, variables[-1])])
        return [v.numpy().astype("f8") for v in variables], variables
    expected, _ = trained()
    with simulate(placed=scope is None), tf.device(scope):
        found, variables = trained()
        assert {where(v) for v in variables} == {"GPU:0"}
    for a, b in zip(found, expected, strict=True): np.testing.assert_allclose(a, b, rtol=TOLERANCE[dtype] * 5, atol=TOLERANCE[dtype] * 5)


def test_gradients_from_another_memory(card):
    with tf.device("/CPU:0"): g, v = tf.constant([1., 2.]), tf.Variable([1., 1.])
    w = tf.Variable([1., 1.])
    optimizer = tf.keras.optimizers.SGD(.5)
    for _ in range(2): optimizer.apply_gradients([(g, w), (tf.constant([1., 2.]), v)])
    assert w.numpy().tolist() == v.numpy().tolist() == [0, -1] and where(w) == "GPU:0" and where(v) == "CPU:0"


def test_variables_scatter_and_save(card, tmp_path):
    v = tf.Variable([[1., 2.], [3., 4.]])
    at = tf.constant([1, 1])
    v.scatter_add(tf.IndexedSlices(tf.ones((2, 2)), at))
    v.scatter_mul(tf.IndexedSlices(tf.fill((2, 2), 2.), at))
    v.scatter_max(tf.IndexedSlices(tf.fill((2, 2), 21.), at))
    assert v.numpy().tolist() == [[1, 2], [21, 24]] and type(v.array) is Array
    module = tf.Module()
    module.v, module.f = v, tf.function(lambda x: x @ v + tf.constant([1., 2.]), input_signature=[tf.TensorSpec([None, 2])])
    tf.train.Checkpoint(v=v).write(str(tmp_path / "weights"))
    tf.saved_model.save(module, str(tmp_path / "saved"))
    v.assign([[0., 0.], [0., 0.]])
    tf.train.Checkpoint(v=v).read(str(tmp_path / "weights"))
    assert v.numpy().tolist() == [[1, 2], [21, 24]] and type(v.array) is Array
    assert tf.saved_model.load(str(tmp_path / "saved")).f(tf.ones((1, 2))).numpy().tolist() == [[23, 28]]


class Poor(Simulated):
    "A module as poor in methods of ufuncs as CuPy's."
    ufunc = Ufunc
    def __getattr__(self, name):
        value = super().__getattr__(name)
        if isinstance(value, Ufunc):
            for method in ("reduce", "accumulate", "reduceat", "at"): setattr(value, method, None)   # not callable
        return value


def test_methods_that_cupy_lacks():
    xp, x = Card(Poor()), Array(np.float32([[1., 5.], [4., 2.]]))
    assert xp.maximum.reduce(x, 0, None, None, True, 3).get().tolist() == [[4, 5]]
    assert xp.logaddexp.reduce(x, 0).get() == pytest.approx(np.logaddexp.reduce(x.get(), 0))
    assert xp.logaddexp.accumulate(x, 1).get() == pytest.approx(np.logaddexp.accumulate(x.get(), 1))
    assert xp.multiply.reduceat(x, [0, 1], 0).get().tolist() == x.get().tolist()
    xp.multiply.at(x, Array(np.array([0, 0])), Array(np.float32([3., 2.])))
    assert x.get().tolist() == [[9, 20], [4, 2]]   # twice times 3, twice times 2
