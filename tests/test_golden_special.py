"""Replays special.json.gz and stateless.json.gz, recorded from TensorFlow by the scripts beside them."""
import functools
import gzip
import json
import pathlib

import numpy as np
import pytest
from test_golden import array, decode

import tfedu as tf

GOLDEN = pathlib.Path(__file__).parent / "golden"
SPECIAL, STATELESS = (json.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes())) for name in ("special", "stateless"))
# TensorFlow's own float32 kernels are off by this much; in float64 its Bessel functions and quantiles are
CLOSE = {"float32": dict(rtol=4e-5, atol=2e-6), "float64": dict(rtol=1e-9, atol=1e-12), "complex64": dict(rtol=1e-5),
        "complex128": dict(rtol=1e-12)}


def named(case): return functools.reduce(getattr, case["f"].split("."), tf)


def check(got, expected, slope=False):
    dtype, shape, values = expected["a"]
    assert isinstance(got, tf.Tensor) and got.dtype.name == dtype and list(got.shape) == shape
    want, got = array(dtype, shape, values), got.numpy()
    if slope: got = np.where(np.isnan(want), want, got)       # where TensorFlow's gradient is NaN, tfedu may know better
    if dtype in CLOSE: np.testing.assert_allclose(got, want, **CLOSE[dtype])
    else: np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("case", SPECIAL["cases"], ids=[f"{i}-{c['f']}" for i, c in enumerate(SPECIAL["cases"])])
@pytest.mark.filterwarnings("ignore")
def test_special(case, record_property):
    record_property("called", "tf." + case["f"])
    inputs, kw = decode(case["x"]), {k: decode(v) for k, v in case["k"].items()}
    sources = [v for v in inputs if isinstance(v, tf.Tensor) and v.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = named(case)(*inputs, **kw)
    check(y, case["y"])
    if "g" not in case: return
    weight = tf.cast(tf.constant((np.arange(int(tf.size(y))) * 7 % 5 - 1.5).reshape(tuple(y.shape))), y.dtype)
    found = iter(tape.gradient(y, sources, weight))
    for source, want in zip(inputs, case["g"], strict=True):
        if isinstance(source, tf.Tensor) and source.dtype.is_floating:
            got = next(found)
            if want is not None: check(got, want, slope=True)


@pytest.mark.parametrize("case", STATELESS["cases"], ids=[f"{i}-{c['f']}" for i, c in enumerate(STATELESS["cases"])])
def test_random(case, record_property):
    kw = {k: decode(v) for k, v in case["k"].items()}
    if "generator" in case:
        g = tf.random.Generator.from_state(case["generator"], alg="threefry")
        y = getattr(g, case["f"])(*case["x"], **kw)
        assert g.state.numpy().tolist() == case["after"]
    else:
        record_property("called", "tf." + case["f"])
        if case["global"] is not None: tf.random.set_seed(case["global"])
        for _ in range(case["times"]): y = named(case)(*decode(case["x"]), **kw)
        tf.random.set_seed(None)
    dtype, shape, values = case["y"]["a"]
    assert y.dtype.name == dtype and list(y.shape) == shape
    got, want = y.numpy().astype(np.float64), np.array(values, np.float64).reshape(shape)
    if y.dtype.is_integer: assert y.numpy().ravel().tolist() == values
    elif case["f"] == "uniform" or case["f"].endswith("_uniform"): np.testing.assert_array_equal(got, want)
    else: np.testing.assert_allclose(got, want,
            **{2: dict(rtol=2e-3, atol=1e-3), 4: dict(rtol=3e-6, atol=2e-7), 8: dict(rtol=1e-12)}[y.dtype.size])


def test_the_records_are_what_they_say():
    assert len(SPECIAL["cases"]) >= 100 and len(STATELESS["cases"]) >= 100 and SPECIAL["tensorflow"] == STATELESS["tensorflow"]
    assert sum(f.stat().st_size for f in GOLDEN.glob("s*l*.json.gz")) < 300_000
