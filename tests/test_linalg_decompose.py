"""Decompositions put together again, of every size and type; gradients where parts are equal; what has no gradient says so."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads

cases = st.tuples(st.lists(st.integers(0, 2), max_size=2).map(tuple), st.integers(0, 4), st.integers(0, 4),
                  st.sampled_from(["float32", "float64", "complex64", "complex128"]))


def turn(x): return np.conj(np.swapaxes(x, -1, -2))


def made(shape, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)).astype(dtype)


@given(cases)
def test_parts_make_the_whole(case):
    batch, m, n, dtype = case
    x, close, k = made((*batch, m, n), dtype), dict(atol=1e-4 if "64" in dtype and dtype[0] == "c" or "32" in dtype else 1e-10), min(m, n)
    for full in (False, True):
        s, u, v = tf.linalg.svd(x, full_matrices=full)
        assert s.dtype == tf.as_dtype(dtype).real_dtype and u.shape[-1] == (m if full else k) and v.shape[-1] == (n if full else k)
        np.testing.assert_allclose(u.numpy()[..., :k] * s.numpy()[..., None, :] @ turn(v.numpy()[..., :k]), x, **close)
        q, r = tf.linalg.qr(x, full_matrices=full)
        np.testing.assert_allclose(q.numpy() @ r.numpy(), x, **close)
        np.testing.assert_allclose(turn(q.numpy()) @ q.numpy(), np.broadcast_to(np.eye(q.shape[-1]), (*batch, *[q.shape[-1]] * 2)), **close)
        np.testing.assert_array_equal(r.numpy(), np.triu(r.numpy()))
    np.testing.assert_allclose(tf.linalg.svd(x, compute_uv=False), s, **close)
    square = x[..., :k, :k]
    e, v = tf.linalg.eigh(square + turn(square))
    np.testing.assert_allclose(v.numpy() * e.numpy()[..., None, :] @ turn(v.numpy()), square + turn(square), **close)
    np.testing.assert_allclose(tf.linalg.eigvalsh(square + turn(square)), e, **close)
    e, v = tf.linalg.eig(square)
    np.testing.assert_allclose(square @ v.numpy(), v.numpy() * e.numpy()[..., None, :], **close)
    assert e.dtype == v.dtype == tf.linalg.eigvals(square).dtype == (tf.complex128 if dtype in ("float64", "complex128") else tf.complex64)


def test_names_of_the_parts():
    assert tf.linalg.qr(np.eye(2))._fields == ("q", "r") and tf.linalg.lu(np.eye(2))._fields == ("lu", "p")
    assert tf.linalg.slogdet(np.eye(2))._fields == ("sign", "log_abs_determinant") and type(tf.linalg.eigh(np.eye(2))) is tuple
    assert tf.eig is tf.linalg.eig and tf.eigvals is tf.linalg.eigvals
    np.testing.assert_array_equal(tf.eigvals(np.diag([2., 3.])), [2, 3]), np.testing.assert_array_equal(tf.eig(np.eye(2))[0], [1, 1])


def spectral(f, values, vectors, other):
    return tf.matmul(vectors * tf.cast(f(values), vectors.dtype)[..., None, :], other, adjoint_b=True)


def through_svd(x):
    s, u, v = tf.linalg.svd(x)
    return spectral(tf.exp, s, u, v)


def through_eigh(x):
    e, v = tf.linalg.eigh(x)
    return spectral(tf.exp, e, v, v)


def through_eig(x):
    e, v = tf.linalg.eig(x)
    return tf.matmul(v * tf.exp(e)[..., None, :], tf.linalg.inv(v))


@pytest.mark.parametrize("f, shape", [(through_svd, (2, 3, 3)), (through_svd, (4, 2)), (through_svd, (2, 3)),
                                      (through_eigh, (2, 3, 3)),
                                      (through_eig, (2, 3, 3)), (tf.linalg.qr, (4, 2)), (tf.linalg.qr, (2, 4)),
                                      (tf.linalg.eigvals, (3, 3))])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_what_does_not_depend_on_phases_has_its_gradient(f, shape, dtype):
    check_grads(f, [made(shape, dtype)], order=2)


def test_equal_singular_values_and_eigenvalues_are_safe():
    for f in (through_svd, through_eigh):
        with tf.GradientTape() as tape:
            tape.watch(x := tf.constant(np.eye(3)))
            y = tf.reduce_sum(tf.linalg.diag_part(f(x)))
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), np.e * np.eye(3), atol=1e-12)
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant(np.zeros((3, 2))))
        y = tf.linalg.svd(x)
    assert np.isfinite(tape.gradient(y, x).numpy()).all()


def test_columns_that_are_not_determined_have_no_gradient():
    for f in (tf.linalg.svd, tf.linalg.qr):
        with tf.GradientTape() as tape:
            tape.watch(x := tf.constant(made((3, 2), "float64")))
            y = f(x, full_matrices=True)
        with pytest.raises(NotImplementedError, match="full_matrices.*not determined"): tape.gradient(y, x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 axes"): tf.linalg.svd(np.ones(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 axes"): tf.linalg.qr(np.ones(3))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_eigenvalues_of_unknown_numbers_are_refused(wrong):
    for f in (tf.linalg.eigh, tf.linalg.eigvalsh):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"): f([[wrong, 1.], [1., 1.]])
    np.testing.assert_allclose(tf.linalg.eigvalsh([[2., wrong], [0., 1.]]), [1, 2])   # the upper triangle is not read
