"""Replays every tests/golden/*.json.gz that recording.py wrote there. The files are data only: nothing in them is executed."""
import builtins
import gzip
import json
import operator
from pathlib import Path

import numpy as np
import pytest

import tfedu as tf

HERE = Path(__file__).parent / "golden"
FILES = [path for path in sorted(HERE.glob("*.json.gz")) if path.name.startswith(("ops_", "slice.", "arrays.", "nn."))]
GOLDEN = {path.name.removesuffix(".json.gz"): json.loads(gzip.decompress(path.read_bytes())) for path in FILES}
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 4e-6, "float64": 1e-11, "complex64": 4e-6, "complex128": 1e-11}

# Public names that are recorded but not there yet. The set is exact: take a name out when it arrives.
MISSING = set("""
    audio.decode_wav audio.encode_wav debugging.check_numerics image.adjust_brightness image.adjust_contrast image.adjust_gamma
    image.adjust_hue image.adjust_saturation image.central_crop image.convert_image_dtype image.crop_and_resize
    image.crop_to_bounding_box image.extract_patches image.flip_left_right image.flip_up_down image.grayscale_to_rgb
    image.hsv_to_rgb image.image_gradients image.pad_to_bounding_box image.per_image_standardization image.psnr image.resize
    image.resize_with_crop_or_pad image.resize_with_pad image.rgb_to_grayscale image.rgb_to_hsv image.rgb_to_yiq image.rgb_to_yuv
    image.rot90 image.sobel_edges image.ssim image.ssim_multiscale image.total_variation image.transpose image.yiq_to_rgb
    image.yuv_to_rgb io.decode_base64 io.decode_bmp io.decode_compressed io.decode_csv io.decode_image io.decode_png io.decode_raw
    io.deserialize_many_sparse io.encode_base64 io.is_jpeg io.parse_tensor io.serialize_many_sparse io.serialize_sparse
    io.serialize_tensor signal.dct signal.fft signal.fft2d signal.fft3d signal.fftshift signal.frame signal.hamming_window
    signal.hann_window signal.idct signal.ifft signal.ifft2d signal.ifft3d signal.ifftshift signal.inverse_mdct
    signal.inverse_stft signal.irfft signal.irfft2d signal.irfft3d signal.kaiser_bessel_derived_window signal.kaiser_window
    signal.linear_to_mel_weight_matrix signal.mdct signal.mfccs_from_log_mel_spectrograms signal.overlap_and_add signal.rfft
    signal.rfft2d signal.rfft3d signal.stft signal.vorbis_window
""".split())

# Where TensorFlow's value is NaN, these have the limit of the function: see nbs/3_autodiff/318_right.ipynb.
BETTER = {"nn.silu", "nn.swish", "nn.gelu", "nn.softsign", "nn.softmax_cross_entropy_with_logits", "nn.sigmoid_cross_entropy_with_logits"}


def array(dtype, shape, values):
    if dtype == "string": return np.array([v.encode("latin-1") for v in values], object).reshape(shape)
    if dtype.startswith("complex"):
        parts = np.array([float(v) for v in values]).reshape(-1, 2)
        whole = np.empty(len(parts), complex)
        whole.real, whole.imag = parts.T                 # a sum would make NaN of an infinite part
        return whole.reshape(shape).astype(dtype)
    kind = np.dtype(tf.as_dtype(dtype).as_numpy_dtype)
    return np.array(values if "int" in dtype or dtype == "bool" else [float(v) for v in values], kind).reshape(shape)


def public(name): return operator.getitem if name == "getitem" else operator.attrgetter(name)(tf)


def ragged(flat_values, *splits):
    for row_splits in reversed(splits): flat_values = tf.RaggedTensor.from_row_splits(flat_values, row_splits)
    return flat_values


DECODE = {"a": lambda v: tf.constant(array(*v)), "x": float, "d": tf.as_dtype, "s": lambda v: slice(*v), "e": lambda v: ...,
          "t": lambda v: tuple(map(decode, v)), "v": lambda v: tf.SparseTensor(*map(decode, v)), "p": public,
          "r": lambda v: ragged(*map(decode, v)), "h": lambda v: tf.TensorShape(v)}


def decode(v):
    if isinstance(v, list): return [decode(i) for i in v]
    if not isinstance(v, dict): return v
    (kind, value), = v.items()
    return DECODE[kind](value)


def kind_of(v): return next(iter(v)) if isinstance(v, dict) else None


def parts(v, kind):
    "What a composite value of that kind holds, in the order that it is written down in."
    return [v.indices, v.values, v.dense_shape] if kind == "v" else [v.flat_values, *v.nested_row_splits]


def check(got, want, tolerance, gradient=False):
    "Raises AssertionError unless `got` is what is written down in `want`."
    kind = kind_of(want)
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True): check(g, w, tolerance, gradient)
    elif kind in ("v", "r"):
        found = parts(got, kind)
        assert len(found) == len(want[kind]), "ragged in another number of axes"
        for g, w in zip(found, want[kind], strict=True): check(g, w, tolerance)
    elif kind == "m":
        for field, w in want["m"].items(): check(getattr(got, field), w, tolerance)
    elif kind == "a": close(got, *want["a"], tolerance, gradient)
    else: assert got == decode(want)


def close(got, dtype, shape, values, tolerance, gradient):
    assert isinstance(got, tf.Tensor) and (got.dtype.name, got.shape.as_list()) == (dtype, shape)
    want, got = array(dtype, shape, values), np.asarray(got.numpy())
    if dtype not in TOLERANCE: return np.testing.assert_array_equal(got, want)
    if not dtype.startswith("complex"): got, want = got.astype(np.float64), want.astype(np.float64)
    if gradient: got = np.where(np.isnan(want), want, got)      # where TensorFlow's number is NaN, tfedu may know better
    near, finite = tolerance or TOLERANCE[dtype], np.abs(want[np.isfinite(want)])
    np.testing.assert_allclose(got, want, rtol=near, atol=near * min(1.0, finite.max(initial=0)) + 1e-37)


def moving(v):
    "The floating tensors in `v`."
    if isinstance(v, list | tuple): return [t for part in v for t in moving(part)]
    if not isinstance(v, tf.Tensor): v = next((getattr(v, name) for name in ("flat_values", "values") if hasattr(v, name)), None)
    return [v] if isinstance(v, tf.Tensor) and (v.dtype.is_floating or v.dtype.is_complex) else []


def weight(y):
    w = (np.arange(int(np.prod(y.shape))) * 7 % 5 - 1.5).reshape(tuple(y.shape)) * (1 + .5j if y.dtype.is_complex else 1)
    return tf.constant(w.astype(y.dtype.as_numpy_dtype))


def names(v):
    "The public names that stand in a recorded value."
    if isinstance(v, list): return [n for part in v for n in names(part)]
    if not isinstance(v, dict): return []
    (kind, value), = v.items()
    return {"p": lambda: [value], "t": lambda: names(value), "v": lambda: ["SparseTensor"],
            "r": lambda: ["RaggedTensor.from_row_splits"]}.get(kind, list)()


def missing(case):
    "The public names that `case` needs and tfedu lacks."
    lacking = set()
    for name in {case["f"], *names(case["x"]), *names(list(case["k"].values()))}:
        try: public(name)
        except (AttributeError, NotImplementedError): lacking.add(name)
    return lacking


EACH = [pytest.param(case, id=f"{area}-{i}-{case['f']}") for area, file in GOLDEN.items() for i, case in enumerate(file["cases"])]


@pytest.mark.parametrize("case", EACH)
@pytest.mark.filterwarnings("ignore")
def test_golden(case, record_property):
    if lacking := missing(case): pytest.skip(f"missing: {' '.join(sorted(lacking))}")
    record_property("called", "tf." + case["f"])
    record_property("golden", 1)
    f, settings = public(case["f"]), {k: decode(v) for k, v in case["k"].items()}
    if kind_of(case["y"]) == "error":
        kind = case["y"]["error"]
        with pytest.raises(getattr(tf.errors, kind, None) or getattr(builtins, kind)): f(*decode(case["x"]), **settings)
        return
    with tf.GradientTape() as tape:
        inputs = decode(case["x"])
        tape.watch(moving(inputs))
        y = f(*inputs, **settings)
        outputs = moving(y)
    check(y, case["y"], case.get("tolerance"), gradient=case["f"] in BETTER)
    if "g" not in case: return
    found = iter(tape.gradient(outputs, moving(inputs), [weight(o) for o in outputs]))
    for x, want in zip(inputs, case["g"], strict=True):
        got = [next(found) for _ in moving(x)]
        for g, w in zip(got, want if isinstance(want, list) else [want] * len(got), strict=True):
            assert (g is None) == (w is None), "a gradient is missing" if g is None else "a gradient where there is none"
            if w is not None: check(tf.convert_to_tensor(g), w, case.get("tolerance"), gradient=True)


def test_how_many_names_are_missing():
    lacking = {name for file in GOLDEN.values() for case in file["cases"] for name in missing(case)}
    assert lacking == MISSING, f"newly missing: {sorted(lacking - MISSING)}; no longer missing: {sorted(MISSING - lacking)}"


def test_the_record_is_what_it_says():
    assert all(file["tensorflow"].startswith("2.") for file in GOLDEN.values())
    assert len(EACH) >= 600 and sum(path.stat().st_size for path in FILES) < 1_500_000
