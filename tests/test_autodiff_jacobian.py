"""tape.jacobian, tape.batch_jacobian, Hessians, tf.test.compute_gradient: against differences and TensorFlow 2.21's answers."""
import numpy as np
import pytest

import tfedu as tf

X = tf.constant([1.0, 2.0])
M = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def jacobian(f, x, persistent=False, **kw):
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x, **kw)


def batch(f, x, persistent=False, **kw):
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = f(x)
    return tape.batch_jacobian(y, x, **kw)


def differences(f, x, h=1e-6):
    "(*output, *x.shape), by nudging each number of `x`."
    columns = []
    for k in range(x.size):
        e = np.zeros(x.size)
        e[k] = h
        e = e.reshape(x.shape)
        columns.append((f(tf.constant(x + e)).numpy() - f(tf.constant(x - e)).numpy()) / (2 * h))
    return np.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


@pytest.mark.parametrize("f", [
    tf.square, lambda x: tf.matmul(x, x, transpose_b=True), tf.nn.softmax, lambda x: tf.cumsum(x, 1), tf.reduce_sum,
    lambda x: tf.reduce_max(x, 1), lambda x: tf.reshape(tf.transpose(x) * 2.0, [-1]), lambda x: x[0] / x[1],
    lambda x: tf.gather(x, [1, 0, 1]), lambda x: tf.concat([x, tf.sin(x)], 0),
])
@pytest.mark.parametrize("persistent", [False, True])
def test_jacobians_agree_with_differences(f, persistent):
    x = np.array([[.5, -1.2, 2.0], [1.5, .3, -.7]])
    found = jacobian(f, tf.constant(x), persistent, experimental_use_pfor=not persistent, parallel_iterations=3)
    np.testing.assert_allclose(found.numpy(), differences(f, x), atol=1e-8)


def test_structures_of_sources():
    d = {"a": X, "b": [X + 1.0, tf.Variable(3.0)]}
    found = jacobian(lambda d: d["a"] * d["b"][0], d)
    np.testing.assert_array_equal(found["a"].numpy(), [[2, 0], [0, 3]])
    np.testing.assert_array_equal(found["b"][0].numpy(), [[1, 0], [0, 2]])
    assert found["b"][1] is None and isinstance(found["b"], list)
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape: y = v * X
    assert tape.jacobian(y, v).numpy().tolist() == [1, 2]


def test_unconnected_empty_and_integer_targets():
    assert jacobian(lambda x: tf.constant([1.0, 2.0]), X) is None
    assert jacobian(lambda x: tf.constant([1.0, 2.0]), X, unconnected_gradients="zero").numpy().tolist() == [[0, 0], [0, 0]]
    assert jacobian(lambda x: tf.cast(x, tf.int32), X) is None
    assert jacobian(lambda x: x[:0], X).shape == [0, 2]
    assert jacobian(lambda x: tf.gather(x, [0, 0, 1]), M).shape == [3, 2, 2, 2]


def test_a_tape_that_is_not_persistent_gives_one_jacobian():
    for ask in ("jacobian", "batch_jacobian"):
        with tf.GradientTape() as tape:
            tape.watch(M)
            y = M * M
        getattr(tape, ask)(y, M)
        with pytest.raises(RuntimeError): tape.gradient(y, M)
        with tf.GradientTape() as tape:
            tape.watch(M)
            y = M * M
        with pytest.raises(RuntimeError, match="persistent"): getattr(tape, ask)(y, M, experimental_use_pfor=False)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(M)
        y = M * M
    assert np.array_equal(tape.jacobian(y, M), tape.jacobian(y, M)) and tape.persistent and tape.gradient(y, M) is not None


def test_targets_must_be_one_tensor():
    with pytest.raises(TypeError, match="one tensor"): jacobian(lambda x: [x * x], X)
    with pytest.raises(TypeError, match="one tensor"): jacobian(lambda x: None, X)


def test_batch_jacobians():
    assert batch(lambda m: m * m, M).numpy().tolist() == [[[2, 0], [0, 4]], [[6, 0], [0, 8]]]
    w = tf.constant(np.random.default_rng(0).normal(size=(2, 5)), tf.float32)
    whole, blocks = jacobian(lambda m: tf.tanh(m @ w), M), batch(lambda m: tf.tanh(m @ w), M)
    assert blocks.shape == [2, 5, 2]
    for b in range(2): np.testing.assert_allclose(blocks[b].numpy(), whole[b, :, b].numpy(), rtol=1e-6)
    deep = batch(lambda m: tf.reshape(tf.concat([m, m * m], 1), [2, 2, 2]), M)
    assert deep.shape == [2, 2, 2, 2] and deep[1, 1].numpy().tolist() == [[6, 0], [0, 8]]
    for kw in ({}, {"unconnected_gradients": "zero"}):
        assert batch(lambda m: tf.ones([2, 3]), M, **kw).numpy().tolist() == [[[0, 0]] * 3] * 2


@pytest.mark.parametrize("f, x", [(lambda m: m * m, X), (lambda m: tf.reduce_sum(m, 1), M), (lambda m: tf.concat([m, m], 0), M)])
def test_batches_that_do_not_match(f, x):
    with pytest.raises(ValueError, match="shape"): batch(f, x)


def test_jacobians_inside_other_tapes_and_accumulators():
    with tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = X * X * X
        j = tape.jacobian(y, X)
        s = tf.reduce_sum(j)
    assert outer.gradient(s, X).numpy().tolist() == [6, 12]
    with tf.autodiff.ForwardAccumulator(X, tf.constant([1.0, 0.0])) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = X * X * X
        j = tape.jacobian(y, X)
    assert accumulator.jvp(j).numpy().tolist() == [[6, 0], [0, 0]]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = X * X * X
        inside = tape.jacobian(y, X)
        z = tf.reduce_sum(inside)
    assert tape.gradient(z, X).numpy().tolist() == [6, 12]


def hessian(f, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


def test_hessians_by_nested_tapes():
    x = np.array([.3, -.5, 1.2])
    def f(x): return tf.reduce_sum(tf.exp(x) * tf.sin(x[::-1]))
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)
    found = hessian(f, tf.constant(x)).numpy()
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    np.testing.assert_allclose(found, differences(gradient, x), atol=1e-8)


def test_bfloat16_and_complex_jacobians():
    assert jacobian(tf.square, tf.cast(X, tf.bfloat16)).dtype == tf.bfloat16
    z = tf.constant([1 + 2j, 3 - 1j])
    np.testing.assert_allclose(jacobian(tf.square, z).numpy(), np.diag(2 * np.conj(z.numpy())))


# ---------------------------------------------------------------- tf.test.compute_gradient

def test_compute_gradient():
    (by_x, by_y), (near_x, near_y) = tf.test.compute_gradient(lambda x, y: x * y, [X, X])
    np.testing.assert_allclose([by_x, by_y], [np.diag([1, 2])] * 2)
    np.testing.assert_allclose([near_x, near_y], [np.diag([1, 2])] * 2, atol=1e-3)
    (exact,), (near,) = tf.test.compute_gradient(lambda x: x ** 3, [tf.constant([2.0, 3.0], tf.float64)], delta=.1)
    np.testing.assert_allclose(exact, [[12, 0], [0, 27]])
    np.testing.assert_allclose(near, [[12.01, 0], [0, 27.01]])
    (exact,), (near,) = tf.test.compute_gradient(tf.abs, [tf.constant([3 + 4j])])
    np.testing.assert_allclose([exact, near], [[[.6, .8]]] * 2, atol=1e-3)
    (exact,), (near,) = tf.test.compute_gradient(lambda a: tf.complex(a, 2 * a), [tf.constant([3.0])])
    np.testing.assert_allclose([exact, near], [[[1], [2]]] * 2, atol=1e-3)
    (exact,), (near,) = tf.test.compute_gradient(lambda z: z * z, [tf.constant([1 + 2j])])
    np.testing.assert_allclose([exact, near], [[[2, -4], [4, 2]]] * 2, atol=1e-3)
    (exact,), (near,) = tf.test.compute_gradient(lambda x: tf.gather(x, [1, 1]), [M])
    np.testing.assert_allclose([exact, near], [np.eye(4)[[2, 3, 2, 3]]] * 2, atol=1e-3)
    (exact,), (near,) = tf.test.compute_gradient(lambda x: tf.constant([1.0]), [X])
    assert exact.tolist() == near.tolist() == [[0, 0]]
    (exact,), (near,) = tf.test.compute_gradient(lambda x: x[:0], [X])
    assert exact.shape == near.shape == (0, 2)
    (exact,), (near,) = tf.test.compute_gradient(tf.square, [np.array([1.0, 2.0])])
    assert exact.dtype == near.dtype == np.float64
    (exact,), (near,) = tf.test.compute_gradient(tf.square, [tf.constant([1.0, 2.0], tf.bfloat16)], delta=.25)
    np.testing.assert_allclose(exact.astype(float), near.astype(float))
    with pytest.raises(ValueError, match="list or tuple"): tf.test.compute_gradient(tf.square, X)
    with pytest.raises(TypeError, match="argument 0 is int32"): tf.test.compute_gradient(tf.square, [tf.constant([1])])


def test_names():
    assert tf.autodiff.GradientTape is tf.GradientTape
    methods = tf.AggregationMethod
    assert (methods.ADD_N, methods.DEFAULT, methods.EXPERIMENTAL_TREE, methods.EXPERIMENTAL_ACCUMULATE_N) == (0, 0, 1, 2)
