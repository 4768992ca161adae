"""Bands against the full matrices that they stand for; conjugate gradients against a direct solution."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads

batches, dtypes = st.sampled_from([(), (2,), (2, 1)]), st.sampled_from(["float64", "complex128"])


def made(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    return (rng.uniform(.5, 1.5, shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)).astype(dtype)


@given(batches, st.integers(1, 3), st.integers(0, 4), st.booleans(), st.booleans(), dtypes)
def test_a_band_is_solved_like_its_matrix(batch, count, more, lower, adjoint, dtype):
    n = count + more
    bands, rhs = made((*batch, count, n), dtype), made((*batch, n, 2), dtype, 1)
    full = tf.linalg.diag(bands, k=(1 - count, 0) if lower else (0, count - 1), align="LEFT_RIGHT", num_rows=n, num_cols=n) \
        if count > 1 else tf.linalg.diag(bands[..., 0, :])
    want = tf.linalg.triangular_solve(full, rhs, lower, adjoint)
    np.testing.assert_allclose(tf.linalg.banded_triangular_solve(bands, rhs, lower, adjoint), want, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_derivatives_of_banded_solutions(lower, adjoint):
    check_grads(lambda b, r: tf.linalg.banded_triangular_solve(b, r, lower, adjoint), [made((2, 3, 4)), made((4, 2))], order=2)


@given(batches, st.integers(1, 6), dtypes, st.sampled_from(["compact", "sequence", "matrix"]))
def test_three_diagonals_are_solved_like_their_matrix(batch, n, dtype, form):
    three, rhs = made((*batch, 3, n), dtype), made((*batch, n, 2), dtype, 1)
    places = lambda k: [np.eye(n, k=k)[i] * three[..., 1 - k, i, None] for i in range(n)]
    full = sum(np.stack(places(k), -2) for k in (-1, 0, 1))
    given = {"compact": three, "matrix": full, "sequence": [three[..., 0, :-1], three[..., 1, :], three[..., 2, 1:]]}[form]
    np.testing.assert_allclose(tf.linalg.tridiagonal_matmul(given, rhs, form), full @ rhs, rtol=1e-7)
    x = tf.linalg.tridiagonal_solve(given, rhs, form)
    np.testing.assert_allclose(full @ x.numpy(), rhs, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(tf.linalg.tridiagonal_solve(given, rhs[..., 0], form), x[..., 0], rtol=1e-6, atol=1e-8)
    turned = tf.linalg.tridiagonal_solve(given, np.conj(np.swapaxes(rhs, -1, -2)), form, transpose_rhs=True, conjugate_rhs=True)
    np.testing.assert_allclose(turned, x, rtol=1e-6, atol=1e-8)


def test_pivots_rescue_a_zero():
    three, rhs = np.array([[1., 1, 0], [0, 1, 1], [0, 1, 1]]), np.ones(3)
    full = [[0, 1., 0], [1, 1, 1], [0, 1, 1]]
    np.testing.assert_allclose(tf.linalg.tridiagonal_solve(three, rhs), np.linalg.solve(full, rhs), atol=1e-15)
    for diagonals, pivot in ((three, False), (np.zeros((3, 3)), True)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            tf.linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=pivot)
    with pytest.raises(tf.errors.InvalidArgumentError, match="invertible"): tf.linalg.banded_triangular_solve([[0., 1.]], [[1.], [1.]])


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="compact, sequence or matrix"): tf.linalg.tridiagonal_solve(np.ones((3, 2)), np.ones(2), "band")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(\.\.\., 3, n\)"): tf.linalg.tridiagonal_solve(np.ones((2, 2)), np.ones(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not fit"): tf.linalg.tridiagonal_matmul(np.ones((3, 2)), np.ones((3, 1)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="rhs"): tf.linalg.banded_triangular_solve(np.ones((2, 3)), np.ones((2, 1)))


def test_conjugate_gradients_in_batches():
    solve = tf.linalg.experimental.conjugate_gradient
    a = np.stack([np.eye(6) * 2 + made((6, 6), seed=i) @ made((6, 6), seed=i).T for i in range(3)])
    b = made((3, 6))
    state = solve(a, b, tol=1e-12, max_iter=50)
    np.testing.assert_allclose(state.x, np.linalg.solve(a, b[..., None])[..., 0])
    assert state._fields == ("i", "x", "r", "p", "gamma") and state.gamma.shape == (3,) and int(state.i) <= 8
    better = solve(a, b, preconditioner=np.linalg.inv(a), tol=1e-9)
    assert int(better.i) <= 2
    again = solve(a, b, x=state.x, tol=1e-9)
    assert int(again.i) == 0
    np.testing.assert_array_equal(solve(np.eye(2), np.zeros(2)).x, [0, 0])
    with pytest.raises(ValueError, match="max_iter"): solve(a, b, max_iter=0)
