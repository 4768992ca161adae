"""Solving, factors and determinants: properties, SciPy as an oracle, empty and singular matrices."""
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads

shapes = st.tuples(st.lists(st.integers(0, 3), max_size=2).map(tuple), st.integers(0, 5),
                   st.sampled_from(["float32", "float64", "complex64", "complex128"]))
near = {"float32": 2e-3, "complex64": 2e-3, "float64": 1e-9, "complex128": 1e-9}


def made(batch, n, dtype, k=None, seed=0):
    rng = np.random.default_rng(seed)
    shape = (*batch, n, n if k is None else k)
    x = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    return (x + (3 * np.eye(n) if k is None else 0)).astype(dtype)


@given(shapes)
def test_what_is_solved_multiplies_back(case):
    batch, n, dtype = case
    a, b, close = made(batch, n, dtype), made(batch, n, dtype, 2, 1), dict(rtol=near[dtype], atol=near[dtype] * 10)
    turn = lambda x: np.conj(np.swapaxes(x, -1, -2))
    x = tf.linalg.solve(a, b)
    assert x.dtype.name == dtype
    np.testing.assert_allclose(a @ x.numpy(), b, **close)
    np.testing.assert_allclose(turn(a) @ tf.linalg.solve(a, b, adjoint=True).numpy(), b, **close)
    np.testing.assert_allclose(a @ tf.linalg.inv(a).numpy(), np.broadcast_to(np.eye(n), a.shape), **close)
    for lower, part in ((True, np.tril), (False, np.triu)):
        t = part(a) + np.eye(n, dtype=dtype) * 3
        np.testing.assert_allclose(t @ tf.linalg.triangular_solve(t, b, lower).numpy(), b, **close)
        np.testing.assert_allclose(turn(t) @ tf.linalg.triangular_solve(t, b, lower, adjoint=True).numpy(), b, **close)
    bowl = a @ turn(a) + np.eye(n, dtype=dtype)
    root = tf.linalg.cholesky(bowl)
    np.testing.assert_array_equal(root.numpy(), np.tril(root.numpy()))
    np.testing.assert_allclose(root.numpy() @ turn(root.numpy()), bowl, **close)
    np.testing.assert_allclose(bowl @ tf.linalg.cholesky_solve(root, b).numpy(), b, rtol=near[dtype] * 10, atol=near[dtype] * 100)
    lu, p = tf.linalg.lu(a)
    np.testing.assert_allclose(tf.linalg.lu_reconstruct(lu, p, validate_args=True), a, **close)
    np.testing.assert_allclose(a @ tf.linalg.lu_solve(lu, p, b).numpy(), b, **close)
    np.testing.assert_allclose(tf.linalg.lu_matrix_inverse(lu, p), tf.linalg.inv(a), **close)
    np.testing.assert_allclose(tf.linalg.det(a), np.linalg.det(a), **close)
    sign, size = tf.linalg.slogdet(a)
    np.testing.assert_allclose((sign * tf.exp(size)).numpy(), np.linalg.det(a), **close)
    np.testing.assert_allclose(tf.linalg.logdet(bowl), np.linalg.slogdet(bowl)[1], **close)


@pytest.mark.parametrize("n", [1, 16, 17, 70, 130])
def test_elimination_by_halves_is_that_of_scipy(n):
    a = made((), n, "float64", seed=n) - 3 * np.eye(n)
    lu, p = tf.linalg.lu(a, output_idx_type=tf.int64)
    wanted, swaps = scipy.linalg.lu_factor(a)
    np.testing.assert_allclose(lu.numpy(), wanted, atol=1e-9)
    order = np.arange(n)
    for i, j in enumerate(swaps): order[[i, j]] = order[[j, i]]
    np.testing.assert_array_equal(p.numpy(), order)
    assert p.dtype == tf.int64
    t, b = np.tril(a) + 5 * np.eye(n), np.ones((n, 2))
    np.testing.assert_allclose(tf.linalg.triangular_solve(t, b).numpy(), scipy.linalg.solve_triangular(t, b, lower=True), atol=1e-10)


def test_matrices_and_right_sides_broadcast():
    a, b = made((2, 1), 3, "float64"), made((4,), 3, "float64", 2)
    x = tf.linalg.triangular_solve(a, b)
    assert x.shape == (2, 4, 3, 2)
    check_grads(lambda a, b: tf.linalg.triangular_solve(a, b), [a, b])
    check_grads(lambda a, b: tf.linalg.lu_solve(*tf.linalg.lu(a), b), [a, b])


def test_the_gradient_of_cholesky_is_shared_by_both_triangles():
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant([[4., 1.], [1., 3.]]))
        y = tf.linalg.cholesky(x)[1, 0]
    slope = tape.gradient(y, x).numpy()
    np.testing.assert_allclose(slope, slope.T)
    np.testing.assert_allclose(slope, [[-1 / 16, .25], [.25, 0]], atol=1e-7)
    np.testing.assert_array_equal(tf.linalg.cholesky([[4., np.nan], [1., 3.]]), tf.linalg.cholesky([[4., 1.], [1., 3.]]))
    check_grads(lambda x: tf.linalg.logdet(tf.matmul(x, x, transpose_b=True)), [made((2,), 3, "float64")])
    check_grads(lambda x: tf.linalg.cholesky(tf.matmul(x, x, adjoint_b=True)), [made((2,), 3, "complex128")])


def test_singular_matrices():
    flat = np.ones((2, 2))
    for call in (tf.linalg.inv, tf.linalg.lu, lambda x: tf.linalg.solve(x, x),
                 lambda x: tf.linalg.triangular_solve(x * [[1, 1], [1, 0]], x)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input is not invertible"): call(flat)
    assert tf.linalg.det(flat).numpy() == 0
    assert [v.numpy() for v in tf.linalg.slogdet(flat)] == [0, -np.inf]
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant(np.zeros((2, 3, 3)) + np.diag([1., 1., 0.])))
        y = tf.linalg.det(x)
    np.testing.assert_allclose(tape.gradient(y, x), np.zeros((2, 3, 3)) + np.diag([0, 0, 1.]), atol=1e-15)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not successful"): tf.linalg.cholesky([[1., 2.], [2., 1.]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not successful"): tf.linalg.logdet([[-1.]])


@pytest.mark.parametrize("f", ["inv", "det", "slogdet", "cholesky", "lu", "logdet", "eigh", "eigvalsh", "eig", "eigvals", "expm", "sqrtm"])
def test_matrices_must_be_square(f):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"square.*\(2, 3\)"): getattr(tf.linalg, f)(np.ones((2, 3)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="float16|int32"): getattr(tf.linalg, f)(np.ones((2, 2), np.float16))


def test_shapes_that_do_not_fit():
    for f in (tf.linalg.solve, tf.linalg.triangular_solve, tf.linalg.cholesky_solve):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3, 3\).*\(2, 1\)"): f(np.eye(3), np.ones((2, 1)))
    lu, p = tf.linalg.lu(np.eye(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="perm"): tf.linalg.lu_solve(lu, [0, 0, 1], np.eye(3), validate_args=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="perm"): tf.linalg.lu_reconstruct(lu, [0, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="rhs"): tf.linalg.lu_solve(lu, p, np.ones((2, 1)))
