"""The golden cases again, inside of a `tf.function`: values and gradients must be those that were recorded eagerly.

By default a few hundred cases, evenly chosen; with --slow all of them, and a second time with sizes that are unknown while
the graph is written.
"""
import logging

import pytest
import test_golden as golden
from both import HOW, moving, weight

import tfedu as tf

LATER = "set_seed in a function happens while it is traced, the numbers are drawn later; they were recorded eagerly"
COUNT = "how many results there are depends on numbers, and no example can be made up"
ROWS = "looks at the rows of a ragged or sparse tensor, of which no example can be made up"
BAD = {   # function -> the cases that fail (None: all), the error, and why. Exact: a case here that passes is told.
    "random.gamma": (None, AssertionError, LATER),
    "random.poisson": (None, AssertionError, LATER),
    "random.categorical": (None, AssertionError, LATER),
    "random.Generator.from_state": (
        None, ValueError, "makes a variable in every call, which a function must not; test_function.py draws from generators"),
    "dtypes.as_dtype": (None, TypeError, "returns no tensor"),
    "debugging.assert_same_float_dtype": (None, TypeError, "returns no tensor"),
    "broadcast_static_shape": (None, ValueError, "a shape that a function returns becomes a tensor"),
    "io.decode_csv": (None, ValueError, COUNT),
    "io.deserialize_many_sparse": (None, ValueError, COUNT),
    "RaggedTensor.from_nested_value_rowids": (None, ValueError, COUNT),
    "RaggedTensor.with_values": (None, tf.errors.InvalidArgumentError, ROWS),
    "RaggedTensor.with_flat_values": (None, tf.errors.InvalidArgumentError, ROWS),
    "gather_nd": ({"composite-165-gather_nd"}, tf.errors.InvalidArgumentError, ROWS),
    "ragged.boolean_mask": ({"composite-170-ragged.boolean_mask"}, tf.errors.InvalidArgumentError, ROWS),
    "squeeze": ({"composite-174-squeeze"}, tf.errors.InvalidArgumentError, ROWS),
    "scatter_nd": ({"ops_array-215-scatter_nd"}, AssertionError, "a defect: its gradient is None, where it is a tensor eagerly"),
    "ragged.range": ({"ops_ragged-110-ragged.range"}, AssertionError, "a defect: its gradient is zero, where there is none eagerly"),
}
CASES = [param for param in golden.EACH if golden.kind_of(param.values[0]["y"]) != "error" and not golden.missing(param.values[0])]
SOME = 400


def bad(param):
    "The error and the reason, if the case is known to fail."
    cases, *found = BAD.get(param.values[0]["f"], ((), None, None))
    return found if cases is None or param.id in cases else None


def chosen():
    "All cases; those that are not among the few are marked slow."
    step = len(CASES) / SOME
    few = {int(i * step) for i in range(SOME)}
    found = []
    for i, param in enumerate(CASES):
        marks = [] if i in few else [pytest.mark.slow]
        if known := bad(param): marks.append(pytest.mark.xfail(raises=known[0], reason=known[1], strict=True))
        found.append(pytest.param(param.values[0], id=param.id, marks=marks))
    return found


def in_function(case, f, settings):
    if "how" in case: return lambda *inputs: HOW[case["how"]](tf, f, *inputs, **settings)
    return lambda *inputs: f(*inputs, **settings)


@pytest.fixture(autouse=True)
def silent():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("case", chosen())
@pytest.mark.filterwarnings("ignore")
def test_traced(case):
    f, settings = golden.public(case["f"]), {k: golden.decode(v) for k, v in case["k"].items()}
    agrees(case, tf.function(in_function(case, f, settings)), golden.decode(case["x"]))


def agrees(case, f, inputs):
    with tf.GradientTape() as tape:
        tape.watch(moving(tf, inputs))
        y = f(*inputs)
        outputs = moving(tf, y)
    want = case["y"]
    if isinstance(want, (dict, list)):
        golden.check(y, want, case.get("tolerance"), gradient=case["f"] in golden.BETTER)   # a plain value comes as a tensor
    if "g" not in case: return
    found = iter(tape.gradient(outputs, moving(tf, inputs), [weight(tf, o) for o in outputs]))
    for x, want in zip(inputs, case["g"], strict=True):
        got = [next(found) for _ in moving(tf, x)]
        for g, w in zip(got, want if isinstance(want, list) else [want] * len(got), strict=True):
            assert (g is None) == (w is None), "missing gradient" if g is None else "extra gradient"
            if w is not None: golden.check(tf.convert_to_tensor(g), w, case.get("tolerance"), gradient=True)


def unknown(x):
    "A spec of the tensor `x` with all sizes unknown."
    return tf.TensorSpec([None] * x.shape.rank, x.dtype)


def known_rank(case):
    "Whether all arguments are tensors of numbers."
    return all(isinstance(x, tf.Tensor) and x.dtype is not tf.string for x in golden.decode(case["x"])) and case["x"]


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize("case", [
    param for param in chosen() if not bad(param) and known_rank(param.values[0]) and "how" not in param.values[0]])
@pytest.mark.filterwarnings("ignore")
def test_unknown_sizes(case):
    f, settings = golden.public(case["f"]), {k: golden.decode(v) for k, v in case["k"].items()}
    inputs = golden.decode(case["x"])
    signature = [unknown(x) for x in inputs]
    def given(*inputs): return f(*inputs, **settings)
    try: agrees(case, tf.function(given, input_signature=signature), inputs)
    except (ValueError, TypeError, tf.errors.OpError) as error:
        told = ("not known", "unknown", "None", "no numbers", "has no value until", "cannot be told", "axes")
        if any(word in str(error) for word in told): pytest.skip(f"needs a size: {str(error).splitlines()[0][:100]}")
        raise
