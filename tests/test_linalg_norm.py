"""Norms against NumPy, at zero and at the ends of the range; clipping of tensors, lists and slices."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads

X = np.random.default_rng(0).normal(size=(2, 3, 4))


@given(st.sampled_from(["euclidean", 1, 2, 3, .5, np.inf]), st.sampled_from([None, 0, -1, [1]]), st.booleans())
def test_norms_of_vectors(order, axis, keep):
    p = 2 if order == "euclidean" else order
    flat = X.reshape(-1) if axis is None else X
    want = np.linalg.norm(flat, p, axis=0 if axis is None else axis[0] if isinstance(axis, list) else axis, keepdims=keep)
    np.testing.assert_allclose(tf.norm(X, order, axis, keep), want.reshape((1, 1, 1)) if keep and axis is None else want)


@pytest.mark.parametrize("order", ["fro", "euclidean", 1, 2, np.inf])
@pytest.mark.parametrize("axis", [(0, 1), [2, 0], (-1, 1)])
def test_norms_of_matrices(order, axis):
    want = np.linalg.norm(X, "fro" if order == "euclidean" else order, axis=tuple(axis))
    np.testing.assert_allclose(tf.linalg.norm(X, order, axis), want)
    np.testing.assert_allclose(tf.norm(X, order, axis, keepdims=True).numpy().reshape(want.shape), want)
    check_grads(lambda x: tf.norm(x, order, axis), [X], order=2)


@pytest.mark.parametrize("order", ["euclidean", 1, 2, 3, .5, np.inf])
def test_slopes_at_zero_are_zero(order):
    x = tf.constant(np.array([[0., 0, 0], [0, 1, 2]]))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.norm(x, order, 1)
        first = tape.gradient(y, x)
    assert np.isfinite(first.numpy()).all() and (order == np.inf or not first.numpy()[0].any())
    second = outer.gradient(first, x)
    assert second is None or np.isfinite(second.numpy()).all()


def test_lengths_do_not_overflow_or_vanish():
    for size in (1e-40, 1e-30, 1e30, 3e37):
        np.testing.assert_allclose(tf.norm(tf.constant([3., 4.]) * size), np.float32(size) * 5, rtol=1e-4)
    assert np.isinf(tf.norm([np.inf, 1.])) and np.isnan(tf.norm([np.nan, 1.])) and tf.norm(tf.zeros([0])).numpy() == 0
    assert tf.math.reduce_euclidean_norm([3, 5]).numpy() == 5 and tf.norm(np.ones(60000, np.float16)).dtype == tf.float16
    np.testing.assert_allclose(tf.math.reduce_euclidean_norm([[3j, 4]], axis=1, keepdims=True), [[5]])


def test_zero_stays_zero_when_normalized():
    out, size = tf.linalg.normalize([[3., 4.], [0., 0.]], axis=1)
    np.testing.assert_allclose(out, [[.6, .8], [0, 0]]), np.testing.assert_allclose(size, [[5], [0]])
    assert tf.linalg.normalize(np.array([3 + 4j]), 1)[0].dtype == tf.complex128


@pytest.mark.parametrize("ord, axis, words", [("fro", None, "vector norm"), (3, (0, 1), "matrix norm"), (-1, 0, "vector norm"),
                                             (2, (1, 1), "unique"), (2, (0, 1, 2), "axis"), ("nuclear", 0, "vector norm"),
                                             (0, 0, "vector norm")])
def test_norms_that_do_not_exist(ord, axis, words):
    with pytest.raises(ValueError, match=words): tf.norm(X, ord, axis)


def test_integers_have_no_norm():
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"): tf.norm([3, 4])


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5), st.floats(.01, 1e3))
def test_clipping_shortens_and_keeps_direction(values, limit):
    x = np.array(values)
    y = tf.clip_by_norm(x, limit).numpy()
    assert np.linalg.norm(y) <= limit * (1 + 1e-6) and (np.linalg.norm(x) > limit or np.allclose(y, x))
    np.testing.assert_allclose(y * np.linalg.norm(x), x * np.linalg.norm(y), atol=1e-6 * np.linalg.norm(x) ** 2 + 1e-12)


def test_clipping_edges():
    np.testing.assert_array_equal(tf.clip_by_norm([0., 0.], 0.), [0, 0])
    np.testing.assert_array_equal(tf.clip_by_norm([3., 4.], -1.), [0, 0])
    rows = tf.IndexedSlices(tf.constant([[3., 4.]]), tf.constant([1]), tf.constant([3, 2]))
    out = tf.clip_by_norm(rows, 1.)
    assert isinstance(out, tf.IndexedSlices) and out.indices is rows.indices
    np.testing.assert_allclose(out.values, [[.6, .8]])
    np.testing.assert_allclose(tf.clip_by_norm([[3., 4.], [.3, .4]], [[1.], [9.]], axes=1), [[.6, .8], [.3, .4]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="stretch"): tf.clip_by_norm([3., 4.], [[1.], [1.]])
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant([0., 0.]))
        y = tf.clip_by_norm(x, 1.)
    np.testing.assert_array_equal(tape.gradient(y, x), [1, 1])


def test_lists_are_one_long_vector():
    rows = tf.IndexedSlices(tf.constant([[12., 0.]]), tf.constant([1]), tf.constant([3, 2]))
    parts = [tf.constant([3., 4.]), None, rows]
    np.testing.assert_allclose(tf.linalg.global_norm(parts), 13), np.testing.assert_allclose(tf.linalg.global_norm([None]), 0)
    clipped, norm = tf.clip_by_global_norm(parts, 6.5)
    np.testing.assert_allclose(clipped[0], [1.5, 2])
    np.testing.assert_allclose(clipped[2].values, [[6, 0]]), np.testing.assert_allclose(norm, 13)
    assert clipped[1] is None and isinstance(clipped[2], tf.IndexedSlices)
    same, _ = tf.clip_by_global_norm(parts, 100.)
    np.testing.assert_array_equal(same[0], parts[0])
    np.testing.assert_allclose(tf.clip_by_global_norm([[3., 4.]], 1., use_norm=10.)[0][0], [.3, .4])
    for bad in (np.inf, np.nan):
        assert np.isnan(tf.clip_by_global_norm([[bad], [1.]], 1.)[0][1].numpy()).all()
    for f in (tf.linalg.global_norm, lambda t: tf.clip_by_global_norm(t, 1.)):
        with pytest.raises(TypeError, match="sequence"): f(tf.constant([1.]))
