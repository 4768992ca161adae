"""Records ops_signal.json.gz: Fourier and cosine transforms, frames, windows, mel scales. See recording.py."""
from itertools import product

import tensorflow as tf
from recording import COMPLEX, WIDE, Public, array, data, record, refused, save

NEAR = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-10, "complex128": 1e-10}
WINDOWS = "hann hamming vorbis kaiser kaiser_bessel_derived".split()


def transforms():
    for dtype in COMPLEX:
        for name, shape in (("fft", (2, 5)), ("fft2d", (2, 3, 4)), ("fft3d", (2, 3, 2)), ("fft", (8,)), ("fft", (1,))):
            record("signal." + name, data(shape, dtype), tolerance=NEAR[dtype])
            record("signal.i" + name, data(shape, dtype), tolerance=NEAR[dtype])
        for length in (None, [4], [9], [5]):
            record("signal.irfft", data((2, 4), dtype), fft_length=length, tolerance=NEAR[dtype], gradient=length in (None, [9]))
        record("signal.irfft2d", data((3, 3), dtype), tolerance=NEAR[dtype])
        record("signal.irfft3d", data((2, 2, 3), dtype), tolerance=NEAR[dtype])
        record("signal.irfft2d", data((3, 3), dtype), [2, 5], tolerance=NEAR[dtype], gradient=False)
    for dtype in WIDE:
        for length in (None, [4], [9], [5]):
            record("signal.rfft", data((2, 6), dtype), fft_length=length, tolerance=NEAR[dtype], gradient=length in (None, [9]))
        record("signal.rfft2d", data((2, 3, 4), dtype), tolerance=NEAR[dtype])
        record("signal.rfft2d", data((3, 4), dtype), [2, 5], tolerance=NEAR[dtype], gradient=False)    # TensorFlow fails where it crops
        record("signal.rfft3d", data((2, 3, 4), dtype), tolerance=NEAR[dtype])
    for name in ("fftshift", "ifftshift"):
        record("signal." + name, data((5,), "float32")), record("signal." + name, data((3, 4), "complex64"))
        record("signal." + name, data((3, 4), "int32"), axes=[1]), record("signal." + name, data((2, 3, 4), "float32"), axes=-1)
    refused("signal.fft2d", "InvalidArgumentError", data((3,), "complex64")), refused("signal.rfft", "ValueError", data((3,), "complex64"))


def cosines():
    for kind, norm, dtype in product((1, 2, 3, 4), (None, "ortho"), WIDE):
        if kind == 1 and norm: continue
        for name in ("dct", "idct"): record("signal." + name, data((2, 4), dtype), type=kind, norm=norm, tolerance=NEAR[dtype])
    for n in (3, 6): record("signal.dct", data((2, 4), "float64"), type=2, n=n, tolerance=1e-10)
    refused("signal.dct", "ValueError", data((4,), "float32"), type=5)
    refused("signal.dct", "ValueError", data((4,), "float32"), type=1, norm="ortho")
    refused("signal.dct", "NotImplementedError", data((4, 2), "float32"), axis=0)
    refused("signal.dct", "ValueError", data((1,), "float32"), type=1)
    for norm, padded in product((None, "ortho"), (False, True)):
        record("signal.mdct", data((2, 10), "float32"), 4, norm=norm, pad_end=padded, tolerance=2e-5)
    record("signal.mdct", data((12,), "float64"), 8, window_fn=None, tolerance=1e-10)
    record("signal.mdct", data((12,), "float32"), 4, window_fn=Public("signal.kaiser_bessel_derived_window"), tolerance=5e-5)
    for norm in (None, "ortho"): record("signal.inverse_mdct", data((3, 4), "float32"), norm=norm, tolerance=2e-5)
    record("signal.inverse_mdct", data((2, 3, 4), "float64"), window_fn=None, tolerance=1e-10)


def frames():
    for dtype in ("float32", "float64", "int32", "complex64"):
        record("signal.frame", data((2, 7), dtype), 3, 2)
        record("signal.frame", data((2, 7), dtype), 3, 2, pad_end=True, pad_value=9 if "int" in dtype else 0)
        record("signal.overlap_and_add", data((2, 3, 4), dtype), 2)
    record("signal.frame", data((5, 2), "float32"), 2, 1, axis=0), record("signal.frame", data((4,), "float32"), 6, 1)
    record("signal.frame", data((4,), "float32"), 3, 5, pad_end=True, pad_value=1.5)
    for step in (1, 3, 4, 6): record("signal.overlap_and_add", data((3, 4), "float64"), step)
    refused("signal.overlap_and_add", "ValueError", data((3,), "float32"), 1)
    for dtype in WIDE:
        record("signal.stft", data((2, 12), dtype), 4, 2, tolerance=NEAR[dtype])
        record("signal.stft", data((9,), dtype), 4, 3, fft_length=8, pad_end=True, tolerance=NEAR[dtype])
        record("signal.stft", data((9,), dtype), 5, 3, window_fn=None, tolerance=NEAR[dtype])
        record("signal.stft", data((9,), dtype), 4, 2, 6, Public("signal.hamming_window"), tolerance=NEAR[dtype])
    for dtype in COMPLEX:
        record("signal.inverse_stft", data((2, 3, 3), dtype), 4, 2, tolerance=NEAR[dtype])
        record("signal.inverse_stft", data((3, 5), dtype), 4, 3, fft_length=8, window_fn=None, tolerance=NEAR[dtype])
    record("signal.inverse_stft", data((3, 3), "complex64"), 4, 2, window_fn=Public("signal.hamming_window"), tolerance=2e-5)


def windows():
    for name, dtype in product(WINDOWS, WIDE):
        for length in (1, 4, 6, 7):
            if name == "kaiser_bessel_derived" and length % 2 or dtype == "float64" and length != 6: continue
            record(f"signal.{name}_window", length, dtype=tf.as_dtype(dtype), tolerance={"float32": 2e-5,
                "float64": 1e-6 if "kaiser" in name else 1e-10}[dtype])
    for name in ("hann", "hamming"):
        record(f"signal.{name}_window", 5, periodic=False, tolerance=2e-5)
        record(f"signal.{name}_window", 6, periodic=False, tolerance=2e-5)
    record("signal.kaiser_window", 5, beta=4.0, tolerance=2e-5), record("signal.kaiser_bessel_derived_window", 6, beta=4.0, tolerance=2e-5)
    record("signal.hann_window", 4, dtype=tf.float16), record("signal.hamming_window", 4, True, tf.bfloat16)


def mel():
    record("signal.linear_to_mel_weight_matrix", 5, 17, 8000, 125.0, 3800.0, tolerance=1e-4)
    record("signal.linear_to_mel_weight_matrix", num_mel_bins=3, num_spectrogram_bins=9, sample_rate=16000, lower_edge_hertz=20.0,
        upper_edge_hertz=7000.0, dtype=tf.float64, tolerance=1e-6)
    refused("signal.linear_to_mel_weight_matrix", "ValueError", 5, 17, 8000, 4000.0, 3800.0)
    refused("signal.linear_to_mel_weight_matrix", "ValueError", 5, 17, 8000, 100.0, 5000.0)
    for shape in ((2, 5), (2, 3, 4)): record("signal.mfccs_from_log_mel_spectrograms", data(shape, "float32"), tolerance=2e-5)
    record("signal.mfccs_from_log_mel_spectrograms", array([[1.0, 2.0, 4.0]], "float64"), tolerance=1e-10)


if __name__ == "__main__": save("ops_signal.json.gz", transforms, cosines, frames, windows, mel)
