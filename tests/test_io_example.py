"""Parsers of examples against TensorFlow's own answers, and against bytes that are no examples."""
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.ops.example import write_example
from tfedu.ops.sequence_example import write_sequence_example

RECORD = json.loads(gzip.decompress((Path(__file__).parent / "golden" / "io.json.gz").read_bytes()))
CASES = [pytest.param(case, id=f"{i}-{case['f']}") for i, case in enumerate(RECORD["cases"])]


def array(dtype, shape, values):
    if dtype == "string": return np.array([*[v.encode("latin-1") for v in values], None], object)[:-1].reshape(shape)
    if dtype.startswith("complex"): return np.array(values, float).reshape(-1, 2).view(complex).reshape(shape).astype(dtype)
    return np.array([float(v) if "float" in dtype else v for v in values], tf.as_dtype(dtype).as_numpy_dtype).reshape(shape)


def feature(kind, settings):
    made = tf.io
    for part in kind.split("."): made = getattr(made, part)
    return made(**{k: decode(v) for k, v in settings.items()})


def decode(v):
    if isinstance(v, list): return [decode(part) for part in v]
    if not isinstance(v, dict): return v
    (kind, value), = v.items()
    return {"a": lambda: tf.constant(array(*value)), "x": lambda: float(value), "d": lambda: tf.as_dtype(value),
            "t": lambda: tuple(map(decode, value)), "o": lambda: feature(*value), "map": lambda: {k: decode(x) for k, x in value.items()},
            "v": lambda: tf.SparseTensor(*map(decode, value))}[kind]()


def check(got, want):
    (kind, value), = want.items() if isinstance(want, dict) else [(None, want)]
    if kind == "map":
        assert got.keys() == value.keys()
        for key in value: check(got[key], value[key])
    elif kind == "t" or kind is None:
        for g, w in zip(got, value, strict=True): check(g, w)
    elif kind == "v":
        for g, w in zip((got.indices, got.values, got.dense_shape), value, strict=True): check(g, w)
    elif kind == "r":
        for g, w in zip((got.flat_values, *got.nested_row_splits), value, strict=True): check(g, w)
    else:
        assert (got.dtype.name, got.shape.as_list()) == tuple(value[:2])
        np.testing.assert_array_equal(np.asarray(got.numpy(), object if value[0] == "string" else None), array(*value))


@pytest.mark.parametrize("case", CASES)
def test_as_tensorflow(case, record_property):
    record_property("called", f"tf.io.{case['f']}")
    record_property("golden", 1)
    f, x, k = getattr(tf.io, case["f"]), decode(case["x"]), {key: decode(v) for key, v in case["k"].items()}
    if "error" in case["y"]:
        kind = case["y"]["error"]
        with pytest.raises(getattr(tf.errors, kind, None) or {"ValueError": ValueError}[kind]): f(*x, **k)
    else: check(f(*x, **k), case["y"])


FEATURES = {"a": tf.io.FixedLenFeature([2], tf.float32, [0., 0.]), "b": tf.io.VarLenFeature(tf.string),
            "c": tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.RowLengths("d")]),
            "e": tf.io.SparseFeature("d", "c", tf.int64, 10), "f": tf.io.FixedLenSequenceFeature([], tf.int64, True)}
GOOD = write_example({"a": [1., 2.], "b": ["x", "yz"], "c": np.array([5, 6, 300]), "d": np.array([1, 2, 0]), "f": np.array([-1])})
STEPS = {"x": tf.io.FixedLenSequenceFeature([1], tf.float32, True), "w": tf.io.RaggedFeature(tf.string), "v": tf.io.VarLenFeature(tf.int64)}
SEQUENCE = write_sequence_example({"a": [1., 2.]}, {"x": [[1.], [2.]], "w": [["p"], []], "v": [np.array([3, 4])]})


def damage(data, cut, flips):
    data = bytearray(data[:len(data) - cut])
    for at, bit in flips:
        if data: data[at % len(data)] ^= 1 << bit
    return bytes(data)


damaged = st.tuples(st.integers(0, 40), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 7)), max_size=5))


@given(damaged)
def test_damaged_examples(how):
    data = damage(GOOD, *how)
    try: assert tf.io.parse_single_example(data, FEATURES).keys() == FEATURES.keys()
    except tf.errors.InvalidArgumentError: pass
    try: tf.io.parse_example([data, GOOD], FEATURES)
    except tf.errors.InvalidArgumentError: pass


@given(damaged)
def test_damaged_sequences(how):
    try: tf.io.parse_single_sequence_example(damage(SEQUENCE, *how), {"a": FEATURES["a"]}, STEPS)
    except tf.errors.InvalidArgumentError: pass


@given(st.binary(max_size=60))
def test_any_bytes(data):
    for parse in (lambda: tf.io.parse_example([data], FEATURES), lambda: tf.io.parse_sequence_example([data], None, STEPS)):
        try: parse()
        except tf.errors.InvalidArgumentError: pass


lists = [st.lists(kind, min_size=1) for kind in (st.binary(max_size=4), st.floats(width=32), st.integers(-2**63, 2**63 - 1))]


@given(st.dictionaries(st.text(max_size=3), st.one_of(lists), min_size=1))
def test_there_and_back(features):
    kinds = {bytes: tf.string, float: tf.float32, int: tf.int64}
    data = write_example({k: np.array(v) if isinstance(v[0], int) else v for k, v in features.items()})
    found = tf.io.parse_single_example(data, {k: tf.io.VarLenFeature(kinds[type(v[0])]) for k, v in features.items()})
    for key, values in features.items():
        np.testing.assert_array_equal(found[key].values.numpy(), np.array(values, kinds[type(values[0])].as_numpy_dtype))


def test_names_of_examples_are_in_errors():
    with pytest.raises(tf.errors.InvalidArgumentError, match="feature n of second"):
        tf.io.parse_example([write_example({"n": [1.]}), b""], {"n": tf.io.FixedLenFeature([], tf.float32)}, ["first", "second"])


def test_sparse_places_outside_are_refused():
    data = write_example({"at": np.array([5]), "v": [1.]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"place \[5\] is outside of \[4\]"):
        tf.io.parse_single_example(data, {"s": tf.io.SparseFeature("at", "v", tf.float32, 4)})


def test_bad_features():
    for features, kind in (({"n": tf.int64}, TypeError), ({"n": tf.io.VarLenFeature(tf.int32)}, ValueError), ({}, ValueError),
                           ({"n": tf.io.FixedLenSequenceFeature([], tf.int64)}, ValueError),
                           ({"n": tf.io.FixedLenFeature([None], tf.int64)}, ValueError),
                           ({"n": tf.io.FixedLenFeature([2], tf.int64, 0)}, ValueError),
                           ({"n": tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.UniformRowLength(0)])}, ValueError)):
        with pytest.raises(kind): tf.io.parse_example([GOOD], features)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"): tf.io.parse_single_example([GOOD], FEATURES)
    with pytest.raises(tf.errors.InvalidArgumentError, match="vector"): tf.io.parse_example([[GOOD]], FEATURES)
    with pytest.raises(ValueError, match="no features"): tf.io.parse_sequence_example([SEQUENCE])


def test_ragged_steps_with_rows():
    data = write_sequence_example({}, {"v": [np.array([1, 2, 3]), np.array([4])], "n": [np.array([2, 1]), np.array([1])]})
    part = tf.io.RaggedFeature.RowLengths("n")
    found = tf.io.parse_single_sequence_example(data, None, {"r": tf.io.RaggedFeature(tf.int64, "v", [part])})[1]["r"]
    assert found.to_list() == [[[1, 2], [3]], [[4]]]
