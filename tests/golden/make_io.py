"""Records io.json.gz with a TensorFlow that is installed: what its parsers make of examples, and files that it wrote.

python make_io.py

A case is {"f": public name after `tf.io.`, "x": arguments, "k": keywords, "y": result}, values as recording.py has them, and
{"o": [class name, keywords]} for a feature. "files" are TFRecord files, Latin-1, by kind of compression.
"""
import gzip
import json
import os
import pathlib
import tempfile

import tensorflow as tf
from recording import encode

CASES, FILES = [], {}


class Config:
    "A feature that is wanted, to be written down and to be made."
    def __init__(self, kind, **k): self.kind, self.k = kind, k
    def make(self):
        k = dict(self.k)
        if "partitions" in k: k["partitions"] = [p.make() for p in k["partitions"]]
        at = self.kind.split(".")
        made = getattr(getattr(tf.io, at[0]), at[1]) if len(at) > 1 else getattr(tf.io, self.kind)
        return made(**k)


def written(v):
    if isinstance(v, Config): return {"o": [v.kind, {k: written(x) for k, x in v.k.items()}]}
    if isinstance(v, dict): return {"map": {k: written(x) for k, x in v.items()}}
    if isinstance(v, list | tuple) and not hasattr(v, "_fields") and any(isinstance(x, Config) for x in v): return [written(x) for x in v]
    if isinstance(v, tuple) and not hasattr(v, "_fields"): return {"t": [written(x) for x in v]}
    return encode(v)


def made(v):
    if isinstance(v, Config): return v.make()
    if isinstance(v, dict): return {k: made(x) for k, x in v.items()}
    return v


def record(name, *x, **k):
    case = {"f": name, "x": [written(v) for v in x], "k": {key: written(v) for key, v in k.items()}}
    try: y = getattr(tf.io, name)(*[made(v) for v in x], **{key: made(v) for key, v in k.items()})
    except Exception as error:
        print(name, k, type(error).__name__, str(error).split("}} ")[-1][:300])
        y = {"error": type(error).__name__}
        CASES.append(case | {"y": y})
        return
    CASES.append(case | {"y": written(y)})


def feature(v):
    if v == "float": return tf.train.Feature(float_list=tf.train.FloatList())
    if v == "bytes": return tf.train.Feature(bytes_list=tf.train.BytesList())
    if isinstance(v[0] if len(v) else 0, bytes): return tf.train.Feature(bytes_list=tf.train.BytesList(value=v))
    if len(v) and isinstance(v[0], float): return tf.train.Feature(float_list=tf.train.FloatList(value=v))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=v))


def example(**k):
    return tf.train.Example(features=tf.train.Features(feature={n: feature(v) for n, v in k.items()})).SerializeToString(deterministic=True)


def sequence(context, **lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={n: feature(v) for n, v in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list={n: tf.train.FeatureList(feature=[feature(v) for v in frames])
                                                          for n, frames in lists.items()})).SerializeToString(deterministic=True)


def fixed(*shape, dtype=tf.int64, **k): return Config("FixedLenFeature", shape=list(shape), dtype=dtype, **k)
def steps(*shape, dtype=tf.int64, **k): return Config("FixedLenSequenceFeature", shape=list(shape), dtype=dtype, **k)
def some(dtype=tf.int64): return Config("VarLenFeature", dtype=dtype)
def ragged(dtype=tf.int64, **k): return Config("RaggedFeature", dtype=dtype, **k)
def part(kind, *x): return Config(f"RaggedFeature.{kind}", **dict(zip(("key" if kind != "UniformRowLength" else "length",), x)))


A = example(n=[7], xs=[1., 2.5, -3.], words=[b"tea", b"", b"\xff"], at=[2, 0], at2=[1, 1], v=[.5, -.5], s=[0, 2, 3],
            ids=[0, 0, 2], two=[1, 2, 3, 4])
B = example(n=[-9], xs=[4., 5., 6.], words=[b"x"], at=[], at2=[], v="float", s=[0, 0, 3], ids=[1, 1, 1], two=[9, 8])
EMPTY, NONE = example(), tf.constant([], tf.string)
WRONG = example(n="float")
unpacked = b"\n\x11\n\x0f\n\x01u\x12\n\x1a\x08\x08\x05\x08\xff\xff\x03\x08\x01"      # int64_list with values not packed
float_unpacked = b"\n\x13\n\x11\n\x01u\x12\x0c\x12\x0a\r\x00\x00\x80?\r\x00\x00\x00@"
twice = example(n=[1]) + example(n=[2, 3], m=[5])
unset = tf.train.Example(features=tf.train.Features(feature={"n": tf.train.Feature()})).SerializeToString()
unknown = b"\x7a\x02hi" + example(n=[4])
for serialized in ([A, B], [A], NONE):
    record("parse_example", serialized, {"n": fixed(), "xs": fixed(3, dtype=tf.float32), "words": some(tf.string)})
    record("parse_example", serialized, {"two": steps(2, allow_missing=True),
                                         "words": steps(dtype=tf.string, allow_missing=True, default_value=b"-")})
    record("parse_example", serialized, {"sp": Config("SparseFeature", index_key="at", value_key="v", dtype=tf.float32, size=4),
                                         "sp2": Config("SparseFeature", index_key=["at", "at2"], value_key="v", dtype=tf.float32,
                                                       size=[4, 3])})
    record("parse_example", serialized, {"two": ragged(), "words": ragged(tf.string, row_splits_dtype=tf.int64)})
    record("parse_example", serialized, {"r": ragged(tf.float32, value_key="xs", partitions=[part("RowSplits", "s")])})
    record("parse_example", serialized, {"r": ragged(tf.float32, value_key="xs", partitions=[part("ValueRowIds", "ids")])})
    record("parse_example", serialized, {"r": ragged(tf.int64, value_key="two", partitions=[part("UniformRowLength", 2)])})
for s in (A, B):
    record("parse_single_example", s, {"n": fixed(), "xs": fixed(3, 1, dtype=tf.float32), "words": some(tf.string)})
    record("parse_single_example", s, {"two": steps(2, allow_missing=True), "at": steps(allow_missing=True)})
    record("parse_single_example", s, {"sp": Config("SparseFeature", index_key="at", value_key="v", dtype=tf.float32, size=4)})
    record("parse_single_example", s, {"two": ragged(), "r": ragged(tf.float32, value_key="xs", partitions=[part("RowSplits", "s")])})
record("parse_single_example", EMPTY, {"n": fixed(default_value=3), "m": fixed(2, dtype=tf.float32, default_value=[1., 2.]),
                                       "w": some(tf.string),
                                       "q": steps(allow_missing=True), "r": ragged()})
record("parse_example", [EMPTY, A], {"n": fixed(1, default_value=[3]), "m": fixed(dtype=tf.string, default_value="no")})
for s in (unpacked, float_unpacked, twice, unset, unknown):
    wanted = {"u": some(tf.float32 if s is float_unpacked else tf.int64), "n": some(), "m": fixed(default_value=-1)}
    record("parse_single_example", s, wanted)
    record("parse_example", [s], wanted)
for k, row in {"starts": "RowStarts", "limits": "RowLimits", "lengths": "RowLengths"}.items():
    s = example(v=[10, 20, 30], starts=[0, 1], limits=[1, 3], lengths=[1, 2])
    record("parse_single_example", s, {"r": ragged(value_key="v", partitions=[part(row, k)])})
    record("parse_example", [s, s], {"r": ragged(value_key="v", partitions=[part(row, k)])})
nested = example(v=[1, 2, 3, 4, 5, 6, 7, 8], outer=[0, 1, 3], inner=[2, 2, 4])
for p in ([part("RowSplits", "outer"), part("RowLengths", "inner")], [part("RowLengths", "inner"), part("UniformRowLength", 1)],
          [part("UniformRowLength", 2), part("UniformRowLength", 2)]):
    record("parse_single_example", nested, {"r": ragged(value_key="v", partitions=p)})
    record("parse_example", [nested, nested], {"r": ragged(value_key="v", partitions=p)})
for serialized, features in (([A], {"missing": fixed()}), ([A], {"n": fixed(dtype=tf.string)}), ([A], {"xs": fixed(2, dtype=tf.float32)}),
                             ([WRONG], {"n": fixed(default_value=1)}), ([WRONG], {"n": some()}), ([b"\x7f\x01"], {"n": fixed()}),
                             ([EMPTY + b"\n\x05ab"], {"n": fixed()}), ([A], {"two": steps(3, allow_missing=True)}),
                             ([A], {"words": some(tf.int64)}), ([A], {"n": ragged(tf.string)}), ([A], {})):
    record("parse_example", serialized, features)
    record("parse_single_example", serialized[0], features)
C = sequence({"id": [5], "name": [b"c"]}, words=[[b"a", b"b"], [b"c"]], x=[[1., 2.], [3., 4.], [5., 6.]], k=[[1], [2]])
D = sequence({"id": [6]}, words=["bytes", [b"d"], [b"e", b"f", b"g"]], x=[[7., 8.]], k=[[3]])
E = sequence({"id": [8]})
for serialized in ([C, D], [C], [C, D, E]):
    record("parse_sequence_example", serialized, {"id": fixed(), "name": some(tf.string)},
           {"x": steps(2, dtype=tf.float32, allow_missing=True), "words": some(tf.string), "k": steps(allow_missing=True)})
    record("parse_sequence_example", serialized, {"id": ragged()}, {"words": ragged(tf.string), "k": ragged()})
for s in (C, D, E):
    record("parse_single_sequence_example", s, {"id": fixed(), "name": some(tf.string)},
           {"x": steps(2, dtype=tf.float32, allow_missing=True), "words": some(tf.string)})
    record("parse_single_sequence_example", s, {"id": ragged()}, {"words": ragged(tf.string), "k": ragged()})
    record("parse_single_sequence_example", s, None, {"k": steps()})
record("parse_sequence_example", [C], {"id": fixed(dtype=tf.string)}, {})
record("parse_sequence_example", [C], None, {"x": steps(3, dtype=tf.float32)})
record("parse_sequence_example", [C, D], None, {"nothing": steps(3, dtype=tf.float32)})
for dtype in ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
              "complex64", "complex128"):
    record("serialize_tensor", tf.cast(tf.constant([[0, 1, 2], [3, 4, 5]]), dtype))
record("serialize_tensor", tf.constant(["", "abc", "d" * 200]))
record("serialize_tensor", tf.constant(3.))
record("serialize_tensor", tf.zeros([0, 3]))


def tensor_proto(**k):
    from tensorflow.core.framework import tensor_pb2, tensor_shape_pb2
    dims = [tensor_shape_pb2.TensorShapeProto.Dim(size=n) for n in k.pop("shape")]
    return tensor_pb2.TensorProto(tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=dims), **k).SerializeToString()


for proto, dtype in ((dict(dtype=1, shape=[3], float_val=[1., 2.]), "float32"), (dict(dtype=3, shape=[2, 2], int_val=[-1]), "int32"),
                     (dict(dtype=9, shape=[2], int64_val=[-1, 5]), "int64"), (dict(dtype=19, shape=[2], half_val=[15360, 0]), "float16"),
                     (dict(dtype=14, shape=[1], half_val=[16256]), "bfloat16"), (dict(dtype=10, shape=[3], bool_val=[True, False]), "bool"),
                     (dict(dtype=8, shape=[1], scomplex_val=[1., 2.]), "complex64"),
                     (dict(dtype=2, shape=[2], double_val=[1.5]), "float64"),
                     (dict(dtype=23, shape=[1], uint64_val=[2**64 - 1]), "uint64"),
                     (dict(dtype=7, shape=[3], string_val=[b"x", b"y"]), "string"),
                     (dict(dtype=4, shape=[2], int_val=[255]), "uint8"), (dict(dtype=1, shape=[2]), "float32"),
                     (dict(dtype=7, shape=[2]), "string"),
                     (dict(dtype=6, shape=[2], int_val=[-3, -4]), "int8"), (dict(dtype=1, shape=[2], float_val=[1., 2., 3.]), "float32"),
                     (dict(dtype=1, shape=[-1], float_val=[1.]), "float32"), (dict(dtype=1, shape=[2], tensor_content=b"abc"), "float32")):
    record("parse_tensor", tensor_proto(**proto), tf.as_dtype(dtype))
record("decode_csv", ["1,2", " 3 , 4"], [[0], [0.]])
record("decode_csv", ['"a ""q"" b",x', 'plain,"y,\nz"'], [[""], [""]])
record("decode_csv", ["a b,c"], [[""], [""]], field_delim=" ")
for line in ('"a"b,1', 'a"b,1', '"ab,1', "x,1.5", "x,99999999999", "x,", ",", "x\n,1", 'x,1\n', 'x,1\r\n', "", "x,0x10", "x,+5", "x,1e3"):
    record("decode_csv", [line], [[""], [0]])
record("decode_csv", ['a"b,1'], [[""], [0]], use_quote_delim=False)
record("decode_csv", ["1,2,3"], [[0], [0]], select_cols=[0, 2])
record("decode_csv", [["1,2"], ["3,4"]], [tf.constant([], tf.int32), [0]])
for v in ("nan", "inf", "-Infinity", "1e400", "1_0", " 1", "1e-400"): record("decode_csv", [v], [[0.]])
for v in ("YQ=", "YQ===", "Y", "YR", "=", "YQ\n", "YW+/", "Y=Q="): record("decode_base64", v)
record("decode_compressed", b"\x1f\x8bjunk", "GZIP")
record("decode_compressed", b"plain", "SNAP")
for n in (0, 2, 3, 4): record("decode_raw", ["abcdef", "xy"], tf.int16, fixed_length=n)
st = tf.SparseTensor([[0, 1], [0, 3], [2, 0]], [1., 2., 3.], [3, 4])
many = tf.io.serialize_many_sparse(st)
record("serialize_many_sparse", st)
record("serialize_sparse", st)
record("deserialize_many_sparse", many, tf.float32)
record("deserialize_many_sparse", many, tf.float32, rank=1)
record("deserialize_many_sparse", many, tf.int32)
record("deserialize_many_sparse", many[:0], tf.float32)
record("deserialize_many_sparse", many, tf.float32, rank=2)
rows = [tf.SparseTensor([[0, 1]], [1.], [2, 5]), tf.SparseTensor([[1, 3]], [2.], [3, 4])]
record("deserialize_many_sparse", tf.stack([tf.io.serialize_sparse(row) for row in rows]), tf.float32)
for kind in ("", "GZIP", "ZLIB"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(kind)) as writer:
            for r in (b"first", b"", A, b"z" * 300): writer.write(r)
        FILES[kind] = pathlib.Path(path).read_bytes().decode("latin-1")
TABLE = {}
for n in (1, 3, 10):
    for keys, kind in ((["a", "b", "zzz", "", "q" * 40], tf.string), ([1, 2, 30, -4, 10**12], tf.int64)):
        init = tf.lookup.KeyValueTensorInitializer(tf.constant(keys[:2], kind), tf.constant([0, 1], tf.int64))
        TABLE[f"{kind.name} {n}"] = [keys, tf.lookup.StaticVocabularyTable(init, n).lookup(tf.constant(keys, kind)).numpy().tolist()]
out = {"tensorflow": tf.__version__, "records": [r.decode("latin-1") for r in (b"first", b"", A, b"z" * 300)], "files": FILES,
       "vocabulary": TABLE, "cases": CASES}
path = pathlib.Path(__file__).with_name("io.json.gz")
path.write_bytes(gzip.compress(json.dumps(out).encode(), mtime=0))
print(len(CASES), path.stat().st_size)
