"""Fourier transforms against NumPy, and what must hold for every signal: Parseval, shifts, adjoints, any length."""
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads

PAIRS = [(tf.signal.fft, tf.signal.ifft, 1), (tf.signal.fft2d, tf.signal.ifft2d, 2), (tf.signal.fft3d, tf.signal.ifft3d, 3)]
HALVES = [(tf.signal.rfft, tf.signal.irfft, 1), (tf.signal.rfft2d, tf.signal.irfft2d, 2), (tf.signal.rfft3d, tf.signal.irfft3d, 3)]
SIZES = st.lists(st.integers(1, 6), min_size=3, max_size=4).map(tuple)


def noise(*shape, seed=0): return np.random.default_rng(seed + sum(shape)).normal(size=shape)
def waves(*shape): return noise(*shape) + 1j * noise(*shape, seed=9)


def adjoint(f, x, y):
    "What the tape gives for the cotangent `y`, and the result."
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        out = f(x)
    return tape.gradient(out, x, tf.constant(y)).numpy(), out.numpy()


@given(SIZES)
def test_transforms_inverses_and_parseval(shape):
    x = waves(*shape)
    for forward, back, rank in PAIRS:
        axes, count = tuple(range(-rank, 0)), np.prod(shape[-rank:])
        y = forward(x)
        np.testing.assert_allclose(y, np.fft.fftn(x, axes=axes), atol=1e-10)
        np.testing.assert_allclose(back(y), x, atol=1e-12)
        np.testing.assert_allclose(np.sum(np.abs(y.numpy()) ** 2), count * np.sum(np.abs(x) ** 2))


@given(SIZES)
def test_the_gradient_is_the_adjoint(shape):
    x, y = waves(*shape), waves(*shape)[..., ::-1]
    for f in (f for *pair, _ in PAIRS for f in pair):
        g, out = adjoint(f, x, y)
        np.testing.assert_allclose(np.vdot(g, x), np.vdot(y, out))


@given(SIZES, st.lists(st.integers(1, 8), min_size=3, max_size=3))
def test_real_transforms_of_any_length_and_their_adjoints(shape, other):
    x, z = noise(*shape), waves(*shape)
    for (forward, back, rank), source in product(HALVES, (shape, other)):
        sizes, axes = tuple(source[-rank:]), tuple(range(-rank, 0))
        want = np.fft.rfftn(x, sizes, axes) * (1 + .5j)
        g, y = adjoint(partial(forward, fft_length=sizes), x, want)
        np.testing.assert_allclose(y, np.fft.rfftn(x, sizes, axes), atol=1e-10)
        np.testing.assert_allclose(np.sum(g * x), np.vdot(want, y).real, atol=1e-10)
        want = np.fft.irfftn(z, sizes, axes) + 1
        g, y = adjoint(partial(back, fft_length=sizes), z, want)
        np.testing.assert_allclose(y, np.fft.irfftn(z, sizes, axes), atol=1e-10)
        np.testing.assert_allclose(np.vdot(g, z).real, np.sum(want * y), atol=1e-10)


@given(st.integers(1, 9), st.integers(-9, 9))
def test_a_shift_turns_the_spectrum(n, by):
    x = waves(n)
    turned = tf.signal.fft(x).numpy() * np.exp(-2j * np.pi * by * np.arange(n) / n)
    np.testing.assert_allclose(tf.signal.fft(np.roll(x, by)), turned, atol=1e-10)


@pytest.mark.parametrize("fft_length", [None, [3], [4], [9]])
def test_second_derivatives(fft_length):
    check_grads(lambda x: tf.signal.rfft(x, fft_length), [noise(2, 5)], order=2)
    check_grads(lambda x: tf.math.abs(tf.signal.irfft(x, fft_length)) ** 2, [waves(2, 3)], order=2)
    check_grads(lambda x: tf.math.abs(tf.signal.rfft(x, fft_length)) ** 2, [noise(5)], order=2)


def test_nothing_flows_to_what_was_cut():
    g, _ = adjoint(lambda x: tf.signal.rfft(x, [4]), noise(6), np.ones(3, complex))
    assert (g[4:] == 0).all() and (g[:4] != 0).any()
    g, _ = adjoint(lambda x: tf.signal.irfft(x, [4]), waves(5), np.ones(4))
    assert (g[3:] == 0).all()


def test_dtypes_as_in_tensorflow():
    for real, whole in (("float32", "complex64"), ("float64", "complex128")):
        assert tf.signal.rfft(tf.zeros(4, real)).dtype.name == whole and tf.signal.irfft(tf.zeros(3, whole)).dtype.name == real
        assert tf.signal.fft2d(tf.zeros((2, 3), whole)).dtype.name == whole
    assert tf.signal.rfft([1, 2, 3]).dtype.name == "complex64" and tf.signal.rfft(np.ones(3)).dtype.name == "complex64"


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_empty(shape):
    assert tf.signal.fft(tf.zeros(shape, tf.complex64)).shape.as_list() == list(shape)
    assert tf.signal.rfft(tf.zeros(shape)).shape.as_list() == [*shape[:-1], shape[-1] // 2 + 1 if shape[-1] else 0]
    assert tf.signal.irfft(tf.zeros(shape, tf.complex64)).shape.as_list() == [*shape[:-1], max(0, 2 * (shape[-1] - 1))]
    assert tf.signal.rfft(tf.zeros((3, 0)), [4]).numpy().tolist() == [[0] * 3] * 3
    check_grads(tf.signal.rfft, [np.zeros(shape)], order=2)


def test_one_place():
    np.testing.assert_array_equal(tf.signal.rfft([3.0]), [3])
    np.testing.assert_array_equal(tf.signal.irfft(tf.constant([3 + 1j]), [1]), [3])
    assert tf.signal.irfft(tf.constant([3 + 1j])).shape.as_list() == [0]


@pytest.mark.parametrize("call, kind, words", [
    (lambda: tf.signal.fft(tf.zeros(3)), tf.errors.InvalidArgumentError, ["fft", "input", "float32", "complex64"]),
    (lambda: tf.signal.fft3d(tf.zeros((2, 3), tf.complex64)), tf.errors.InvalidArgumentError, ["fft3d", "3 axes", "(2, 3)"]),
    (lambda: tf.signal.rfft(tf.zeros(3, tf.float16)), ValueError, ["rfft", "input_tensor", "float16", "float32 or float64"]),
    (lambda: tf.signal.irfft2d(tf.zeros((3, 3))), ValueError, ["irfft2d", "float32", "complex64 or complex128"]),
    (lambda: tf.signal.rfft2d(tf.zeros(3)), ValueError, ["rfft2d", "2 axes", "(3,)"]),
    (lambda: tf.signal.rfft(tf.zeros(3), [1, 2]), tf.errors.InvalidArgumentError, ["rfft", "fft_length", "1 integers", "[1, 2]"]),
    (lambda: tf.signal.irfft(tf.zeros(3, tf.complex64), [-4]), tf.errors.InvalidArgumentError, ["irfft", "fft_length", "[-4]"]),
    (lambda: tf.signal.rfft(tf.zeros(3), 4), tf.errors.InvalidArgumentError, ["rfft", "fft_length", "list", "4"]),
    (lambda: tf.signal.fftshift(tf.zeros(3), 1), tf.errors.InvalidArgumentError, ["fftshift", "axes [1]", "(3,)"]),
])
def test_errors_name_what_is_wrong(call, kind, words):
    with pytest.raises(kind) as caught: call()
    assert all(word in str(caught.value) for word in words), caught.value


@given(SIZES, st.sampled_from([None, 0, -1, [0, 2], [-1, 1]]))
def test_shifts(shape, axes):
    x = noise(*shape)
    np.testing.assert_array_equal(tf.signal.fftshift(x, axes), np.fft.fftshift(x, axes))
    np.testing.assert_array_equal(tf.signal.ifftshift(x, axes), np.fft.ifftshift(x, axes))
    np.testing.assert_array_equal(tf.signal.ifftshift(tf.signal.fftshift(x, axes), axes), x)
    check_grads(lambda x: tf.signal.fftshift(x, axes), [x[:2, :2, :2]], order=1)
