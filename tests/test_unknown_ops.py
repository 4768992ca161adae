"""Every op in a graph that does not know the sizes of its arguments: values and gradients are those of eager code.

The programs are the cases of the sweep (tests/tables) and the recorded ones (tests/golden). Each is traced with all sizes unknown, with
the first size of each argument unknown, and with not even the ranks known. "ints" means that all tensors are arguments of the function,
"floats" that only those that can have a gradient are, and the others constants of the graph. A part runs each time, all with --slow.
"""
import logging

import numpy as np
import pytest
import test_golden as golden
import test_ops
from both import HOW, moving
from tables import CASES

import tfedu as tf
from tfedu.core.tensor import OPS

NUM = "how many results there are depends on a size; TensorFlow asks for `num`, too"
COUNT = "how many results there are depends on numbers, and no example can be made up"
INNER = "an inner op; the public functions that use it need a known rank, as in TensorFlow"
ROWS = "looks at the rows of a ragged tensor, of which no example can be made up"
RANK = "how many axes of the result are ragged depends on an unknown rank"
NONE = "a gradient of zeros, where it is None eagerly: the values of before are not used"
TEXT = "the text of a tensor says something else in a graph"
NOT = "returns no tensor"
Error = tf.errors.InvalidArgumentError
BAD = {   # function or op -> case, or None for all; kinds of signatures, or None for all; the error, and why
    "unstack": [("slice", ("all", "rank"), Error, NUM), ("op-unstack-0", None, Error, NUM), ("op-unstack-1", ("all", "rank"), Error, NUM)],
    "spread_window": [("op-spread_window-3", ("rank",), Error, INNER), ("op-spread_window-5", ("rank",), Error, INNER)],
    "io.decode_csv": [(None, None, ValueError, COUNT)], "io.deserialize_many_sparse": [(None, None, ValueError, COUNT)],
    "gather_nd": [("composite-162", None, Error, ROWS), ("composite-164", None, Error, ROWS), ("composite-165", None, Error, ROWS),
                  ("ops_ragged-216", None, (Error, ValueError), ROWS)],
    "getitem": [("composite-103", None, Error, ROWS)], "where": [("ops_ragged-217", ("floats",), Error, ROWS)],
    "ragged.boolean_mask": [("ops_ragged-119", ("floats",), Error, ROWS), ("ops_ragged-118", ("rank",), Error, RANK)],
    "RaggedTensor.from_nested_row_splits": [(None, ("rank",), ValueError, RANK)],
    "RaggedTensor.from_tensor": [("ops_ragged-42", ("rank",), ValueError, RANK)],
    "ragged.stack": [("ops_ragged-115", ("rank",), Error, RANK)], "gather": [("ops_ragged-212", ("rank",), Error, RANK)],
    "sparse.bincount": [("ops_sparse-98", ("rank",), ValueError, RANK)],
    "RaggedTensor.with_flat_values": [(None, None, AssertionError, NONE)],
    "RaggedTensor.__str__": [(None, None, AssertionError, TEXT)], "RaggedTensor.__repr__": [(None, None, AssertionError, TEXT)],
    "SparseTensor.__str__": [(None, None, AssertionError, TEXT)],
    "debugging.assert_same_float_dtype": [(None, None, TypeError, NOT)],
}
KINDS = ["all-ints", "first-ints", "rank-ints", "all-floats"]
COMPOSITE = tf.RaggedTensor, tf.SparseTensor
FEW = {"op": 5, "golden": 41}   # of so many programs one runs each time


def sweep():
    "Name, function, inputs and settings of the cases in tests/tables."
    for name, call in sorted(OPS.items()):
        if not hasattr(call, "op"): continue
        for i, (inputs, settings) in enumerate(test_ops.cases(call.op) if call.op.rules else CASES.get(name, [])):
            convert = lambda x: x if x is None else [*map(tf.constant, x)] if isinstance(x, list) else tf.constant(x)
            yield f"op-{name}-{i}", name, call, [*map(convert, inputs)], settings


def recorded():
    "The same, of the cases in tests/golden."
    for param in golden.EACH:
        case = param.values[0]
        if golden.kind_of(case["y"]) == "error" or golden.missing(case): continue
        if case["f"].startswith("random.") and not case["f"].startswith("random.stateless"): continue   # draws of a function differ
        yield param.id, case["f"], case, None, None


def composite(v):
    "Whether ragged or sparse tensors are among recorded arguments."
    if isinstance(v, list): return any(map(composite, v))
    return isinstance(v, dict) and (golden.kind_of(v) in ("r", "v", "i") or any(map(composite, v.values())))


def arguments(program):
    "Function, inputs and settings."
    name, _, case, inputs, settings = program
    if name.startswith("op-"): return case, inputs, settings
    f, settings = golden.public(case["f"]), {k: golden.decode(v) for k, v in case["k"].items()}
    if "how" in case: return (lambda *x, **k: HOW[case["how"]](tf, f, *x, **k)), golden.decode(case["x"]), settings
    return f, golden.decode(case["x"]), settings


def known(program, kind):
    "The error and the reason, if the program is known to fail."
    for case, kinds, *found in BAD.get(program[1], ()):
        if (case is None or program[0].startswith(case)) and (kinds is None or any(k in kind.split("-") for k in kinds)): return found
    return None


def chosen():
    found = []
    for programs, step in ((list(sweep()), FEW["op"]), (list(recorded()), FEW["golden"])):
        for i, program in enumerate(programs):
            for j, kind in enumerate(KINDS):
                if kind == "rank-ints" and isinstance(program[2], dict) and composite(program[2]["x"]): continue   # of known rank always
                marks = [] if (i + j) % step == 0 else [pytest.mark.slow]
                if bad := known(program, kind): marks.append(pytest.mark.xfail(raises=bad[0], reason=bad[1], strict=True))
                found.append(pytest.param(program, kind, id=f"{program[0]}-{kind}", marks=marks))
    return found


def floats(x): return x.dtype.is_floating or x.dtype.is_complex


def spec(x, sizes):
    whole = [None] * x.shape.rank
    if isinstance(x, tf.RaggedTensor): return tf.RaggedTensorSpec(whole, x.dtype, x.ragged_rank, x.row_splits.dtype)
    if isinstance(x, tf.SparseTensor): return tf.SparseTensorSpec(whole, x.dtype)
    shape = x.shape.as_list()
    return tf.TensorSpec({"all": whole, "first": [None, *shape[1:]][:len(shape)], "rank": None}[sizes], x.dtype)


def slopes(f, xs):
    "What `f` returns, and how the sum of a curved function of it depends on those of `xs` that can have a gradient."
    sources = moving(tf, xs)
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f(*xs)
        outs = moving(tf, y) if isinstance(y, (list, tuple, tf.Tensor, *COMPOSITE)) else []
        curved = [tf.sin(tf.abs(out)) if out.dtype.is_complex else out * out * .3 + out for out in outs]
        loss = [tf.reduce_sum(tf.cast(c, tf.float64)) for c in curved]
    found = tape.gradient(loss, sources) if loss else [None] * len(sources)
    return y, [g if g is None else tf.convert_to_tensor(g) for g in found]


def traced(program, kind, f):
    "What `f(function, arguments)` gives outside and in a function of unknown sizes; None if the program takes no tensor."
    function, inputs, settings = arguments(program)
    (sizes, which), leaves = kind.split("-"), tf.nest.flatten(inputs)
    free = [isinstance(x, (tf.Tensor, *COMPOSITE)) and (which == "ints" or floats(x)) for x in leaves]
    args = [x for x, on in zip(leaves, free, strict=True) if on]
    def call(*given):
        rest = iter(given)
        whole = [next(rest) if on else x for x, on in zip(leaves, free, strict=True)]
        return function(*tf.nest.pack_sequence_as(inputs, whole), **settings)
    signature = [spec(x, sizes) for x in args]
    return (f(call, args), tf.function(lambda *xs: f(call, list(xs)), input_signature=signature)(*args)) if args else None


def same(found, right):
    found, right = (tf.nest.flatten(y, expand_composites=True) for y in (found, right))
    assert len(found) == len(right)
    for x, y in zip(found, right, strict=True):
        assert (x is None) == (y is None), "no gradient in the graph" if x is None else "a gradient in the graph only"
        if x is None: continue
        x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if x.dtype in (tf.string, tf.bool): assert np.array_equal(np.asarray(x.array), np.asarray(y.array))
        else:
            near = {2: .05 if x.dtype is tf.bfloat16 else .01, 4: 1e-4}.get(x.dtype.size, 1e-9)
            np.testing.assert_allclose(x.numpy().astype(complex), y.numpy().astype(complex), rtol=near, atol=near)


@pytest.fixture(autouse=True)
def silent():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("program, kind", chosen())
@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(60)
def test_values_and_gradients(program, kind):
    if (pair := traced(program, kind, slopes)) is not None: same(pair[1], pair[0])


def second(f, xs):
    "Second derivatives."
    def first(*xs): return [g for g in slopes(f, list(xs))[1] if g is not None]
    return slopes(first, xs)[1]


@pytest.mark.slow
@pytest.mark.parametrize("program", [pytest.param(case, id=case[0]) for case in sweep() if not known(case, "all-ints")])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(120)
def test_second_derivatives(program):
    if (pair := traced(program, "all-ints", second)) is not None: same(pair[1], pair[0])
