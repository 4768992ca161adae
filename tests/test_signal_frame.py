"""Windows, frames, short-time transforms and mel scales against SciPy, NumPy and loops; what comes back after there and back."""
import numpy as np
import pytest
import scipy.fft
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads


def noise(*shape): return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 33])
def test_windows(n):
    for ours, name in ((tf.signal.hann_window, "hann"), (tf.signal.hamming_window, "hamming")):
        for periodic in (True, False):
            want = scipy.signal.get_window(name, n, fftbins=periodic and n % 2 == 0) if n > 1 else [1]   # odd: symmetric, as TensorFlow
            np.testing.assert_allclose(ours(n, periodic, tf.float64), want, atol=1e-15)
            np.testing.assert_allclose(ours(n, periodic), want, atol=1e-7)
    for beta in (0., 2.5, 12., 300.):
        np.testing.assert_allclose(tf.signal.kaiser_window(n, beta, tf.float64), np.kaiser(n, beta), rtol=1e-12)
        np.testing.assert_allclose(tf.signal.kaiser_window(n, -beta, tf.float64), np.kaiser(n, beta), rtol=1e-12)
        if n % 2 == 0:
            want = scipy.signal.windows.kaiser_bessel_derived(n, beta)
            np.testing.assert_allclose(tf.signal.kaiser_bessel_derived_window(n, beta, tf.float64), want, rtol=1e-12)
    squares = tf.signal.vorbis_window(2 * n, tf.float64).numpy() ** 2
    np.testing.assert_allclose(squares[:n] + squares[n:], 1)


def test_kaiser_at_a_large_beta_is_finite():
    w = tf.signal.kaiser_window(9, 1e5, tf.float64).numpy()
    assert np.isfinite(w).all() and w[4] == 1 and w[0] == 0


def test_a_window_of_no_length():
    for window in (tf.signal.hann_window, tf.signal.hamming_window, tf.signal.vorbis_window, tf.signal.kaiser_window,
                   tf.signal.kaiser_bessel_derived_window): assert window(0).shape.as_list() == [0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_window_dtypes(dtype):
    for window in (tf.signal.hann_window, tf.signal.hamming_window, tf.signal.vorbis_window, tf.signal.kaiser_window,
                   tf.signal.kaiser_bessel_derived_window): assert window(tf.constant(4), dtype=dtype).dtype.name == dtype


@given(st.integers(0, 12), st.integers(1, 6), st.integers(1, 7), st.booleans())
def test_frames_against_a_loop(size, length, step, pad_end):
    x = np.arange(size) + 1
    begins = [b for b in range(0, size + 1, step) if (b < size if pad_end else b + length <= size)]
    want = [[x[b + i] if b + i < size else 7 for i in range(length)] for b in begins]
    got = tf.signal.frame(x, length, step, pad_end, 7)
    np.testing.assert_array_equal(got, np.array(want, int).reshape(len(begins), length))


@given(st.integers(0, 4), st.integers(1, 6), st.integers(1, 7))
def test_sums_of_frames_against_a_loop(count, length, step):
    x = noise(2, count, length)
    want = np.zeros((2, max(0, (count - 1) * step + length)))
    for i in range(count): want[:, i * step:i * step + length] += x[:, i]
    np.testing.assert_allclose(tf.signal.overlap_and_add(x, step), want, atol=1e-14)
    check_grads(lambda x: tf.signal.overlap_and_add(x, step), [x], order=1)


@pytest.mark.parametrize("axis", [0, 1, 2, -3, -2])
def test_frames_on_any_axis(axis):
    x = noise(5, 6, 7)
    want = np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, 3, axis), -1, axis % 3 + 1)
    want = np.take(want, range(0, want.shape[axis % 3], 2), axis % 3)
    np.testing.assert_array_equal(tf.signal.frame(x, 3, 2, axis=axis), want)
    check_grads(lambda x: tf.signal.frame(x, 3, 2, True, 1, axis), [x[:3, :4, :2]], order=2)


def test_frames_of_anything():
    assert tf.signal.frame(["a", "b", "c"], 2, 1).numpy().tolist() == [[b"a", b"b"], [b"b", b"c"]]
    assert tf.signal.frame([True, False, True], 2, 1).dtype == tf.bool
    assert tf.signal.frame(tf.zeros((0, 5)), 2, 1).shape.as_list() == [0, 4, 2]
    assert tf.signal.frame(tf.zeros(0), 2, 1, pad_end=True).shape.as_list() == [0, 2]


def test_the_documented_counts():
    sound = tf.zeros((3, 9152))
    assert tf.signal.frame(sound, 512, 180).shape.as_list() == [3, 49, 512]
    assert tf.signal.frame(sound, 512, 180, pad_end=True).shape.as_list() == [3, 51, 512]
    assert tf.signal.stft(sound, 512, 180, 600, pad_end=True).shape.as_list() == [3, 51, 301]


def test_a_variable_gets_its_gradient():
    x = tf.Variable(noise(12))
    with tf.GradientTape() as tape: loss = tf.reduce_sum(tf.signal.overlap_and_add(tf.signal.frame(x, 4, 2), 2))
    np.testing.assert_array_equal(tape.gradient(loss, x), [1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1])


def test_halves_are_added_in_float32():
    frames = tf.constant(np.ones((1000, 1000)), tf.float16)
    assert tf.signal.overlap_and_add(frames, 1).numpy()[999] == 1000 and tf.signal.overlap_and_add(frames * 3, 1).numpy()[999] == 3000


@pytest.mark.parametrize("length, step, fft_length", [(16, 4, None), (16, 8, 32), (10, 3, None), (7, 7, 8), (12, 5, 13)])
@pytest.mark.parametrize("window", [tf.signal.hann_window, tf.signal.hamming_window, None])
def test_there_and_back(length, step, fft_length, window):
    if window is tf.signal.hann_window and step == length: return       # nothing is left of what the window takes away
    x = noise(2, 120)
    y = tf.signal.stft(x, length, step, fft_length, window)
    spectra = np.fft.rfft(tf.signal.frame(x, length, step).numpy() * (1 if window is None else window(length, dtype=tf.float64).numpy()),
                          fft_length or 16)
    np.testing.assert_allclose(y, spectra, atol=1e-10)
    inverse = tf.signal.inverse_stft_window_fn(step, window or (lambda n, dtype: tf.ones(n, dtype)))
    again = tf.signal.inverse_stft(y, length, step, fft_length, inverse).numpy()
    np.testing.assert_allclose(again[:, length:-length], x[:, length:again.shape[1] - length], atol=1e-10)


def test_scipy_sees_the_same_spectrogram():
    x = noise(64)
    _, _, want = scipy.signal.stft(x, window="hann", nperseg=16, noverlap=12, boundary=None, padded=False)
    np.testing.assert_allclose(tf.signal.stft(x, 16, 4).numpy().T / 8, want, atol=1e-12)


def test_gradients_of_short_time_transforms():
    check_grads(lambda x: tf.math.abs(tf.signal.stft(x, 6, 2, 5)) ** 2, [noise(11)], order=2)
    check_grads(lambda x: tf.signal.inverse_stft(x, 6, 2, 4, tf.signal.hamming_window), [noise(2, 3, 3) * 1j + noise(2, 3, 3)], order=2)
    inverse = lambda beta: tf.signal.inverse_stft_window_fn(3, lambda n, dtype: tf.signal.kaiser_window(n, beta, dtype))(7, tf.float64)
    check_grads(inverse, [np.array(2.0)], order=2)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: tf.signal.hann_window(3, dtype=tf.int32), ValueError, ["hann_window", "dtype", "int32"]),
    (lambda: tf.signal.hann_window([3]), ValueError, ["hann_window", "window_length", "[3]"]),
    (lambda: tf.signal.vorbis_window(3.0), TypeError, ["vorbis_window", "window_length", "3.0"]),
    (lambda: tf.signal.kaiser_window(-1), tf.errors.InvalidArgumentError, ["kaiser_window", "window_length", "-1"]),
    (lambda: tf.signal.kaiser_window(3, [1., 2.]), tf.errors.InvalidArgumentError, ["kaiser_window", "beta", "[1. 2.]"]),
    (lambda: tf.signal.frame(1.0, 2, 1), ValueError, ["frame", "signal", "scalar"]),
    (lambda: tf.signal.frame([1.0], 2, 0), tf.errors.InvalidArgumentError, ["frame", "frame_step", "0"]),
    (lambda: tf.signal.frame([1.0], -2, 1), tf.errors.InvalidArgumentError, ["frame", "frame_length", "-2"]),
    (lambda: tf.signal.frame([1.0], 2, 1, axis=3), tf.errors.InvalidArgumentError, ["frame", "axis 3", "(1,)"]),
    (lambda: tf.signal.frame([1, 2], 2, 1, True, 1.5), TypeError, ["1.5", "int32"]),
    (lambda: tf.signal.overlap_and_add([1.0], 1), ValueError, ["overlap_and_add", "2 axes", "(1,)"]),
    (lambda: tf.signal.overlap_and_add([[1.0]], 1.5), ValueError, ["overlap_and_add", "frame_step", "1.5"]),
    (lambda: tf.signal.stft(tf.range(9), 4, 2), ValueError, ["hann_window", "int32"]),
    (lambda: tf.signal.inverse_stft(tf.zeros(3, tf.complex64), 4, 2), ValueError, ["inverse_stft", "stfts", "(3,)"]),
    (lambda: tf.signal.linear_to_mel_weight_matrix(0), ValueError, ["num_mel_bins", "0"]),
    (lambda: tf.signal.linear_to_mel_weight_matrix(sample_rate=-1), ValueError, ["sample_rate", "-1"]),
    (lambda: tf.signal.linear_to_mel_weight_matrix(lower_edge_hertz=4000.), ValueError, ["lower_edge_hertz", "4000.0"]),
    (lambda: tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=4001.), ValueError, ["upper_edge_hertz", "4001.0", "4000"]),
    (lambda: tf.signal.linear_to_mel_weight_matrix(dtype=tf.int32), ValueError, ["dtype", "int32"]),
    (lambda: tf.signal.mfccs_from_log_mel_spectrograms(tf.zeros((2, 0))), ValueError, ["mfccs", "(2, 0)"]),
])
def test_errors_name_what_is_wrong(call, kind, words):
    with pytest.raises(kind) as caught: call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_mel_bands():
    w = tf.signal.linear_to_mel_weight_matrix(10, 129, tf.constant(16000), 50., 7000., tf.float64).numpy()
    assert w.shape == (129, 10) and (w >= 0).all() and (w <= 1).all() and (w[0] == 0).all()
    assert (np.diff(w.argmax(0)) > 0).all()
    mels = lambda f: 2595 * np.log10(1 + f / 700)                       # the formula as others write it
    edges, f = np.linspace(mels(50), mels(7000), 12), mels(np.linspace(0, 8000, 129))
    for k in range(10): np.testing.assert_allclose(w[1:, k], np.interp(f[1:], edges[k:k + 3], [0, 1, 0]), atol=1e-9)


def test_mel_cepstrum():
    x = noise(2, 3, 8)
    want = scipy.fft.dct(x, norm="ortho")
    want[..., 0] *= np.sqrt(2)
    np.testing.assert_allclose(tf.signal.mfccs_from_log_mel_spectrograms(x), want, atol=1e-12)
    check_grads(tf.signal.mfccs_from_log_mel_spectrograms, [x], order=2)
