"""Replays tests/golden/arrays.json.gz: sorting, counting, segments, partitions and assertions as TensorFlow has them, errors included."""
import functools
import gzip
import json
import pathlib

import numpy as np
import pytest
from test_golden import check, decode

import tfedu as tf

FILE = pathlib.Path(__file__).parent / "golden" / "arrays.json.gz"
GOLDEN = json.loads(gzip.decompress(FILE.read_bytes()))
ERRORS = {"InvalidArgumentError": tf.errors.InvalidArgumentError, "ValueError": ValueError, "TypeError": TypeError}


def leaves(values): return [v for x in values for v in (leaves(x) if isinstance(x, list) else [x])]


def floating(v): return isinstance(v, tf.Tensor) and v.dtype.is_floating


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[f"{i}-{c['f']}" for i, c in enumerate(GOLDEN["cases"])])
def test_golden(case, record_property):
    record_property("called", "tf." + case["f"])
    f, inputs = functools.reduce(getattr, case["f"].split("."), tf), decode(case["x"])
    kw = {k: decode(v) for k, v in case["k"].items()}
    if "error" in case:
        with pytest.raises(ERRORS[case["error"]], match=case["f"].split(".")[-1].removesuffix("_bins").removeprefix("unsorted_")):
            f(*inputs, **kw)
        return
    sources = [v for v, g in zip(inputs, case.get("g", []), strict=False) if floating(v)]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f(*inputs, **kw)
    outputs, expected = (list(y), case["y"]) if isinstance(case["y"], list) else ([y], [case["y"]])
    assert len(outputs) == len(expected)
    for got, want in zip(outputs, expected, strict=True): check(got, want)
    if "g" not in case or not sources: return
    weights = [tf.cast(tf.constant((np.arange(int(tf.size(o))) * 7 % 5 - 1.5).reshape(tuple(o.shape))), o.dtype) for o in outputs]
    found = iter(tape.gradient(outputs, sources, weights))
    for source, want in zip(inputs, case["g"], strict=True):
        if not floating(source): continue
        got = next(found)
        assert (got is None) == (want is None)
        if want is not None: check(tf.convert_to_tensor(got), want, gradient=True)


def test_the_record_is_what_it_says():
    assert GOLDEN["tensorflow"].startswith("2.") and len(GOLDEN["cases"]) >= 200 and FILE.stat().st_size < 50_000
