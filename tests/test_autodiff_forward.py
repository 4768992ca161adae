"""tf.autodiff.ForwardAccumulator: what it says, when it refuses, and how it nests with tapes and with itself."""
import gc
from itertools import product

import numpy as np
import pytest

import tfedu as tf

Accumulator = tf.autodiff.ForwardAccumulator
X, T = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.0])


def test_inside_and_after_the_body():
    with Accumulator(X, T) as accumulator:
        y = X * X
        inside = accumulator.jvp(y)
    assert inside.numpy().tolist() == accumulator.jvp(y).numpy().tolist() == [2, 0]
    assert accumulator.jvp(X).numpy().tolist() == [1, 0]
    found = accumulator.jvp([y, {"a": X, "b": (tf.constant(1.0),)}])
    assert found[1]["a"].numpy().tolist() == [1, 0] and found[1]["b"] == (None,)


def test_unconnected():
    accumulator, other = Accumulator(X, T), tf.constant([[3.0]])
    assert accumulator.jvp(other) is None and accumulator.jvp(other, unconnected_gradients=tf.UnconnectedGradients.NONE) is None
    zero = accumulator.jvp(other, "zero")
    assert zero.numpy().tolist() == [[0]] and zero.dtype == tf.float32
    with pytest.raises(ValueError, match="perhaps"): accumulator.jvp(other, "perhaps")
    with accumulator: integers = tf.cast(X, tf.int32) + 1
    assert accumulator.jvp(integers) is None


def test_variables_and_structures():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with Accumulator({"v": v, "w": [w]}, {"v": T, "w": [10.0]}) as accumulator: y = v * w
    assert accumulator.jvp(y).numpy().tolist() == [13, 20] and accumulator.jvp(v).numpy().tolist() == [1, 0]


def test_entered_again():
    accumulator = Accumulator(X, T)
    with accumulator:
        y = X * X
        with pytest.raises(ValueError, match="recording"), accumulator: pass
    with accumulator: z = y * X
    w = z * X
    assert accumulator.jvp(z).numpy().tolist() == [3, 0] and accumulator.jvp(w) is None


def test_an_exception_ends_the_recording():
    accumulator = Accumulator(X, T)
    with pytest.raises(KeyError), accumulator: raise KeyError
    y = X * X
    assert accumulator.jvp(y) is None
    with accumulator: assert accumulator.jvp(X * X) is not None


@pytest.mark.parametrize("primals, tangents, error", [
    ([X, X], [T, T], ValueError), (X, tf.constant([1.0]), ValueError), (X, tf.constant([1.0, 2.0], tf.float64), ValueError),
    ([X], T, ValueError), (X, [1.0, 2.0], ValueError), (1.0, 1.0, (TypeError, AttributeError)), (X, None, (TypeError, ValueError)),
])
def test_what_is_refused(primals, tangents, error):
    with pytest.raises(error): Accumulator(primals, tangents)


def push(f, t):
    def pushed(x):
        with Accumulator(x, t) as accumulator: y = f(x)
        return accumulator.jvp(y)
    return pushed


def pull(f, t):
    "The gradient of `f`, paired with `t`: the same number as forward mode gives, by reverse mode."
    def pulled(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tf.reduce_sum(tape.gradient(y, x) * t)
    return pulled


def f(x): return tf.reduce_sum(tf.exp(x) * x[::-1] + x ** 4)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_any_nesting_gives_the_same_derivatives(order):
    rng = np.random.default_rng(order)
    x, directions = tf.constant(rng.normal(size=3)), [tf.constant(rng.normal(size=3)) for _ in range(order)]
    found = []
    for modes in product([push, pull], repeat=order):
        g = f
        for mode, t in zip(modes, directions, strict=True): g = mode(g, t)
        found.append(float(g(x)))
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
    inner = f
    for mode, t in zip([pull] * (order - 1), directions, strict=False): inner = mode(inner, t)
    h, t = 1e-6, directions[-1]
    np.testing.assert_allclose(found[0], float((inner(x + h * t) - inner(x - h * t)) / (2 * h)), rtol=1e-5)


def test_two_accumulators_side_by_side():
    with Accumulator(X, T) as first, Accumulator(X, tf.constant([0.0, 1.0])) as second: y = X[0] * X[1]
    assert (float(first.jvp(y)), float(second.jvp(y))) == (2.0, 1.0)


def test_through_persistent_tapes_control_flow_and_several_outputs():
    with Accumulator(X, T) as accumulator:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(X)
            y = X
            while tf.reduce_sum(y) < 20.0: y = y * X
            a, b = tf.split(y, 2)
        g = tape.gradient([a, b], X)
    assert accumulator.jvp([a, b])[0].numpy().tolist() == [5] and accumulator.jvp(b).numpy().tolist() == [0]   # y = x^5
    np.testing.assert_array_equal(accumulator.jvp(g).numpy(), [20, 0])


def test_tangents_live_as_long_as_their_values():
    with Accumulator(X, T) as accumulator:
        y = X
        for _ in range(100): y = tf.sin(y)
        gc.collect()
        assert len(accumulator.moving.of) == 2
    assert accumulator.jvp(y) is not None


def test_complex_motion_is_multiplied_by_the_slope():
    z, t = tf.constant([1 + 2j]), tf.constant([1j])
    with Accumulator(z, t) as accumulator: y, s = z * z, tf.abs(z)
    np.testing.assert_allclose(accumulator.jvp(y).numpy(), [2j * (1 + 2j)])
    np.testing.assert_allclose(accumulator.jvp(s).numpy(), [2 / 5 ** .5], rtol=1e-6)


def test_hessian_times_vector_of_a_network():
    rng = np.random.default_rng(0)
    w = [tf.Variable(rng.normal(size=s) / 2) for s in ((3, 4), (4,), (4, 2))]
    t = [tf.constant(rng.normal(size=v.shape)) for v in w]
    x, labels = tf.constant(rng.normal(size=(5, 3))), tf.constant([0, 1, 1, 0, 1])
    def loss(a, b, c):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.tanh(x @ a + b) @ c))
    def gradients(*ws):
        with tf.GradientTape() as tape:
            tape.watch(ws)
            y = loss(*ws)
        return tape.gradient(y, ws)
    with Accumulator(w, t) as accumulator: g = gradients(*w)
    h = 1e-6
    ahead, back = (gradients(*[tf.constant(v.numpy() + s * h * d.numpy()) for v, d in zip(w, t, strict=True)]) for s in (1, -1))
    for moved, a, b in zip(accumulator.jvp(g), ahead, back, strict=True):
        np.testing.assert_allclose(moved.numpy(), (a - b).numpy() / (2 * h), atol=1e-8)


LOOKING = {   # functions that look at numbers, so that a graph calls them as a whole
    "mask": lambda x: tf.boolean_mask(x, x > 1.5) ** 2, "unique": lambda x: tf.unique(x)[0] ** 2,
    "top_k": lambda x: tf.math.top_k(x, tf.cast(tf.reduce_max(x), tf.int32) - 1).values ** 2,
    "py_function": lambda x: tf.py_function(lambda v: v ** 2, [x], tf.float32),
    "unknown_rank": lambda x: tf.reduce_sum(tf.py_function(lambda v: v, [x], tf.float32) * 2.0 * x + [1.0, 2.0, 3.0], 0),
    "segments": lambda x: tf.math.segment_sum(x * x, tf.cast(x * 0, tf.int32)),
    "several": lambda x: tf.concat(tf.dynamic_partition(x ** 2, tf.cast(x > 1.5, tf.int32), 2), 0),
    "twice": lambda x: tf.boolean_mask(tf.boolean_mask(x, x > 1.5) * x[0], [True, False]) * x[1],
    "branch": lambda x: tf.cond(x[0] > 0, lambda: tf.boolean_mask(x, x > 1.5) ** 2, lambda: x),
    "loop": lambda x: tf.while_loop(lambda i, s: i < 2, lambda i, s: (
        i + 1, s + tf.reduce_sum(tf.boolean_mask(x, x > 1.5) ** 2)), (0, 0.0))[1],
    "nested": lambda x: tf.function(lambda y: tf.boolean_mask(y, y > 1.5) ** 2)(x)}


@pytest.mark.parametrize("name", LOOKING)
def test_accumulators_go_through_functions_that_look_at_numbers(name):
    f, x, t = LOOKING[name], tf.constant([3.0, 1.0, 2.0]), tf.constant([1.0, 10.0, 100.0])

    def forward(f, x):
        with tf.autodiff.ForwardAccumulator(x, t) as moving: y = f(x)
        return moving.jvp(y)

    def over_reverse(f, x):
        with tf.autodiff.ForwardAccumulator(x, t) as moving:
            with tf.GradientTape() as tape:
                tape.watch(x)
                s = tf.reduce_sum(f(x) ** 2)
            g = tf.convert_to_tensor(tape.gradient(s, x))
        return moving.jvp(g)

    def under_reverse(f, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            s = tf.reduce_sum(forward(f, x))
        return tf.convert_to_tensor(tape.gradient(s, x))

    for way in (forward, over_reverse, under_reverse):
        wanted = way(f, x)
        for found in (way(tf.function(f), x), tf.function(lambda x, way=way: way(f, x))(x)):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_an_accumulator_follows_a_custom_gradient_through_a_function():
    @tf.custom_gradient
    def ruled(x): return x ** 2, lambda g: g * 3.0 * x
    x, t, results = tf.constant([3.0, 1.0]), tf.constant([1.0, 10.0]), []
    for f in (ruled, tf.function(lambda x: ruled(x))):
        with tf.autodiff.ForwardAccumulator(x, t) as moving:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
                s = tf.reduce_sum(y ** 2)
            g = tape.gradient(s, x)
        results.append([moving.jvp(y).numpy().tolist(), moving.jvp(g).numpy().tolist()])
    assert results == [[[9.0, 30.0], [216.0, 240.0]]] * 2
