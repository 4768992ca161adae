"""Cosine transforms against SciPy; the modified one against its definition; what comes back after there and back."""
import numpy as np
import pytest
import scipy.fft
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads


def noise(*shape): return np.random.default_rng(sum(shape)).normal(size=shape)


@given(st.integers(1, 4), st.integers(1, 9), st.sampled_from([None, "ortho"]), st.one_of(st.none(), st.integers(1, 11)))
def test_all_types_and_lengths(kind, size, norm, n):
    if kind == 1 and (norm or size < 2 or n == 1): return
    x = noise(2, size)
    np.testing.assert_allclose(tf.signal.dct(x, kind, n, norm=norm), scipy.fft.dct(x, kind, n, norm=norm), atol=1e-12)
    want = scipy.fft.idct(x, kind, n, norm=norm) * (1 if norm else 2 * ((n or size) - (kind == 1)))
    np.testing.assert_allclose(tf.signal.idct(x, kind, n, norm=norm), want, atol=1e-11)
    check_grads(lambda x: tf.signal.dct(x, kind, n, norm=norm), [x], order=2)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_orthogonal_ones_keep_energy_and_have_adjoint_inverses(kind):
    x, y = noise(7), noise(8)[:7]
    there = tf.signal.dct(x, kind, norm="ortho").numpy()
    np.testing.assert_allclose(np.sum(there ** 2), np.sum(x ** 2))
    np.testing.assert_allclose(np.dot(there, y), np.dot(x, tf.signal.idct(y, kind, norm="ortho")))


def test_float32_and_empty_batches():
    x = noise(3, 300)
    for kind in (1, 2, 3, 4):
        y = tf.signal.dct(tf.constant(x, tf.float32), kind)
        assert y.dtype == tf.float32
        np.testing.assert_allclose(y, scipy.fft.dct(x, kind), atol=2e-4)
        assert tf.signal.dct(tf.zeros((0, 4)), kind).shape.as_list() == [0, 4]


@pytest.mark.parametrize("call, kind, words", [
    (lambda: tf.signal.dct([1.0, 2.0], 5), ValueError, ["dct", "type", "5"]),
    (lambda: tf.signal.idct([1.0, 2.0], 1, norm="ortho"), ValueError, ["idct", "norm", "ortho"]),
    (lambda: tf.signal.dct([1.0, 2.0], norm="x"), ValueError, ["dct", "norm", "'x'"]),
    (lambda: tf.signal.dct([1.0, 2.0], n=0), ValueError, ["dct", "n must", "0"]),
    (lambda: tf.signal.dct([1.0], 1), ValueError, ["dct", "type 1", "2 samples", "1"]),
    (lambda: tf.signal.dct([[1.0, 2.0]], axis=0), NotImplementedError, ["dct", "axis", "0"]),
    (lambda: tf.signal.dct(1.0), ValueError, ["dct", "scalar"]),
    (lambda: tf.signal.dct([1, 2]), ValueError, ["dct", "int32", "float32 or float64"]),
    (lambda: tf.signal.mdct(tf.zeros(12), 6), ValueError, ["mdct", "frame_length", "4", "6"]),
    (lambda: tf.signal.inverse_mdct(tf.zeros(4)), ValueError, ["inverse_mdct", "mdcts", "(4,)"]),
    (lambda: tf.signal.inverse_mdct(tf.zeros((2, 3))), tf.errors.InvalidArgumentError, ["inverse_mdct", "even", "3"]),
])
def test_errors_name_what_is_wrong(call, kind, words):
    with pytest.raises(kind) as caught: call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_the_definition_of_the_modified_one():
    n, x = 4, noise(8)
    j, k = np.arange(2 * n), np.arange(n)[:, None]
    window = tf.signal.vorbis_window(2 * n, tf.float64).numpy()
    want = 2 * np.cos(np.pi / n * (j + .5 + n / 2) * (k + .5)) @ (x * window)
    np.testing.assert_allclose(tf.signal.mdct(x, 2 * n), want[None], atol=1e-12)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("window", [tf.signal.vorbis_window, tf.signal.kaiser_bessel_derived_window, None])
@pytest.mark.parametrize("length", [4, 16])
def test_there_and_back(length, window, norm):
    x, half = noise(2, 64), length // 2
    y = tf.signal.mdct(x, length, window, norm=norm)
    again = tf.signal.inverse_mdct(y, window, norm).numpy()
    assert y.shape.as_list() == [2, 64 // half - 1, half] and again.shape == x.shape
    np.testing.assert_allclose(again[:, half:-half], x[:, half:-half], atol=1e-12)
    check_grads(lambda x: tf.signal.mdct(x, length, window, True, norm), [x[:, :18]], order=2)
    check_grads(lambda y: tf.signal.inverse_mdct(y, window, norm), [y.numpy()], order=1)
