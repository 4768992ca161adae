"""What graphs do besides computing: print, check, call Python, in order and once a run."""
from typing import NamedTuple

import numpy as np
import pytest

import tfedu as tf

# What TensorFlow 2.21 prints, recorded with tf.print(..., output_stream="file://...").
PRINTS = [
    (("a", 1, 2.5, True, None), {}, "a 1 2.5 True None"),
    ((np.arange(1, 9),), {}, "[1 2 3 ... 6 7 8]"),
    ((np.arange(64).reshape(8, 8),), {"summarize": 2}, "[[0 1 ... 6 7]\n [8 9 ... 14 15]\n ...\n [48 49 ... 54 55]\n [56 57 ... 62 63]]"),
    ((np.arange(10),), {"summarize": -1}, "[0 1 2 3 4 5 6 7 8 9]"),
    (([1, 2, "c"],), {}, "[1, 2, 'c']"),
    (({"b": np.int32(1), "a": [np.float32(2), "x"]},), {}, "{'a': [2, 'x'], 'b': 1}"),
    ((np.float32(1e10), np.float32(1e-7), np.float32(0.1), np.float32(1 / 3), 1 / np.float64(3), np.bool_(True)), {},
     "1e+10 1e-07 0.1 0.333333343 0.33333333333333331 1"),
    ((np.array([[1.5, 2], [3, 4]], "float32"),), {}, "[[1.5 2]\n [3 4]]"),
    ((np.arange(1, 9).reshape(2, 2, 2),), {}, "[[[1 2]\n  [3 4]]\n\n [[5 6]\n  [7 8]]]"),
    ((np.array([1, 100.5, 1e-3], "float32"),), {}, "[1 100.5 0.001]"),
    ((np.float32(123456789), np.float32(1234567), np.float32(16777216)), {}, "123456792 1234567 16777216"),
    ((np.float16(2), np.array([True, False])), {}, "2 [1 0]"),
]


def as_tensors(nest): return tf.nest.map_structure(lambda x: tf.constant(x) if hasattr(x, "dtype") else x, nest)


@pytest.mark.parametrize("case", range(len(PRINTS)))
def test_print(case):
    args, kw, expected = PRINTS[case]
    lines = []
    tf.print(*as_tensors(list(args)), output_stream=lines.append, **kw)
    @tf.function
    def f(n):
        tf.print(*as_tensors(list(args)), output_stream=lines.append, **kw)
        return n
    f(tf.constant(1))
    f(tf.constant(2))
    assert lines == [expected] * 3


def test_print_goes_where_it_should(capsys, tmp_path):
    import sys
    f = tf.function(lambda x: tf.print("x:", x, output_stream=sys.stdout))
    f(tf.constant([1, 2]))
    tf.print("to stderr", tf.constant("text"), tf.constant([b"a"]), sep="-", end="!\n")
    path = tmp_path / "out.txt"
    tf.print("in a file", output_stream=f"file://{path}")
    out, err = capsys.readouterr()
    assert (out, err, path.read_text()) == ("x: [1 2]\n", 'to stderr-"text"-["a"]!\n', "in a file\n")
    with pytest.raises(ValueError): tf.print(1, output_stream="nowhere")


def test_effects_keep_their_order_in_branches_and_loops():
    lines = []
    @tf.function
    def f(n):
        tf.print("start", output_stream=lines.append)
        def body(i):
            tf.print("step", i, output_stream=lines.append)
            tf.cond(i > 0, lambda: say("late"), lambda: say("early"))
            return (i + 1,)
        def say(word):
            tf.print(word, output_stream=lines.append)
            return 0
        tf.while_loop(lambda i: i < n, body, (0,))
        tf.print("end", output_stream=lines.append)
    f(tf.constant(2))
    assert lines == ["start", "step 0", "early", "step 1", "late", "end"]


@pytest.mark.parametrize("check", [
    lambda x: tf.debugging.assert_positive(x, "positive please"), lambda x: tf.debugging.assert_greater(x, 0.0, message="positive please"),
    lambda x: tf.Assert(tf.reduce_all(x > 0), ["positive please", x]),
    lambda x: tf.debugging.assert_equal(x, tf.abs(x), message="positive please"),
    lambda x: tf.debugging.assert_all_finite(tf.sqrt(x), "positive please")])
def test_assertions(check):
    @tf.function
    def f(x):
        check(x)
        return x * 2.0
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="positive please"): f(tf.constant([1.0, -2.0]))
    @tf.function
    def inside(x): return tf.cond(tf.reduce_sum(x) > 0, lambda: f(x), lambda: x)
    with pytest.raises(tf.errors.InvalidArgumentError): inside(tf.constant([3.0, -2.0]))
    assert inside(tf.constant([1.0, -2.0])).numpy().tolist() == [1, -2]


def test_py_function():
    calls = []
    def cube(x):
        calls.append(type(x))
        return x * x * x
    f = tf.function(lambda x: tf.py_function(cube, [x], tf.float32))
    for run in (lambda x: tf.py_function(cube, [x], tf.float32), f, tf.function(lambda x: tf.cond(x > 0, lambda: f(x), lambda: x))):
        with tf.GradientTape() as tape:
            tape.watch(x := tf.constant(2.0))
            y = run(x)
        assert float(y) == 8 and float(tape.gradient(y, x)) == 12
    assert len(calls) >= 3
    pair = tf.function(lambda x: tf.py_function(lambda x: [x, tf.cast(x, tf.int32)], [x], [tf.float32, tf.int32]))(tf.constant(3.0))
    assert [v.dtype.name for v in pair] == ["float32", "int32"]
    assert tf.py_function(lambda: None, [], []) == []


@pytest.mark.parametrize(("error", "kind"), [
    (ValueError, tf.errors.InvalidArgumentError), (TypeError, tf.errors.InvalidArgumentError), (StopIteration, tf.errors.OutOfRangeError),
    (NotImplementedError, tf.errors.UnimplementedError), (MemoryError, tf.errors.ResourceExhaustedError),
    (KeyError, tf.errors.UnknownError), (ZeroDivisionError, tf.errors.UnknownError)])
def test_errors_of_python(error, kind):
    def bad(x): raise error("on purpose")
    for call in (tf.py_function, tf.numpy_function):
        for run in (lambda x, call=call: call(bad, [x], tf.float32), tf.function(lambda x, call=call: call(bad, [x], tf.float32))):
            with pytest.raises(kind, match=f"{error.__name__}.*on purpose"): run(tf.constant(1.0))


def test_numpy_function():
    f = tf.function(lambda x: tf.numpy_function(np.cumsum, [x], tf.float32))
    assert f(tf.constant([1.0, 2, 3])).numpy().tolist() == [1, 3, 6]
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant([1.0, 2]))
        y = f(x)
    assert tape.gradient(y, x) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        tf.function(lambda x: tf.numpy_function(lambda x: x.astype("int32"), [x], tf.float32))(x)


def test_check_numerics():
    f = tf.function(lambda x: tf.debugging.check_numerics(tf.math.log(x), "in the loss"))
    for run in (f, lambda x: tf.debugging.check_numerics(tf.math.log(x), "in the loss")):
        with tf.GradientTape() as tape:
            tape.watch(x := tf.constant(2.0))
            y = run(x)
        assert float(tape.gradient(y, x)) == 0.5
        with pytest.raises(tf.errors.InvalidArgumentError, match="in the loss : Tensor had NaN values"): run(tf.constant(-1.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="in the loss : Tensor had Inf values"): run(tf.constant(0.0))
    with pytest.raises(tf.errors.InvalidArgumentError): tf.debugging.check_numerics(tf.constant(1), "whole")


def test_enable_check_numerics():
    f = tf.function(lambda x: tf.exp(tf.math.log(x)))
    tf.debugging.enable_check_numerics()
    try:
        assert float(f(tf.constant(1.0))) == 1
        for run in (f, tf.math.log):
            with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)Detected NaN.*log"): run(tf.constant(-1.0))
    finally: tf.debugging.disable_check_numerics()
    assert np.isnan(f(tf.constant(-1.0)))


def test_places():
    @tf.function
    def f(x):
        with tf.control_dependencies([x, tf.no_op()]): y = tf.identity_n([x, x + 1])
        with tf.init_scope(): assert not tf.inside_function() and float(tf.constant(2.0) * 2) == 4
        assert tf.inside_function()
        return y
    assert [int(v) for v in f(tf.constant(1))] == [1, 2] and not tf.inside_function() and tf.no_op() is None
    with pytest.raises(TypeError):
        with tf.control_dependencies(3): pass


# -- shapes that are promised ---------------------------------------------------------------------------------------------------------

def test_ensure_shape_asks_when_the_graph_runs():
    f = tf.function(lambda x: tf.ensure_shape(x, [3]) * 2., input_signature=[tf.TensorSpec([None])])
    assert f(tf.ones(3)).numpy().tolist() == [2.] * 3
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"ensure_shape: x has shape \(2,\), which does not fit \(3,\)"): f(tf.ones(2))
    g = tf.function(lambda x: tf.reduce_sum(tf.ensure_shape(x, [2, None]) + 1.), input_signature=[tf.TensorSpec([None, None])])
    assert g(tf.ones([2, 2])).numpy() == 8.
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3, 2\)"): g(tf.ones([3, 2]))
    h = tf.function(lambda x: tf.ensure_shape(x, [None, 1]), input_signature=[tf.TensorSpec(None)])
    assert h(tf.ones([2, 1])).shape == (2, 1)
    with pytest.raises(tf.errors.InvalidArgumentError): h(tf.ones(1))


def test_ensure_shape_tells_the_graph():
    seen = []
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec(None)])
    def f(x, y):
        x = tf.ensure_shape(x, [2, None])
        seen.extend([x.shape.as_list(), (x + 1).shape.as_list(), tf.ensure_shape(y, [None, 5]).shape.as_list(),
                     tf.ensure_shape(y, None).shape.rank, tf.ensure_shape(x, [None, 4]).shape.as_list()])
        return x
    f.get_concrete_function()
    assert seen == [[2, None], [2, None], [None, 5], None, [2, 4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(2,\)"): tf.function(lambda x: tf.ensure_shape(x, [3]))(tf.ones(2))


def test_ensure_shape_in_loops_gradients_and_rows():
    @tf.function
    def grown(x):
        for _ in tf.range(3): x = tf.ensure_shape(tf.numpy_function(lambda a: a + 1, [x], tf.float32), [3])
        return x
    assert grown(tf.ones(3)).numpy().tolist() == [4.] * 3
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.ensure_shape(x, [3]) ** 2)
        return tape.gradient(y, x)
    assert slope(tf.range(3.)).numpy().tolist() == [0., 2., 4.]
    with pytest.raises(tf.errors.InvalidArgumentError, match="ensure_shape"): slope(tf.ones(2))
    assert tf.vectorized_map(lambda row: tf.ensure_shape(row, [2]) + 1., tf.zeros([3, 2])).numpy().tolist() == [[1., 1.]] * 3
    with pytest.raises(tf.errors.InvalidArgumentError): tf.vectorized_map(lambda row: tf.ensure_shape(row, [3]), tf.zeros([3, 2]))


def test_ensure_shape_in_a_saved_model(tmp_path):
    m = tf.Module()
    m.f = tf.function(lambda x: tf.ensure_shape(x, [None, 2]), input_signature=[tf.TensorSpec(None)])
    tf.saved_model.save(m, str(tmp_path))
    f = tf.saved_model.load(str(tmp_path)).f
    assert f(tf.ones([3, 2])).shape == (3, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ensure_shape"): f(tf.ones([3, 3]))


# -- shapes and numbers that do not fit when the graph runs ---------------------------------------------------------------------------

V, W = tf.TensorSpec([None]), tf.TensorSpec([None, None])
UNFIT = {
    "add": (lambda x, y: x + y, [V, V], (2, 3), r"add: .*\(2,\).*\(3,\)"),
    "chain": (lambda x, y: tf.exp(x * 2.) - tf.sin(y) * 3., [V, V], (2, 3), r"subtract: .*\(2,\).*\(3,\)"),
    "matmul": (lambda x, y: x @ y, [W, W], ((2, 3), (2, 3)), r"matmul: .*\(2, 3\)"),
    "concat": (lambda x, y: tf.concat([x, y], 0), [W, W], ((2, 3), (2, 2)), r"concat: .*\(2, 3\).*\(2, 2\)"),
    "stack": (lambda x, y: tf.stack([x, y]), [V, V], (2, 3), r"stack: .*\(2,\).*\(3,\)"),
    "reshape": (lambda x: tf.reshape(x, [3, 2]), [V], (5,), r"reshape: .*5"),
    "gather": (lambda x: tf.gather(x, tf.size(x)), [V], (5,), "gather: .*5"),
    "index": (lambda x: x[tf.size(x)], [V], (5,), "strided_slice: .*5"),
    "in a loop": (lambda x, y: tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z + y), (0, x))[1], [V, V], (2, 3), "add"),
    "in a branch": (lambda x, y: tf.cond(tf.size(x) > 1, lambda: x * y, lambda: x), [V, V], (2, 3), "multiply"),
    "einsum": (lambda x, y: tf.einsum("ij,jk->ik", x, y), [W, W], ((2, 3), (2, 3)), "einsum|contract"),
    "slot": (lambda x: tf.TensorArray(tf.float32, 2).write(tf.size(x), 1.).stack(), [V], (5,), "TensorArray.write: index 5"),
}


@pytest.mark.parametrize("case", UNFIT)
@pytest.mark.parametrize("watched", [False, True])
def test_what_does_not_fit_at_run_time_names_op_and_shapes(case, watched):
    function, specs, shapes, words = UNFIT[case]
    f, xs = tf.function(function, input_signature=specs), [tf.ones(shape) for shape in shapes]
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.GradientTape() as tape:
        if watched: tape.watch(xs)
        f(*xs)


def test_the_line_of_the_user_is_a_note():
    f = tf.function(lambda x, y: x + y, input_signature=[V, V])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught: f(tf.ones(2), tf.ones(3))
    assert any("lambda x, y: x + y" in note for note in caught.value.__notes__)
    assert isinstance(caught.value.__cause__, ValueError)
    assert f(tf.ones(2), tf.ones(2)).numpy().tolist() == [2., 2.]


def test_a_check_runs_although_nobody_needs_its_result():
    def f(x):
        tf.debugging.check_numerics(x, "the input")
        return x + 1.0
    def inside(x):
        if x[0] > 0.0: tf.debugging.check_numerics(x, "the input")
        for _ in tf.range(2): tf.debugging.check_numerics(x, "the input")
        return x
    bad = tf.constant([1.0, float("nan")])
    for run in (tf.function(f), tf.function(lambda x: tf.function(f)(x)), tf.function(inside)):
        assert run(tf.constant([1.0, 2.0])).shape == [2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="the input : Tensor had NaN values"): run(bad)


@pytest.mark.parametrize("run", [lambda f: f, tf.function])
def test_print_shows_what_is_no_tensor_as_python_does(run, tmp_path):
    class Pair(NamedTuple):
        p: int
        q: tf.Tensor
    things = [tf.TensorShape([2]), tf.float32, None, np.zeros(2), Pair(1, tf.constant(2)), tf.TensorSpec([1], name="s"), [tf.float32, "q"]]
    path = tmp_path / "printed"
    run(lambda: [tf.print(x, output_stream=f"file://{path}") for x in things] and None)()
    assert path.read_text().splitlines() == ["TensorShape([2])", "tf.float32", "None", "array([0., 0.])", "Pair(p=1, q=2)",
                                             repr(things[5]), "[tf.float32, 'q']"]
