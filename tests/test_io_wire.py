"""The wire format, and tensors in it: there and back, and bytes that are neither."""
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.ops.wire import Message, field, fields, read_varint, read_varints, shape_message, varint, varints

DTYPES = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64,
          tf.bool, tf.complex64, tf.complex128]


@given(st.lists(st.integers(-2**63, 2**63 - 1)))
def test_varints(numbers):
    data = b"".join(varint(n) for n in numbers)
    a = np.array(numbers, np.int64)
    assert varints(a) == data
    np.testing.assert_array_equal(read_varints(data), a)
    at = 0
    for n in numbers:
        found, at = read_varint(data, at)
        assert found == n % 2**64


@given(st.binary(max_size=80))
def test_fields_of_anything(data):
    try: assert all(0 < number < 2**29 and wire in (0, 1, 2, 3, 5) for number, wire, _ in fields(data))
    except tf.errors.InvalidArgumentError: pass


@given(st.binary(max_size=30))
def test_varints_of_anything(data):
    try: assert len(read_varints(data)) <= len(data)
    except tf.errors.InvalidArgumentError: pass


def test_messages_merge_by_concatenation():
    both = Message(field(1, b"ab") + field(2, 5) + field(1, b"cd") + field(2, 7))
    assert (both.merged(1), both.last(2), both.last(3)) == (b"abcd", 7, 0)


def test_groups_are_passed_over():
    group = varint(4 << 3 | 3) + field(1, 9) + varint(4 << 3 | 4)
    assert [(n, v) for n, wire, v in fields(group + field(2, 5)) if wire == 0] == [(2, 5)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="group 4 does not end"): list(fields(group[:-1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="wire type 3"): list(fields(varint(4 << 3 | 3) * 101))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 1, 3)])
def test_tensors(dtype, shape):
    x = tf.cast(tf.constant(np.arange(int(np.prod(shape))).reshape(shape)), dtype)
    y = tf.io.parse_tensor(tf.io.serialize_tensor(x), dtype)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    np.testing.assert_array_equal(y.numpy(), x.numpy())


def test_texts_keep_their_zero_bytes():
    x = tf.constant([[b"a\0", b""], [b"\0", "tee"]])
    assert tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.string).numpy().tolist() == x.numpy().tolist()
    assert tf.constant(b"\0a\0\0").numpy() == b"\0a\0\0"


flips = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 7)), max_size=4)


@given(st.integers(0, 30), flips, st.sampled_from(["float32", "string", "int64"]))
def test_damaged_tensors(cut, flips, kind):
    x = tf.constant(["a", "bc"]) if kind == "string" else tf.cast(tf.constant([[1, 2, 3]]), kind)
    data = bytearray(tf.io.serialize_tensor(x).numpy())[:-cut or None]
    for at, bit in flips:
        if data: data[at % len(data)] ^= 1 << bit
    try: assert tf.io.parse_tensor(bytes(data), kind).dtype.name == kind
    except tf.errors.InvalidArgumentError: pass


@given(st.binary(max_size=60), st.sampled_from(["float32", "string", "int64", "bool", "complex64", "bfloat16"]))
def test_tensors_of_anything(data, kind):
    try: tf.io.parse_tensor(data, kind)
    except tf.errors.InvalidArgumentError: pass


@pytest.mark.parametrize("sizes", [(2**62, 4), (2**40,), (-1,), (0, 2**62, 2**62), (1,) * 65])
def test_huge_shapes_are_refused(sizes):
    data = field(1, tf.float32.as_datatype_enum) + field(2, shape_message(sizes))
    with pytest.raises(tf.errors.InvalidArgumentError): tf.io.parse_tensor(data, tf.float32)


def test_parse_tensor_says_what_is_wrong():
    data = tf.io.serialize_tensor([1.])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out_type is int32, the bytes hold float32"):
        tf.io.parse_tensor(data, tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"): tf.io.parse_tensor([data], tf.float32)


def test_the_record_is_from_tensorflow():
    record = json.loads(gzip.decompress((Path(__file__).parent / "golden" / "io.json.gz").read_bytes()))
    assert record["tensorflow"].startswith("2.") and len(record["cases"]) > 150


def test_text_beside_bytes():
    assert tf.constant(["tea", b"\xff\0"]).numpy().tolist() == [b"tea", b"\xff\0"]
