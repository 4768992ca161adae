"""Replays tests/golden/*.json.gz, recorded from TensorFlow by the script beside it. The file is data only: nothing in it is executed."""
import functools
import gzip
import json
import operator
import pathlib

import numpy as np
import pytest

import tfedu as tf

FILE = pathlib.Path(__file__).parent / "golden" / "slice.json.gz"
GOLDEN = json.loads(gzip.decompress(FILE.read_bytes()))
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 4e-6, "float64": 1e-11, "complex64": 4e-6, "complex128": 1e-11}


def array(dtype, shape, values):
    if dtype == "string":
        return np.array([v.encode() for v in values], object).reshape(shape)
    if dtype.startswith("complex"):
        parts = np.array([float(v) for v in values]).reshape(-1, 2)
        return (parts[:, 0] + 1j * parts[:, 1]).reshape(shape).astype(dtype)
    kind = np.dtype(tf.as_dtype(dtype).as_numpy_dtype)
    if "int" in dtype or dtype == "bool":
        return np.array(values, kind).reshape(shape)
    return np.array([float(v) for v in values]).reshape(shape).astype(kind)


def decode(v):
    if isinstance(v, list):
        return [decode(i) for i in v]
    if not isinstance(v, dict):
        return v
    (kind, value), = v.items()
    return {"a": lambda: tf.constant(array(*value)), "d": lambda: tf.as_dtype(value), "s": lambda: slice(*value), "e": lambda: ...,
            "t": lambda: tuple(decode(i) for i in value)}[kind]()


def check(got, expected, gradient=False):
    dtype, shape, values = expected["a"]
    assert isinstance(got, tf.Tensor) and got.dtype.name == dtype and list(got.shape) == shape
    want, got = array(dtype, shape, values), np.asarray(got.numpy())
    if dtype not in TOLERANCE:
        np.testing.assert_array_equal(got, want)
        return
    if not dtype.startswith("complex"):
        got, want = got.astype(np.float64), want.astype(np.float64)
    if gradient:                       # where TensorFlow's gradient is NaN, tfedu may know better
        got = np.where(np.isnan(want), want, got)
    finite = np.abs(want[np.isfinite(want)])
    np.testing.assert_allclose(got, want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * min(1.0, finite.max(initial=0)) + 1e-37)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[f"{i}-{c['f']}" for i, c in enumerate(GOLDEN["cases"])])
@pytest.mark.filterwarnings("ignore")
def test_golden(case, record_property):
    record_property("called", "tf." + case["f"])
    f = operator.getitem if case["f"] == "getitem" else functools.reduce(getattr, case["f"].split("."), tf)
    inputs, kw = decode(case["x"]), {k: decode(v) for k, v in case["k"].items()}
    sources = [v for v, g in zip(inputs, case.get("g", []), strict=False) if isinstance(v, tf.Tensor) and v.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f(*inputs, **kw)
    outputs, expected = (y, case["y"]) if isinstance(case["y"], list) else ([y], [case["y"]])
    assert len(outputs) == len(expected)
    for got, want in zip(outputs, expected, strict=True):
        check(got, want)
    if "g" in case:
        weights = [tf.cast(tf.constant((np.arange(int(tf.size(o))) * 7 % 5 - 1.5).reshape(tuple(o.shape))), o.dtype) for o in outputs]
        found = iter(tape.gradient(list(outputs), sources, weights))
        for source, want in zip(inputs, case["g"], strict=True):
            if isinstance(source, tf.Tensor) and source.dtype.is_floating:
                got = next(found)
                assert (got is None) == (want is None)
                if want is not None:
                    check(tf.convert_to_tensor(got), want, gradient=True)


def test_the_record_is_what_it_says():
    assert GOLDEN["tensorflow"].startswith("2.") and len(GOLDEN["cases"]) >= 200 and FILE.stat().st_size < 300_000
