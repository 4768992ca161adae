"""Replays tests/golden/linalg.json.gz, recorded from TensorFlow: linear algebra, with what is unique only up to signs made unique."""
import functools
import gzip
import json
import pathlib
import sys

import numpy as np
import pytest
from test_golden import array, decode

import tfedu as tf

GOLDEN_DIR = pathlib.Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN_DIR))
from linalg_invariants import INVARIANTS  # noqa: E402

GOLDEN = json.loads(gzip.decompress((GOLDEN_DIR / "linalg.json.gz").read_bytes()))
TOLERANCE = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-9, "complex128": 1e-9}
LOOSE = {("linalg.expm", "float32"): 1e-3}   # TensorFlow's is off by that much; against float64 tfedu's is not
UNCONJUGATED = {"linalg.det", "linalg.tridiagonal_solve"}   # TensorFlow's gradients of complex ones; those of tfedu pass the sweep


def check(got, expected, gradient=False, name=""):
    dtype, shape, values = expected["a"]
    assert isinstance(got, tf.Tensor) and got.dtype.name == dtype and list(got.shape) == shape
    want, got = array(dtype, shape, values), np.asarray(got.numpy())
    if dtype not in TOLERANCE:
        np.testing.assert_array_equal(got, want)
        return
    if gradient:                       # where TensorFlow's gradient is NaN, tfedu may know better
        got = np.where(np.isnan(want), want, got)
    tolerance = LOOSE.get((name, dtype), TOLERANCE[dtype])
    near = tolerance * np.abs(want[np.isfinite(want)]).max(initial=1e-3)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=near)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[f"{i}-{c['f']}" for i, c in enumerate(GOLDEN["cases"])])
def test_golden(case, record_property):
    record_property("called", "tf." + case["f"])
    f = functools.reduce(getattr, case["f"].split("."), tf)
    inputs = [float(v) if isinstance(v, str) and v == "inf" else v for v in decode(case["x"])]
    kw = {k: float(v) if v == "inf" else decode(v) for k, v in case["k"].items()}
    moving = [isinstance(v, tf.Tensor) and (v.dtype.is_floating or v.dtype.is_complex) for v in inputs]
    with tf.GradientTape() as tape:
        tape.watch([v for v, m in zip(inputs, moving) if m])
        y = f(*inputs, **kw)
        y = INVARIANTS[case["how"]](tf, y) if case["how"] else [y]
    for got, want in zip(y, case["y"], strict=True):
        check(got, want, name=case["f"])
    if "g" in case and not (case["f"] in UNCONJUGATED and inputs[0].dtype.is_complex):
        outputs = [o for o in y if o.dtype.is_floating or o.dtype.is_complex]
        weights = [tf.cast(tf.constant((np.arange(int(tf.size(o))) * 7 % 5 - 1.5).reshape(tuple(o.shape))), o.dtype) for o in outputs]
        found = iter(tape.gradient(outputs, [v for v, m in zip(inputs, moving) if m], weights))
        for m, want in zip(moving, case["g"], strict=True):
            if m:
                check(tf.convert_to_tensor(next(found)), want, True, case["f"])


def test_the_record_covers_linear_algebra():
    assert len(GOLDEN["cases"]) > 150 and GOLDEN["tensorflow"].startswith("2.")
    assert sum("g" in c for c in GOLDEN["cases"]) > 100
