"""Records ops_sparse.json.gz: sparse tensors, and bytes. See recording.py."""
import base64
import gzip
import zlib

import numpy as np
import tensorflow as tf
from recording import WIDE, Public, array, data, record, refused, save, text

PLACES = [[0, 1], [1, 0], [1, 3], [2, 2]]


def sparse(dtype="float32", seed=0, places=PLACES, shape=(3, 4)):
    return tf.SparseTensor(places, text(*"wxyz") if dtype == "string" else data((len(places),), dtype, seed=seed), shape)


A, B = sparse(), sparse(seed=1, places=[[0, 0], [1, 0], [1, 3], [2, 3]])
MESSY = tf.SparseTensor([[1, 3], [0, 1], [1, 0]], array([1, 2, 3]), [3, 4])


def made_and_unmade():
    for dtype in ("float32", "float64", "int32", "bool", "string", "complex64"):
        record("sparse.to_dense", sparse(dtype)), record("sparse.transpose", sparse(dtype))
        record("sparse.from_dense", text("", "a", "").reshape(1, 3) if dtype == "string" else data((2, 3), dtype) * array([1, 0, 1], dtype))
    record("sparse.to_dense", A, default_value=array(7.0))
    record("sparse.to_dense", tf.SparseTensor(np.zeros((0, 2), np.int64), array([]), [2, 2]))
    record("sparse.to_dense", MESSY, validate_indices=False), refused("sparse.to_dense", "InvalidArgumentError", MESSY)
    refused("sparse.to_dense", "InvalidArgumentError", tf.SparseTensor([[0, 0], [0, 0]], array([1, 2]), [1, 1]))
    refused("sparse.to_dense", "InvalidArgumentError", tf.SparseTensor([[0, 5]], array([1]), [1, 2]))
    record("sparse.eye", 3), record("sparse.eye", 2, num_columns=4, dtype=tf.int32), record("sparse.reorder", MESSY)
    record("sparse.to_indicator", tf.SparseTensor([[0, 0], [0, 1], [1, 0]], array([2, 0, 3], "int64"), [3, 2]), 4)
    record("sparse.map_values", Public("math.square"), A), record("sparse.map_values", Public("math.add"), A, sparse(seed=1))


def shaped():
    record("sparse.transpose", A, perm=[0, 1])
    record("sparse.transpose", sparse(places=[[0, 0, 1], [1, 2, 0]], shape=(2, 3, 2)), perm=[2, 0, 1])
    record("sparse.reshape", A, [4, 3]), record("sparse.reshape", A, [2, -1]), refused("sparse.reshape", "InvalidArgumentError", A, [5, 3])
    for axis in (0, 1, -1): record("sparse.concat", axis, [A, B], gradient=False)
    record("sparse.concat", 0, [A, sparse(shape=(3, 6))], expand_nonconcat_dims=True, gradient=False)
    refused("sparse.concat", "InvalidArgumentError", 0, [A, sparse(shape=(3, 6))])
    for axis in (0, 1): record("sparse.split", A, 2, axis)
    record("sparse.split", sp_input=A, num_split=3, axis=1), record("sparse.slice", A, [1, 0], [2, 3])
    record("sparse.slice", A, [0, 2], [5, 5])
    for axis in (None, 0, 1, -1): record("sparse.expand_dims", A, axis)
    record("sparse.reset_shape", A), record("sparse.reset_shape", A, [5, 6]), refused("sparse.reset_shape", "ValueError", A, [2, 6])
    record("sparse.retain", A, np.array([True, False, True, False])), refused("sparse.retain", "ValueError", A, np.array([True, False]))
    filled = sparse(places=[[0, 1], [2, 0], [2, 3], [4, 1]], shape=(6, 4))
    record("sparse.fill_empty_rows", filled, array(9.0)), record("sparse.fill_empty_rows", A, array(9.0))
    record("sparse.fill_empty_rows", sparse("int64", places=[[1, 0]], shape=(2, 2)), array(-1, "int64"))


def arithmetic():
    for dtype in (*WIDE, "int32", "complex64"):
        record("sparse.add", sparse(dtype), sparse(dtype, 1, [[0, 0], [1, 0], [1, 3], [2, 3]]), gradient=False)
        record("sparse.add", sparse(dtype), data((3, 4), dtype, seed=2), gradient=False)
    record("sparse.add", A, tf.SparseTensor(PLACES, -A.values, [3, 4]), threshold=.1, gradient=False)
    for name in ("maximum", "minimum"):
        record("sparse." + name, A, B, gradient=False), record("sparse." + name, sparse("int32"), sparse("int32", 1))
    for dtype in (*WIDE, "complex64"):
        record("sparse.sparse_dense_matmul", sparse(dtype), data((4, 2), dtype, seed=1))
        record("sparse.sparse_dense_matmul", sparse(dtype), data((2, 3), dtype, seed=1), adjoint_a=True, adjoint_b=True)
    record("sparse.sparse_dense_matmul", sparse("int32"), data((4, 2), "int32"))
    record("sparse.sparse_dense_matmul", MESSY, data((4, 2), "float32"))
    refused("sparse.sparse_dense_matmul", "InvalidArgumentError", A, data((3, 2), "float32"))
    for axis, keep in ((None, False), (0, False), (1, True), ([0, 1], True), (-1, False)):
        for name in ("sum", "max"): record("sparse.reduce_" + name, A, axis=axis, keepdims=keep, gradient=name == "sum")
    record("sparse.reduce_sum", sparse("int32"), axis=1, output_is_sparse=True)
    record("sparse.reduce_max", A, axis=0, output_is_sparse=True, gradient=False)
    record("sparse.softmax", A), record("sparse.softmax", sparse("float64", places=[[0, 0, 1], [0, 0, 2], [1, 1, 0]], shape=(2, 2, 3)))
    numbers = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], array([2, 2, 1], "int64"), [2, 2])
    for axis in (0, -1): record("sparse.bincount", numbers, axis=axis)
    record("sparse.bincount", array([[1, 1, 3], [0, 0, 0]], "int64"), axis=-1, minlength=5)
    record("sparse.bincount", array([[1, 1, 3], [0, 0, 0]], "int32"), axis=-1, maxlength=3)
    record("sparse.bincount", numbers, axis=-1, binary_output=True)
    record("sparse.bincount", array([1, 1, 2], "int64"), weights=array([.5, 2, 4]), axis=0)
    for op in ("union", "intersection", "difference"):
        record("sets." + op, array([[1, 2, 3], [4, 4, 5]], "int32"), array([[2, 3, 9], [5, 6, 7]], "int32"))
    record("sets.size", numbers), record("sets.difference", array([[1, 2]], "int32"), array([[2, 3]], "int32"), aminusb=False)


def crosses():
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], text("a", "b", "c"), [2, 2])
    record("sparse.cross", [words, text("x", "y").reshape(2, 1)]), record("sparse.cross", [words, words])
    record("sparse.cross", [words, array([[5], [7]], "int64")], separator=text("-")[0])
    for buckets in (0, 100): record("sparse.cross_hashed", [words, array([[5], [7]], "int64")], num_buckets=buckets)
    record("sparse.cross_hashed", [words, words], num_buckets=50, hash_key=99)


def messages():
    record("io.serialize_sparse", A), record("io.serialize_many_sparse", A)
    record("io.deserialize_many_sparse", np.asarray(tf.io.serialize_many_sparse(A)), tf.float32)
    sound = array([[.5, -.5], [.25, 0], [-1, 1]])
    record("audio.encode_wav", sound, array(8000, "int32"), gradient=False)
    wav = np.array(tf.audio.encode_wav(sound, 8000).numpy(), object)
    record("audio.decode_wav", wav), record("audio.decode_wav", wav, desired_channels=2, desired_samples=5)
    refused("audio.decode_wav", "InvalidArgumentError", text("junk")[0])


def octets():
    raw = text("\x01\x02\x03\x04", "\xff\x00\x80\x7f")
    for dtype in (tf.uint8, tf.int8, tf.uint16, tf.int32, tf.float32):
        record("io.decode_raw", raw, dtype), record("io.decode_raw", raw, dtype, little_endian=False)
    record("io.decode_raw", text("abc", "d"), tf.uint8, fixed_length=4), record("io.decode_raw", text("\x01")[0], tf.bool)
    record("io.decode_raw", text("", ""), tf.int16)
    refused("io.decode_raw", "InvalidArgumentError", text("abc", "d"), tf.uint8)
    refused("io.decode_raw", "InvalidArgumentError", text("abc"), tf.int16)
    for pad in (False, True): record("io.encode_base64", text("a", "ab", "abc", "\xfb\xff", ""), pad=pad)
    for coded in (text("YQ", "YWI"), text("YQ==", "-_8")): record("io.decode_base64", coded)
    refused("io.decode_base64", "InvalidArgumentError", text("a*"))
    for dtype in ("float32", "float16", "bfloat16", "int64", "bool", "complex128", "string"):
        x = text("hi", "") if dtype == "string" else data((2, 2), dtype)
        record("io.parse_tensor", np.array(tf.io.serialize_tensor(x).numpy(), object), tf.as_dtype(dtype)), record("io.serialize_tensor", x)
    refused("io.parse_tensor", "InvalidArgumentError", np.array(tf.io.serialize_tensor(array([1.0])).numpy(), object), tf.int32)
    refused("io.parse_tensor", "InvalidArgumentError", text("\x00junk")[0], tf.int32)
    for kind, packed in (("ZLIB", zlib.compress(b"words words")), ("GZIP", gzip.compress(b"words words", mtime=0)), ("", b"words")):
        record("io.decode_compressed", np.array([packed], object), compression_type=kind)
    record("io.decode_csv", text("1,2.5,a", "3,,\"b,c\""), [array([0], "int32"), array([7.0]), text("x")])
    record("io.decode_csv", text("1|NA|q"), [array([], "int64"), array([1.5])], field_delim="|", na_value="NA", select_cols=[0, 1])
    refused("io.decode_csv", "InvalidArgumentError", text("1,2"), [array([0], "int32")])
    refused("io.decode_csv", "InvalidArgumentError", text(",2"), [array([], "int32"), array([0], "int32")])
    for shape in ((3, 4, 3), (3, 4, 1), (2, 2, 4)):
        png = np.array(tf.io.encode_png(np.random.RandomState(0).randint(0, 256, shape).astype("uint8")).numpy(), object)
        record("io.decode_png", png), record("io.decode_png", png, channels=3)
        record("io.decode_image", png, channels=1) if shape[2] < 4 else None
    deep = np.array(tf.io.encode_png(np.random.RandomState(0).randint(0, 65536, (2, 3, 1)).astype("uint16")).numpy(), object)
    record("io.decode_png", deep, dtype=tf.uint16), record("io.decode_image", deep, dtype=tf.float32)
    bmp = base64.b64decode("Qk1GAAAAAAAAADYAAAAoAAAAAgAAAAIAAAABABgAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAQIDBAUGAAAHCAkKCwwAAA==")
    record("io.decode_bmp", np.array(bmp, object))
    refused("io.decode_png", "InvalidArgumentError", text("junk")[0]), refused("io.decode_image", "InvalidArgumentError", text("junk")[0])
    record("io.is_jpeg", text("junk")[0])


if __name__ == "__main__": save("ops_sparse.json.gz", made_and_unmade, shaped, arithmetic, crosses, messages, octets)
