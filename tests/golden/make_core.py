"""Writes core.json: what TensorFlow itself answers to small expressions about errors, dtypes, shapes and nests.

usage: PYTHON-WITH-TENSORFLOW tests/golden/make_core.py

Every expression is evaluated with `tf` and the names of PREAMBLE; stored is the repr of its value, or the class of the error.
test_golden_core.py evaluates the same with tfedu. Where a newer TensorFlow than 2.4 is known to differ, DIFFERENT in that
file says so.
"""
import json
import sys
from pathlib import Path

PREAMBLE = """
import collections, types
import numpy as np
T, nest, OD, DD = tf.TensorShape, tf.nest, collections.OrderedDict, collections.defaultdict
S = tf.TensorSpec
NT, Other = collections.namedtuple("NT", "x y"), collections.namedtuple("Other", "x y")
same_as_NT = collections.namedtuple("NT", "x y")
class L(list): pass
class Seq(collections.abc.Sequence):
    def __init__(self, items): self.items = list(items)
    def __getitem__(self, i): return self.items[i]
    def __len__(self): return len(self.items)
    def __repr__(self): return f"Seq({self.items})"
pair = lambda x, y: (x, y)
"""

DTYPES = ("float16 bfloat16 float32 float64 complex64 complex128 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string "
          "qint8 quint8 qint16 quint16 qint32 resource variant").split()
QUESTIONS = ("name as_datatype_enum is_floating is_integer is_bool is_complex is_unsigned is_quantized is_numpy_compatible "
             "real_dtype base_dtype").split()

DTYPE = [f"tf.dtypes.{d}.{q}" for d in DTYPES for q in QUESTIONS]
DTYPE += [f"repr(tf.dtypes.{d}), str(tf.dtypes.{d})" for d in DTYPES]
DTYPE += [f"tf.dtypes.{d}.limits" for d in DTYPES]
DTYPE += [f"tf.dtypes.{d}.size" for d in DTYPES if d not in ("string", "resource", "variant")]
DTYPE += [f"float(tf.dtypes.{d}.{end})" for d in DTYPES for end in ("min", "max")]
DTYPE += [f"np.dtype(tf.dtypes.{d}.as_numpy_dtype).name" for d in DTYPES if d not in ("resource", "variant")]
DTYPE += [f"tf.as_dtype({x})" for x in (
    "'float'", "'half'", "'double'", "'bfloat16'", "'bool'", "'string'", "'int'", "'str'", "'float8'", "'f4'", "'O'",
    "''", "None", "3", "14",
    "0", "-1", "999", "[1]", "{}", "(1,)", "float", "bool", "object", "np.float32", "np.longlong", "np.str_", "np.bytes_", "np.longdouble",
    "np.datetime64", "np.void", "np.dtype('S3')", "np.dtype('U2')", "np.dtype('>f4')", "np.dtype('>i8')", "np.float32(1)", "np.array([1])",
    "np.array(['a'])", "np.dtype('M8[s]')", "tf.float32", "tf.dtypes.as_dtype('int8')")]
DTYPE += [f"tf.float32 == {x}" for x in ("'float32'", "np.float32", "float", "None", "'nope'", "1", "2", "tf.float64", "[1]", "{}")]
DTYPE += ["tf.float32 != 'float64'", "tf.int32 in ('int32',)", "tf.float32.is_compatible_with('float32')", "tf.half", "tf.double",
          "tf.float32.is_compatible_with('nope')", "tf.float32 < tf.int32", "sorted(d.name for d in {tf.int8, tf.int16, tf.int8})"]

SHAPE = """T(None)==T(None)|T([None])==T([None])|T([None])==T([2])|T([None])==[None]|T(None)==None|T(None)==[2]|T([2])=='a'|T([2])!='a'
T([2])==2|T([2])==(2,)|T([None])!=T([2])|T([2, 3])!=T([2, 4])|T(3)|T(-1)|T([-1])|T([2.5])|T('ab')|T(np.int64(3))|T(np.array([2, 3]))
T(range(3))|T({})|T([None,2])[1:]|T([1,2,3])[::-1]|T([1,2,3])[-1]|T([2,3])[5]|T(None)[1:]|T(None)[1:3]|T(None)[3:1]|T(None)[-2:]|T(None)[0]
T(None)[:3:2]|bool(T([])), bool(T(None)), bool(T([0]))|len(T([1,2]))|len(T(None))|list(T([1,None]))|list(T(None))|T([1,None]).as_list()
T(None).as_list()|T([2])+[3]|[2]+T([3])|(2,)+T([3])|T([2])+None|T([2]).concatenate(T(None))|T([2]).concatenate(T([]))
T([2,None]).merge_with([None,3])|T([2,None]).merge_with([3,3])|T([2,None]).merge_with([3])|T(None).merge_with([3])|T([3]).merge_with(None)
T([2,None]).most_specific_compatible_shape([3,None])|T([2,None]).most_specific_compatible_shape([3])
T([2,None]).most_specific_compatible_shape(None)|T([2,None]).num_elements()|T([]).num_elements()|T([0,2]).num_elements()
T(None).num_elements()
T(None).with_rank(2)|T([2]).with_rank(2)|T([2]).with_rank(1)|T([2]).with_rank_at_least(2)|T([2]).with_rank_at_least(1)
T([2]).with_rank_at_most(0)|T([2]).with_rank_at_most(3)|T(None).with_rank_at_least(3)|T([2]).assert_has_rank(2)|T(None).assert_has_rank(2)
T([2]).assert_same_rank([3,4])|T([2]).assert_same_rank([5])|T(None).assert_same_rank([5])|T([2]).assert_is_compatible_with([3])
T([None]).assert_is_compatible_with([3])|T([None]).assert_is_fully_defined()|T([1]).assert_is_fully_defined()
T(None).assert_is_fully_defined()
T([2,None]).is_fully_defined(), T([]).is_fully_defined(), T(None).is_fully_defined()|T([2]).is_compatible_with([2,3])
T([2]).is_compatible_with(None)|hash(T([2,None]))==hash(T((2,None)))|str(T([2])), str(T([])), str(T(None)), str(T([None,1]))
T([2,3]).rank, T(None).rank, T(None).ndims|T(T([1]))|[d.size for d in T([2,None]).as_proto().dim], T(None).as_proto().unknown_rank
T(T([2,None]).as_proto())|T(T(None).as_proto())|S([2,None])|str(S([2,None],name='a'))|S(None)|S([2],'float32').dtype
S([2],name='a')==S([2])|S([2])==S([2])|hash(S([2]))==hash(S((2,)))|S([2])==S([2],tf.int32)|S([2])==3
S([2],name='a').is_compatible_with(S([None],name='b'))|S([None]).is_compatible_with(S([2,2]))|S([None]).is_compatible_with(S([2],tf.int32))
S([2],name='a').most_specific_compatible_type(S([3],name='a'))|S([2],name='a').most_specific_compatible_type(S([3],name='b'))
S([2]).most_specific_compatible_type(S([3],tf.int32))|S([2]).most_specific_compatible_type(S([3,4]))|S.from_spec(S([2],name='a'))
S.from_spec(S([2],name='a'),name='b')|S([2],'nope')|S('ab')|issubclass(S, tf.TypeSpec)
isinstance(S([2]), tf.TypeSpec)""".replace("\n", "|").split("|")

NEST = """nest.flatten({'b':1,'a':[2,None,(3,)]})|nest.flatten(OD([('b',1),('a',2)]))
nest.flatten('ab'), nest.flatten(b'ab'), nest.flatten(None)
nest.flatten(range(3))|nest.flatten(NT(1,[2]))|nest.flatten({1,2})|nest.flatten({1:0,'a':2})|nest.flatten({(1,2):0,(0,1):2})
nest.flatten([]), nest.flatten({}), nest.flatten(())|nest.flatten({'a':1}.values())|nest.flatten({'a':1}.items())
nest.flatten({'a':1}.keys())
nest.flatten(collections.deque([1,2]))|nest.flatten(np.ones(2))|nest.flatten(T([1,2]))|nest.flatten(types.MappingProxyType({'b':1,'a':2}))
nest.flatten(Seq([1,2]))|nest.flatten(L([1,[2]]))|nest.flatten(slice(1,2))|nest.flatten(tf.float32)|nest.flatten(bytearray(b'ab'))
nest.is_nested([1]), nest.is_nested('a'), nest.is_nested({}), nest.is_nested({1}), nest.is_nested(np.ones(2)), nest.is_nested(None)
nest.is_nested(range(2)), nest.is_nested(NT(1,2)), nest.is_nested(T([2]))|nest.pack_sequence_as({'b':0,'a':0},[1,2])
nest.pack_sequence_as(OD([('b',0),('a',0)]),[1,2])|nest.pack_sequence_as(DD(list,[('b',0),('a',0)]),[1,2])
nest.pack_sequence_as(NT(0,[0]),[1,2])
nest.pack_sequence_as(Seq([1,2]),[1,2])|nest.pack_sequence_as(L([1,[2]]),[3,4])|type(nest.pack_sequence_as(L([1]),[3])).__name__
nest.pack_sequence_as([0,0],[1])|nest.pack_sequence_as([0],[1,2])|nest.pack_sequence_as(0,[1])|nest.pack_sequence_as(0,[1,2])
nest.pack_sequence_as([0,0],5)|nest.pack_sequence_as([0,0],'ab')|nest.pack_sequence_as([0,0],(1,2))
nest.pack_sequence_as([0,0],np.array([1,2]))
nest.pack_sequence_as({'a':1}.values(),[5])|nest.pack_sequence_as(collections.deque([1,2]),[5,6])|nest.pack_sequence_as(range(2),[5,6])
nest.pack_sequence_as([[],{},()],[])|nest.pack_sequence_as({'a':[],'b':({'c':1},)},[[9]])|nest.map_structure(lambda x:x+1,[1,(2,)])
nest.map_structure(pair,[1,(2,)],[3,(4,)])|nest.map_structure(pair,[1,(2,)],[3,[4]])
nest.map_structure(pair,[1,(2,)],[3,[4]],check_types=False)
nest.map_structure(pair,[1,2],[3])|nest.map_structure(pair,{'a':1},{'b':1})|nest.map_structure(pair)|nest.map_structure(5,[1])
nest.map_structure(len,['ab'],foo=1)|nest.map_structure(len,[])|nest.map_structure(len,'abc')|nest.map_structure(lambda x:None,{'a':None})
nest.assert_same_structure([1,2],[1,[2]])|nest.assert_same_structure([1,2],(1,2))|nest.assert_same_structure([1,2],(1,2),check_types=False)
nest.assert_same_structure({'a':1},{'a':1,'b':2})|nest.assert_same_structure({'a':1},OD(a=1))
nest.assert_same_structure(DD(int,a=1),OD(a=1))
nest.assert_same_structure(NT(1,2),same_as_NT(1,2))|nest.assert_same_structure(NT(1,2),Other(1,2))|nest.assert_same_structure(NT(1,2),(1,2))
nest.assert_same_structure(NT(1,2),(1,2),check_types=False)|nest.assert_same_structure(1,[1])|nest.assert_same_structure([1],1)
nest.assert_same_structure(1,2)|nest.assert_same_structure([1],L([1]))|nest.assert_same_structure({'a':[1]},{'a':(1,)})
nest.assert_same_structure('ab','c')|nest.assert_same_structure([1,2],[1])|nest.assert_same_structure({'a':1},['a'])
nest.assert_same_structure({'a':1},['a'],check_types=False)|nest.assert_same_structure([{'a':1}],[{'b':1}],check_types=False)
nest.assert_same_structure([{'a':1}],[{'b':1}])|nest.assert_same_structure(None,None)|nest.assert_same_structure([],{})
nest.assert_same_structure([],{},check_types=False)|nest.assert_same_structure([1],None)""".replace("\n", "|").split("|")

KINDS = ("Cancelled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied Unauthenticated ResourceExhausted "
         "FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss").split()
CODES = ("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED UNAUTHENTICATED "
         "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS").split()
ERRORS = [f"tf.errors.{c}" for c in CODES]
ERRORS += [f"(lambda e: (e.error_code, e.message, e.op, e.node_def, str(e)))(tf.errors.{k}Error(None, None, 'why'))" for k in KINDS]
ERRORS += [f"isinstance(tf.errors.{k}Error(node_def=None, op=None, message='why'), tf.errors.OpError)" for k in KINDS]
ERRORS += ["str(tf.errors.OpError(None, None, 'why', 3))", "tf.errors.OpError(None, None, 'why', 3).error_code",
           "tf.errors.UnknownError(None, None, 'why', 99).error_code", "tf.errors.OperatorNotAllowedInGraphError('no').args",
           "issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)", "tf.errors.NotFoundError('why')"]

SECTIONS = {"errors": ERRORS, "dtype": DTYPE, "shape": SHAPE, "nest": NEST}


def answer(expression, names):
    "What evaluating `expression` gives, as data."
    try: return {"value": repr(eval(expression, names))}
    except Exception as error: return {"error": type(error).__name__}


def main():
    import tensorflow as tf
    names = {"tf": tf}
    exec(PREAMBLE, names)
    found = {section: {e: answer(e, names) for e in expressions} for section, expressions in SECTIONS.items()}
    origin = {"made by": "tests/golden/make_core.py", "tensorflow": tf.__version__, "numpy": names["np"].__version__,
              "python": sys.version.split()[0]}
    path = Path(__file__).with_name("core.json")
    path.write_text(json.dumps({"origin": origin, **found}, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__": main()
