"""Replays every tests/golden/*.json.gz that recording.py wrote there. The files are data only: nothing in them is executed."""
import builtins
import gzip
import json
import operator
from pathlib import Path

import numpy as np
import pytest
from both import HOW, moving, parts, weight

import tfedu as tf

HERE = Path(__file__).parent / "golden"
FILES = sorted(path for path in HERE.glob("*.json.gz")   # the others: test_rnn.py, test_io_example.py, test_autograph.py
               if path.name not in ("rnn.json.gz", "io.json.gz", "autograph.json.gz"))
GOLDEN = {path.name.removesuffix(".json.gz"): json.loads(gzip.decompress(path.read_bytes())) for path in FILES}
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 4e-6, "float64": 1e-11, "complex64": 4e-6, "complex128": 1e-11}

# Public names that are recorded but left out, or not there yet. The set is exact: take a name out when it arrives.
MISSING = set("""
    image.crop_and_resize image.rgb_to_yiq image.rgb_to_yuv image.ssim_multiscale image.yiq_to_rgb
    image.yuv_to_rgb
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


def ragged(values, *rows):
    for row in reversed(rows):
        values = (tf.RaggedTensor.from_uniform_row_length if isinstance(row, int) else tf.RaggedTensor.from_row_splits)(values, row)
    return values


DECODE = {"a": lambda v: tf.constant(array(*v)), "x": float, "d": tf.as_dtype, "s": lambda v: slice(*v), "e": lambda v: ...,
          "t": lambda v: tuple(map(decode, v)), "v": lambda v: tf.SparseTensor(*map(decode, v)), "p": public,
          "r": lambda v: ragged(*map(decode, v)), "i": lambda v: tf.IndexedSlices(*map(decode, v)), "h": lambda v: tf.TensorShape(v)}


def decode(v):
    if isinstance(v, list): return [decode(i) for i in v]
    if not isinstance(v, dict): return v
    (kind, value), = v.items()
    return DECODE[kind](value)


def kind_of(v): return next(iter(v)) if isinstance(v, dict) else None


def check(got, want, tolerance, gradient=False):
    "Raises AssertionError unless `got` is what is written down in `want`."
    kind = kind_of(want)
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True): check(g, w, tolerance, gradient)
    elif kind in ("v", "r", "i"):
        found = parts(tf, got)
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
    if gradient: got = np.where(np.isnan(want), want, got)      # where TensorFlow's number is NaN, tfedu may know better
    near, finite = TOLERANCE[dtype] if tolerance is None else tolerance, np.abs(want[np.isfinite(want)])
    np.testing.assert_allclose(got, want, rtol=near, atol=near * min(1.0, finite.max(initial=0)) + 1e-37)


def names(v):
    "The public names that stand in a recorded value."
    if isinstance(v, list): return [n for part in v for n in names(part)]
    if not isinstance(v, dict): return []
    (kind, value), = v.items()
    return [value] if kind == "p" else names(value) if kind == "t" else []


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
        tape.watch(moving(tf, inputs))
        y = HOW[case["how"]](tf, f, *inputs, **settings) if "how" in case else f(*inputs, **settings)
        outputs = moving(tf, y)
    check(y, case["y"], case.get("tolerance"), gradient=case["f"] in BETTER)
    if "g" not in case: return
    found = iter(tape.gradient(outputs, moving(tf, inputs), [weight(tf, o) for o in outputs]))
    for x, want in zip(inputs, case["g"], strict=True):
        got = [next(found) for _ in moving(tf, x)]
        for g, w in zip(got, want if isinstance(want, list) else [want] * len(got), strict=True):
            assert (g is None) == (w is None), "a gradient is missing" if g is None else "a gradient where there is none"
            if w is not None: check(tf.convert_to_tensor(g), w, case.get("tolerance"), gradient=True)


def test_how_many_names_are_missing():
    lacking = {name for file in GOLDEN.values() for case in file["cases"] for name in missing(case)}
    assert lacking == MISSING, f"newly missing: {sorted(lacking - MISSING)}; no longer missing: {sorted(MISSING - lacking)}"


def test_the_record_is_what_it_says():
    assert all(file["tensorflow"].startswith("2.") for file in GOLDEN.values())
    assert len(EACH) >= 3800 and sum(path.stat().st_size for path in FILES) < 1_500_000
