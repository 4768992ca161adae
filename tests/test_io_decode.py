"""Raw bytes, base 64, tables with commas, sparse tensors as strings."""
import base64
import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf


@given(st.lists(st.binary(max_size=20), max_size=4), st.booleans())
def test_base64(texts, pad):
    letters = tf.io.encode_base64(np.array([*texts, None], object)[:-1], pad=pad)
    assert letters.numpy().tolist() == [base64.urlsafe_b64encode(t) if pad else base64.urlsafe_b64encode(t).rstrip(b"=") for t in texts]
    assert tf.io.decode_base64(letters).numpy().tolist() == texts


@given(st.binary(max_size=12))
def test_base64_of_anything(text):
    try: tf.io.decode_base64(np.array(text, object))
    except tf.errors.InvalidArgumentError: pass


@pytest.mark.parametrize("kind", ["uint8", "int16", "int32", "float16", "bfloat16", "float64", "complex64"])
@pytest.mark.parametrize("little", [True, False])
def test_raw(kind, little):
    x = tf.cast(tf.constant([[1, 2], [3, 4]]), kind)
    parts = x.numpy().view(f"u{x.dtype.size // (2 if x.dtype.is_complex else 1)}")
    texts = [row.astype(row.dtype.newbyteorder("<" if little else ">")).tobytes() for row in parts]
    np.testing.assert_array_equal(tf.io.decode_raw(np.array(texts, object), kind, little_endian=little).numpy(), x.numpy())


def test_raw_refuses():
    with pytest.raises(tf.errors.InvalidArgumentError, match="one length"): tf.io.decode_raw(["abcd", "ab"], tf.int16)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no multiple of 4"): tf.io.decode_raw(["abcd"], tf.int32, fixed_length=6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a number"): tf.io.decode_raw(["abcd"], tf.string)
    assert tf.io.decode_raw(tf.constant([], tf.string), tf.int32).shape == (0, 0)


words = st.text(st.sampled_from('ab ,"\n\r7'), max_size=6)


@given(st.lists(st.lists(words, min_size=2, max_size=2), min_size=1, max_size=4))
def test_csv_as_python_writes_it(rows):
    lines = []
    for row in rows:
        file = io.StringIO()
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="").writerow(row)
        lines.append(file.getvalue())
    columns = tf.io.decode_csv(lines, [["-"], ["-"]])
    for column, wanted in zip(columns, zip(*rows, strict=True), strict=True):
        assert [t.decode() for t in column.numpy()] == [w or "-" for w in wanted]


@given(st.binary(max_size=20), st.sampled_from([0, 0., "", np.int64(0), np.float64(0)]))
def test_csv_of_anything(text, default):
    try: tf.io.decode_csv(np.array([text], object), [default, default])
    except tf.errors.InvalidArgumentError: pass


def test_csv_numbers():
    found = tf.io.decode_csv(["-5,1e3,2147483648,0.1"], [[0], [0.], tf.constant([0], tf.int64), tf.constant([0.], tf.float64)])
    assert [x.numpy().tolist() for x in found] == [[-5], [1000.], [2147483648], [.1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="field 0 of record 1 is not a valid int32"):
        tf.io.decode_csv(["1", "2147483648"], [[0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="required but missing"):
        tf.io.decode_csv(["1,2", ",2"], [tf.constant([], tf.int32), [0]])


def test_csv_refuses():
    for call, kind in ((lambda: tf.io.decode_csv(["1"], [[0]], field_delim=";;"), tf.errors.InvalidArgumentError),
                       (lambda: tf.io.decode_csv(["1,2"], [[0], [0]], select_cols=[1, 0]), ValueError),
                       (lambda: tf.io.decode_csv(["1,2"], [[0]], select_cols=[0, 1]), ValueError),
                       (lambda: tf.io.decode_csv(["1,2"], [[0], [0]], select_cols=[0, 2]), tf.errors.InvalidArgumentError),
                       (lambda: tf.io.decode_csv(["1"], [[True]]), tf.errors.InvalidArgumentError)):
        with pytest.raises(kind): call()


def test_sparse_there_and_back():
    sp = tf.SparseTensor([[0, 1, 0], [2, 0, 1]], ["a", "b"], [3, 2, 2])
    rows = tf.io.serialize_many_sparse(sp)
    assert rows.shape == (3, 3)
    back = tf.io.deserialize_many_sparse(rows, tf.string, rank=3)
    for a, b in ((back.indices, sp.indices), (back.values, sp.values), (back.dense_shape, sp.dense_shape)):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    one = tf.io.deserialize_many_sparse([tf.io.serialize_sparse(sp)], tf.string)
    assert one.shape == (1, 3, 2, 2)


def test_sparse_refuses():
    sp = tf.SparseTensor([[0, 1]], [1.], [2, 2])
    with pytest.raises(tf.errors.UnimplementedError, match="tf.string"): tf.io.serialize_sparse(sp, out_type=tf.variant)
    with pytest.raises(tf.errors.InvalidArgumentError, match="two axes"): tf.io.serialize_many_sparse(tf.SparseTensor([[0]], [1.], [2]))
    with pytest.raises(TypeError, match="SparseTensor"): tf.io.serialize_sparse(tf.constant([1.]))
    a, b, c = tf.io.serialize_sparse(sp).numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not belong together"):
        tf.io.deserialize_many_sparse([[a, b, a]], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError): tf.io.deserialize_many_sparse([[b"", b, c]], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="three strings"): tf.io.deserialize_many_sparse([a, b, c], tf.float32)


@given(st.integers(0, 2), st.integers(0, 60), st.integers(0, 7))
def test_damaged_sparse(part, at, bit):
    texts = [bytearray(t) for t in tf.io.serialize_sparse(tf.SparseTensor([[0, 1], [1, 1]], [1., 2.], [2, 2])).numpy()]
    texts[part][at % len(texts[part])] ^= 1 << bit
    try: tf.io.deserialize_many_sparse(np.array([[bytes(t) for t in texts]], object), tf.float32)
    except tf.errors.InvalidArgumentError: pass
