"""Gradients of lookups: tf.IndexedSlices where TensorFlow gives them, the same numbers everywhere."""
import numpy as np
import pytest

import tfedu as tf


def table(): return tf.Variable(np.arange(12.0).reshape(4, 3))


def slope(f, w=None):
    w = table() if w is None else w
    with tf.GradientTape() as tape:
        if not isinstance(w, tf.Variable): tape.watch(w)
        y = f(w)
    return tape.gradient(y, w)


def total(*tensors): return sum(tf.reduce_sum(t) for t in tensors)


ANY = [(lambda w: tf.gather(w, [1, 1]), [1, 1]), (lambda w: tf.gather(w, 2), [2]), (lambda w: tf.gather(w, [[2, 1], [0, 0]]), [2, 1, 0, 0]),
       (lambda w: tf.gather(w, [2, 1], axis=0), [2, 1]), (lambda w: tf.gather_nd(w, [[2], [1]]), [2, 1]),
       (lambda w: total(tf.gather(w, tf.constant([1, 1], tf.int64)), tf.gather(w, [2])), [1, 1, 2]),
       (lambda w: tf.gather(w, tf.zeros([0], tf.int32)), [])]
METHODS = [(lambda w: w.sparse_read([3, 0, 3]), [3, 0, 3]), (lambda w: w.gather_nd([[2], [1]]), [2, 1])]


@pytest.mark.parametrize("read, rows, constant", [(*case, False) for case in ANY + METHODS] + [(*case, True) for case in ANY])
def test_lookups_in_what_is_watched_stay_rows(read, rows, constant):
    w = tf.constant(table()) if constant else table()
    g = slope(read, w)
    assert isinstance(g, tf.IndexedSlices) and g.indices.numpy().tolist() == rows
    assert g.values.shape == [len(rows), 3] and g.values.dtype == tf.float64 and g.dense_shape.numpy().tolist() == [4, 3]
    expected = np.zeros((4, 3))
    np.add.at(expected, rows, 1.0)
    np.testing.assert_array_equal(tf.convert_to_tensor(g).numpy(), expected)


@pytest.mark.parametrize("read", [
    lambda w: tf.gather(w, [2, 1], axis=1), lambda w: tf.gather(w, [2, 1], axis=-2), lambda w: tf.gather_nd(w, [[2, 1]]),
    lambda w: tf.gather(w + w, [1]), lambda w: w[1], lambda w: total(tf.gather(w, [1]), w),
    lambda w: tf.gather(w, [[0], [1], [0], [2]], axis=1, batch_dims=1),
])
def test_everything_else_is_dense(read): assert isinstance(slope(read), tf.Tensor)


def test_indices_keep_their_dtype():
    assert slope(lambda w: tf.gather(w, tf.constant([1], tf.int64))).indices.dtype == tf.int64
    g = slope(lambda w: tf.gather(w, [1]))
    assert g.indices.dtype == tf.int32 and g.dense_shape.dtype == tf.int32


def test_sparse_and_dense_add_up_in_either_order():
    for f in (lambda w: total(tf.gather(w, [1, 1]), w * 2.0), lambda w: total(w * 2.0, tf.gather(w, [1, 1]))):
        np.testing.assert_array_equal(slope(f).numpy(), [[2] * 3, [4] * 3, [2] * 3, [2] * 3])
    w = table()
    with tf.GradientTape() as tape: y = [tf.gather(w, [0]), w.value()]
    np.testing.assert_array_equal(tape.gradient(y, w).numpy(), [[2] * 3, [1] * 3, [1] * 3, [1] * 3])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_types(dtype):
    w = tf.Variable(tf.cast(tf.ones([4, 2]), dtype))
    with tf.GradientTape() as tape: y = tf.gather(w, [3, 3]) * tf.gather(w, [1, 2])
    g = tape.gradient(y, w)
    assert g.values.dtype == w.dtype and g.dtype == w.dtype and g.indices.numpy().tolist() == [3, 3, 1, 2]


def test_second_derivatives_go_through_rows():
    w = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner: y = tf.reduce_sum(tf.gather(w, [0, 2]) ** 3) + tf.reduce_sum(tf.gather(w, [0]) ** 2)
        g = inner.gradient(y, w)
        z = tf.reduce_sum(tf.convert_to_tensor(g))
    assert isinstance(g, tf.IndexedSlices) and g.indices.numpy().tolist() == [0, 2, 0]
    np.testing.assert_array_equal(tf.convert_to_tensor(outer.gradient(z, w)).numpy(), [[8], [0], [18]])


def test_forward_mode_and_jacobian():
    w, t = table(), tf.constant(np.arange(12.0)[::-1].reshape(4, 3))
    with tf.autodiff.ForwardAccumulator(w, t) as accumulator:
        y = tf.gather(w, [2, 2])
        with tf.GradientTape() as tape: z = tf.reduce_sum(tf.gather(w, [1]) ** 3)
        g = tape.gradient(z, w)
        dense = tf.convert_to_tensor(g)
    np.testing.assert_array_equal(accumulator.jvp(y).numpy(), t.numpy()[[2, 2]])
    np.testing.assert_array_equal(accumulator.jvp(dense).numpy()[1], (6 * w.numpy() * t.numpy())[1])
    np.testing.assert_array_equal(accumulator.jvp(g).values.numpy(), (6 * w.numpy() * t.numpy())[[1]])
    with tf.GradientTape() as tape: y = tf.gather(w, [2])
    assert tape.jacobian(y, w).shape == [1, 3, 4, 3]


def test_optimizers_change_only_the_rows():
    w = tf.Variable(np.ones((4, 2), np.float32))
    optimizer = tf.keras.optimizers.SGD(0.5, momentum=0.9)
    for rows in ([1, 1], [2]):
        with tf.GradientTape() as tape: y = tf.reduce_sum(tf.gather(w, rows))
        optimizer.apply_gradients([(tape.gradient(y, w), w)])
    np.testing.assert_allclose(w.numpy()[:, 0], [1, 0, .5, 1])    # row 1 has speed, but is not touched in the second step
    adam, v = tf.keras.optimizers.Adam(0.1), tf.Variable(np.ones((3, 1), np.float32))
    for rows in ([0], [1]):
        with tf.GradientTape() as tape: y = tf.reduce_sum(tf.gather(v, rows))
        adam.apply_gradients([(tape.gradient(y, v), v)])
    assert v.numpy()[0, 0] < .9 - .01 and v.numpy()[2, 0] == 1     # Adam moves all rows that have a mean


def test_a_large_table_costs_what_was_read():
    w = tf.Variable(np.zeros((1_000_000, 8), np.float32))
    with tf.GradientTape() as tape: y = tf.reduce_sum(tf.gather(w, [3, 999_999]))
    g = tape.gradient(y, w)
    assert g.values.shape == [2, 8]


def test_unconnected_and_stopped():
    w = table()
    with tf.GradientTape(persistent=True) as tape: y = tf.stop_gradient(tf.gather(w, [1])) * 2.0
    assert tape.gradient(y, w) is None
    assert isinstance(tape.gradient(y, w, unconnected_gradients="zero"), tf.Tensor)
