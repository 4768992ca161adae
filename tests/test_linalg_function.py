"""Functions of matrices against SciPy, also of matrices with too few eigenvectors; pseudo-inverses and least squares against NumPy."""
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads

JORDAN = np.array([[2., 1, 0], [0, 2, 1], [0, 0, 2]])


def made(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)).astype(dtype)


@given(st.integers(0, 6), st.sampled_from(["float32", "float64", "complex64", "complex128"]), st.floats(.01, 20), st.integers(0, 9))
def test_exponentials(n, dtype, size, seed):
    a = made((2, n, n), dtype, seed) * np.array([1, size], np.float32)[:, None, None] / max(n, 1)
    want = scipy.linalg.expm(a.astype("complex128")) if n else a
    got = tf.linalg.expm(a)
    assert got.dtype.name == dtype
    near = 3e-4 if dtype in ("float32", "complex64") else 1e-11
    for g, w in zip(got.numpy(), want): np.testing.assert_allclose(g, w, atol=near * abs(w).max(initial=1))


@given(st.integers(1, 5), st.sampled_from(["float64", "complex128"]), st.integers(0, 9))
def test_roots_and_logarithms_undo(n, dtype, seed):
    a = made((2, n, n), dtype, seed) + 3 * n * np.eye(n)
    root = tf.linalg.sqrtm(a).numpy()
    np.testing.assert_allclose(root @ root, a, atol=1e-9)
    assert (np.linalg.eigvals(root).real > 0).all()
    log = tf.linalg.logm(a.astype("complex128"))
    np.testing.assert_allclose(tf.linalg.expm(log), a, atol=1e-9 * n)
    np.testing.assert_allclose(log[0], scipy.linalg.logm(a[0]), atol=1e-9)


def test_special_matrices():
    np.testing.assert_allclose(tf.linalg.sqrtm(JORDAN).numpy(), scipy.linalg.sqrtm(JORDAN), atol=1e-12)
    np.testing.assert_allclose(tf.linalg.logm(JORDAN + 0j).numpy(), scipy.linalg.logm(JORDAN), atol=1e-12)
    np.testing.assert_allclose(tf.linalg.expm(JORDAN).numpy(), scipy.linalg.expm(JORDAN))
    np.testing.assert_array_equal(tf.linalg.sqrtm(np.zeros((2, 2))), np.zeros((2, 2)))
    np.testing.assert_allclose(tf.matrix_square_root(np.diag([-4 + 0j, 9])), np.diag([2j, 3]))
    np.testing.assert_allclose(tf.linalg.logm(np.diag([-1 + 0j, 2])), np.diag([np.pi * 1j, np.log(2)]), atol=1e-12)
    np.testing.assert_array_equal(tf.linalg.expm(np.zeros((2, 0, 0))), np.zeros((2, 0, 0)))
    for f, x in ((tf.linalg.sqrtm, np.diag([-1., 4.])), (tf.linalg.sqrtm, [[0., 1.], [0., 0.]]), (tf.linalg.logm, np.diag([0j, 1]))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative|eigenvectors|without inverse"): f(x)


@pytest.mark.parametrize("f, x", [(tf.linalg.expm, JORDAN), (tf.linalg.expm, made((2, 3, 3), "complex128")), (tf.linalg.sqrtm, JORDAN),
                                  (tf.linalg.sqrtm, np.eye(2)), (tf.linalg.logm, JORDAN + 0j), (tf.linalg.logm, np.eye(2) + 0j)])
def test_derivatives_where_eigenvalues_are_equal(f, x): check_grads(f, [x], order=2)


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from(["float64", "complex128"]), st.integers(1, 5))
def test_pseudo_inverses_of_any_rank(m, n, dtype, rank):
    rank = min(rank, m, n)
    a = made((2, m, rank), dtype) @ made((2, rank, n), dtype, 1)
    p = tf.linalg.pinv(a).numpy()
    np.testing.assert_allclose(p, np.linalg.pinv(a), atol=1e-6)
    np.testing.assert_array_equal(tf.linalg.matrix_rank(a), [rank, rank])
    b = made((2, m, 2), dtype, 2)
    np.testing.assert_allclose(tf.linalg.lstsq(a, b, fast=False), p @ b, atol=1e-6)
    if rank == min(m, n): np.testing.assert_allclose(tf.linalg.lstsq(a, b, l2_regularizer=0.), p @ b, atol=1e-2, rtol=1e-3)


def test_least_squares_and_rank_have_their_edges():
    a, b = made((5, 3)), made((5, 1), seed=1)
    want = np.linalg.solve(a.T @ a + .3 * np.eye(3), a.T @ b)
    np.testing.assert_allclose(tf.linalg.lstsq(a, b, l2_regularizer=.3), want)
    check_grads(lambda a, b: tf.linalg.lstsq(a, b, .3), [a, b], order=2)
    check_grads(lambda a, b: tf.linalg.lstsq(a, b, fast=False), [a.T, b[:3]], order=2)
    check_grads(tf.linalg.pinv, [np.eye(3)], order=2)
    np.testing.assert_array_equal(tf.linalg.matrix_rank(np.diag([1., 1e-3, 0]), tol=1e-2), 1)
    np.testing.assert_allclose(tf.linalg.pinv(np.diag([1., 1e-3]), rcond=.01), np.diag([1., 0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows"): tf.linalg.lstsq(a, b[:3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not successful"): tf.linalg.lstsq(np.ones((3, 2)), np.ones((3, 1)))
    for f in (tf.linalg.pinv, tf.linalg.matrix_rank):
        with pytest.raises(tf.errors.InvalidArgumentError, match="2 axes"): f(np.ones(3))
