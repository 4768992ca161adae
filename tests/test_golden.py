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
FILES = [HERE / "slice.json.gz", *sorted(HERE.glob("ops_*.json.gz"))]   # others have tests of their own
GOLDEN = {path.name.removesuffix(".json.gz"): json.loads(gzip.decompress(path.read_bytes())) for path in FILES}
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 4e-6, "float64": 1e-11, "complex64": 4e-6, "complex128": 1e-11}

# Public names that are recorded but not there yet. The set is exact: take a name out when it arrives.
MISSING = set("""
    RaggedTensor.bounding_shape RaggedTensor.from_nested_row_lengths RaggedTensor.from_nested_row_splits
    RaggedTensor.from_nested_value_rowids RaggedTensor.from_row_lengths RaggedTensor.from_row_limits RaggedTensor.from_row_splits
    RaggedTensor.from_row_starts RaggedTensor.from_sparse RaggedTensor.from_tensor RaggedTensor.from_value_rowids
    RaggedTensor.merge_dims RaggedTensor.nested_row_lengths RaggedTensor.nrows RaggedTensor.row_lengths RaggedTensor.row_limits
    RaggedTensor.row_starts RaggedTensor.to_sparse RaggedTensor.to_tensor RaggedTensor.value_rowids RaggedTensor.with_flat_values
    RaggedTensor.with_values SparseTensor argsort audio.decode_wav audio.encode_wav batch_to_space bitcast bitwise.left_shift
    bitwise.right_shift debugging.Assert debugging.assert_all_finite debugging.assert_equal debugging.assert_greater
    debugging.assert_greater_equal debugging.assert_integer debugging.assert_less debugging.assert_less_equal
    debugging.assert_near debugging.assert_negative debugging.assert_non_negative debugging.assert_non_positive
    debugging.assert_none_equal debugging.assert_positive debugging.assert_proper_iterable debugging.assert_rank
    debugging.assert_rank_at_least debugging.assert_rank_in debugging.assert_same_float_dtype debugging.assert_scalar
    debugging.assert_shapes debugging.assert_type debugging.check_numerics debugging.is_numeric_tensor dynamic_partition
    dynamic_stitch ensure_shape histogram_fixed_width histogram_fixed_width_bins image.adjust_brightness image.adjust_contrast
    image.adjust_gamma image.adjust_hue image.adjust_saturation image.central_crop image.convert_image_dtype image.crop_and_resize
    image.crop_to_bounding_box image.extract_patches image.flip_left_right image.flip_up_down image.grayscale_to_rgb
    image.hsv_to_rgb image.image_gradients image.pad_to_bounding_box image.per_image_standardization image.psnr image.resize
    image.resize_with_crop_or_pad image.resize_with_pad image.rgb_to_grayscale image.rgb_to_hsv image.rgb_to_yiq image.rgb_to_yuv
    image.rot90 image.sobel_edges image.ssim image.ssim_multiscale image.total_variation image.transpose image.yiq_to_rgb
    image.yuv_to_rgb io.decode_base64 io.decode_bmp io.decode_compressed io.decode_csv io.decode_image io.decode_png io.decode_raw
    io.deserialize_many_sparse io.encode_base64 io.is_jpeg io.parse_tensor io.serialize_many_sparse io.serialize_sparse
    io.serialize_tensor math.bincount math.confusion_matrix math.count_nonzero math.cumulative_logsumexp math.in_top_k
    math.invert_permutation math.is_non_decreasing math.is_strictly_increasing math.l2_normalize math.log_sigmoid math.nextafter
    math.polyval math.scalar_mul math.segment_max math.segment_mean math.segment_min math.segment_prod math.segment_sum
    math.sobol_sample math.top_k math.unsorted_segment_max math.unsorted_segment_mean math.unsorted_segment_min
    math.unsorted_segment_prod math.unsorted_segment_sqrt_n math.unsorted_segment_sum math.xdivy math.xlog1py math.xlogy
    nn.atrous_conv2d nn.atrous_conv2d_transpose nn.avg_pool nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d
    nn.batch_norm_with_global_normalization nn.batch_normalization nn.compute_average_loss nn.conv1d nn.conv1d_transpose nn.conv2d
    nn.conv2d_transpose nn.conv3d nn.conv3d_transpose nn.conv_transpose nn.convolution nn.ctc_beam_search_decoder
    nn.ctc_greedy_decoder nn.ctc_loss nn.ctc_unique_labels nn.depth_to_space nn.depthwise_conv2d
    nn.depthwise_conv2d_backprop_filter nn.depthwise_conv2d_backprop_input nn.dilation2d nn.embedding_lookup
    nn.embedding_lookup_sparse nn.erosion2d nn.isotonic_regression nn.local_response_normalization nn.log_poisson_loss nn.max_pool
    nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.max_pool_with_argmax nn.normalize_moments nn.pool nn.safe_embedding_lookup_sparse
    nn.scale_regularization_loss nn.separable_conv2d nn.space_to_depth nn.sufficient_statistics nn.weighted_moments
    ragged.boolean_mask ragged.constant ragged.cross ragged.map_flat_values ragged.range ragged.row_splits_to_segment_ids
    ragged.segment_ids_to_row_splits ragged.stack ragged.stack_dynamic_partitions realdiv reverse_sequence searchsorted
    sequence_mask sets.difference sets.intersection sets.size sets.union signal.dct signal.fft signal.fft2d signal.fft3d
    signal.fftshift signal.frame signal.hamming_window signal.hann_window signal.idct signal.ifft signal.ifft2d signal.ifft3d
    signal.ifftshift signal.inverse_mdct signal.inverse_stft signal.irfft signal.irfft2d signal.irfft3d
    signal.kaiser_bessel_derived_window signal.kaiser_window signal.linear_to_mel_weight_matrix signal.mdct
    signal.mfccs_from_log_mel_spectrograms signal.overlap_and_add signal.rfft signal.rfft2d signal.rfft3d signal.stft
    signal.vorbis_window sort space_to_batch space_to_batch_nd sparse.add sparse.bincount sparse.concat sparse.cross
    sparse.cross_hashed sparse.expand_dims sparse.eye sparse.fill_empty_rows sparse.from_dense sparse.map_values sparse.maximum
    sparse.minimum sparse.reduce_max sparse.reduce_sum sparse.reorder sparse.reset_shape sparse.reshape sparse.retain
    sparse.segment_mean sparse.segment_sqrt_n sparse.segment_sum sparse.slice sparse.softmax sparse.sparse_dense_matmul
    sparse.split sparse.to_dense sparse.to_indicator sparse.transpose tensor_scatter_nd_max tensor_scatter_nd_min truncatediv
    truncatemod tuple unique unique_with_counts unravel_index
""".split())


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
    want, got = array(dtype, shape, values), np.asarray(got.numpy(), object if dtype == "string" else None)
    if dtype not in TOLERANCE: return np.testing.assert_array_equal(got, want)
    if not dtype.startswith("complex"): got, want = got.astype(np.float64), want.astype(np.float64)
    if gradient: got = np.where(np.isnan(want), want, got)      # where TensorFlow's gradient is NaN, tfedu may know better
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
    check(y, case["y"], case.get("tolerance"))
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
