"""Conditions, loops, maps and arrays of tensors: in a graph as eagerly, with derivatives in both directions, of first and second order."""
import numpy as np
import pytest

import tfedu as tf

V = tf.Variable(1.1)
TABLE = tf.Variable(np.arange(6, dtype="float32").reshape(3, 2) / 6)
READ = tf.Variable(0.5)


def written(x, k):
    "Rows of an array written in a loop."
    array = tf.TensorArray(tf.float32, k + 1)
    return tf.while_loop(lambda i, y, a: i <= k, lambda i, y, a: (i + 1, tf.sin(y) * V, a.write(i, y)), (0, x, array))[2].stack()


def nested(x, k):
    def outer(i, y):
        y = tf.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y * V + tf.cos(y)), (0, y))[1]
        return i + 1, tf.cond(tf.reduce_sum(y) > 1.0, lambda: y * 0.5, lambda: y + x)
    return tf.while_loop(lambda i, y: i < k, outer, (0, x))[1]


PROGRAMS = {
    "cond": lambda x, k: tf.cond(tf.reduce_sum(x) > k_float(k), lambda: tf.sin(x) * V, lambda: x * x * x),
    "cond in cond": lambda x, k: tf.cond(x[0] > 0, lambda: tf.cond(x[1] > 0, lambda: x * V, lambda: x / V), lambda: tf.exp(x)),
    "cond of nests": lambda x, k: tf.cond(k > 1, lambda: {"a": x, "b": (V * x, x[0])}, lambda: {"a": x * x, "b": (x, x[1])})["b"][0],
    "cond, one side constant": lambda x, k: x * tf.cond(k > 1, lambda: tf.constant(2.0), lambda: V * 1.0),
    "cond, unreached": lambda x, k: tf.cond(k > 1, lambda: x, lambda: x + V),
    "switch": lambda x, k: tf.switch_case(k, [lambda: x, lambda: tf.sin(x), lambda: x * x * V], default=lambda: tf.exp(x)),
    "case": lambda x, k: tf.case([(k > 3, lambda: x), (k > 1, lambda: x * x * V)], default=lambda: tf.sin(x)),
    "loop": lambda x, k: tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, tf.sin(y) * V + x), (0, x))[1],
    "loop on data": lambda x, k: tf.while_loop(lambda y: tf.reduce_sum(y * y) < 50.0, lambda y: (y * 1.5 + V,), (x,))[0],
    "loop with rows": lambda x, k: tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, y * tf.gather(TABLE, i % 3)), (0, x))[1],
    "limited loop": lambda x, k: tf.while_loop(lambda y: True, lambda y: (y * y * 0.5 + V,), (x,), maximum_iterations=k)[0],
    "nested loops": nested,
    "stopped": lambda x, k: tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, y * tf.stop_gradient(y) + x), (0, x))[1],
    "array written": written,
    "array read": lambda x, k: tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, y * x[i % 2]), (0, x))[1],
    "growing": lambda x, k: tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, tf.concat([y, x * V], 0)), (0, x),
                                          shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1],
    "map": lambda x, k: tf.map_fn(lambda v: tf.sin(v) * V, x),
    "map of nests": lambda x, k: tf.map_fn(lambda p: p[0] * tf.reduce_sum(p[1]), (x, TABLE[:2]), fn_output_signature=tf.float32),
    "scan": lambda x, k: tf.scan(lambda a, v: a * v + V, x),
    "scan from a value, in reverse": lambda x, k: tf.scan(lambda a, v: tf.sin(a) + v * V, x, initializer=0.5, reverse=True),
    "foldl": lambda x, k: tf.foldl(lambda a, v: tf.sin(a) * v + V, x),
    "foldr": lambda x, k: tf.foldr(lambda a, v: a * v - V, x, initializer=2.0),
}


def k_float(k): return tf.cast(k, tf.float32)


def results(f, x, k, second=True):
    "The value, gradients, gradients of gradients, and how it moves."
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, k)
        first = [tf.convert_to_tensor(g) for g in tape.gradient(y, [x, V, TABLE], unconnected_gradients="zero")]
        total = tf.reduce_sum(first[0] * first[0]) + first[1] * first[1] + tf.reduce_sum(first[2])
    more = outer.gradient(total, [x, V], unconnected_gradients="zero") if second else []
    with tf.autodiff.ForwardAccumulator([x, V], [tf.ones_like(x), tf.constant(2.0)]) as moving: y2 = f(x, k)
    return [y, *first, *more, moving.jvp(y2, "zero")]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("k", [0, 1, 3])
def test_graph_as_eager(name, k):
    # "growing" has no second derivative: a cotangent's size is not known to be a sum
    f, k, second = PROGRAMS[name], tf.constant(k), name != "growing"
    for x in (tf.constant([0.7, 0.4]), tf.constant([-0.8, 0.3])):
        expected = results(f, x, k, second)
        for run in (lambda x, k: results(tf.function(f), x, k, second), tf.function(lambda x, k: results(f, x, k, second))):
            for a, b in zip(expected, run(x, k), strict=True): np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["cond", "loop", "loop on data", "nested loops", "scan", "array written"])
def test_unknown_shapes(name):
    f = tf.function(PROGRAMS[name], input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
    x, k = tf.constant([0.7, 0.4]), tf.constant(3)
    for a, b in zip(results(PROGRAMS[name], x, k), results(f, x, k), strict=True): np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def test_gradient_of_a_loop_by_differences():
    x, k, h = np.array([0.7, 0.4]), tf.constant(3), 1e-5
    f = tf.function(lambda x, k: tf.reduce_sum(tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, tf.sin(y) * 1.3 + x), (0, x))[1]))
    with tf.GradientTape() as tape:
        tape.watch(v := tf.constant(x))
        y = f(v, k)
    slopes = [float(f(tf.constant(x + h * e), k) - f(tf.constant(x - h * e), k)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(tape.gradient(y, v), slopes, rtol=1e-7)


def test_many_iterations():
    f = tf.function(lambda x: tf.while_loop(lambda i, y: i < 10_000, lambda i, y: (i + 1, y + x * 1e-4), (0, x))[1])
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant(1.0))
        y = f(x)
    assert abs(float(y) - 2) < 1e-2 and abs(float(tape.gradient(y, x)) - 2) < 1e-2


def test_long_array():
    def f(x):
        start = 0, x, tf.TensorArray(tf.float32, 5000)
        array = tf.while_loop(lambda i, y, a: i < 5000, lambda i, y, a: (i + 1, y * 1.0001, a.write(i, y)), start)[2]
        return tf.reduce_sum(array.stack())
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant(2.0))
        y = tf.function(f)(x)
    np.testing.assert_allclose(tape.gradient(y, x), y / 2, rtol=1e-3)


def test_array_operations():
    def f(x, places):
        a = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
        before = a.stack(), a.concat()
        b = a.write(1, x[0] * 2.0)
        c = tf.TensorArray(tf.float32, 0, dynamic_size=True).scatter(places, x * x)
        d = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2])
        return *before, b.stack(), b.gather([2, 1]), c.stack(), d.concat(), a.read(2) * tf.cast(b.size(), tf.float32)
    x, places = tf.constant([[1.0, 2], [3, 4], [5, 6]]), tf.constant([2, 0, 1])
    def all_of(f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            ys = f(x, places)
            y = sum([tf.reduce_sum(v * v) for v in ys])
        return [*ys, tape.gradient(y, x)]
    for a, b in zip(all_of(f), all_of(tf.function(f)), strict=True): np.testing.assert_allclose(a, b)


def test_old_versions_of_an_array_stay():
    @tf.function
    def f(n):
        a = tf.TensorArray(tf.int32, n, element_shape=[])
        b = a.write(0, 1)
        c = b.write(0, 2)
        return c.read(0), b.read(0), a.read(0), c.read(0)
    assert [int(v) for v in f(tf.constant(3))] == [2, 1, 0, 2]
    past = tf.function(lambda n: tf.TensorArray(tf.int32, n).write(5, 1).stack())
    with pytest.raises(tf.errors.InvalidArgumentError): past(tf.constant(3))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda n: tf.TensorArray(tf.int32, n).write(0, tf.constant(1.5)).stack())(tf.constant(3))


def test_variables_change_in_branches_and_bodies():
    v = tf.Variable(1.0)
    @tf.function
    def f(x):
        def body(i):
            before = v * 1.0
            v.assign_add(x)
            tf.cond(v - before > 0, lambda: v.assign(v * 2.0), lambda: v)
            return (i + 1,)
        tf.while_loop(lambda i: v < 20.0, body, (0,))
        return v + 0.0
    assert float(f(tf.constant(1.0))) == 22.0 and v.numpy() == 22.0
    @tf.function
    def g(x):
        with tf.GradientTape() as tape: y = tf.cond(x > 0, lambda: v * v, lambda: v * 1.0)
        v.assign_sub(tape.gradient(y, v))
        return v.value()
    assert float(g(tf.constant(1))) == -22.0 and float(g(tf.constant(-1))) == -23.0


def test_custom_gradient_inside():
    @tf.custom_gradient
    def double_back(x): return tf.identity(x), lambda g: g * 2.0
    def in_branch(x): return tf.cond(x > 0, lambda: double_back(x * x), lambda: x)
    def in_loop(x): return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, double_back(y * x)), (0, x))[1]
    for f in (in_branch, in_loop):
        slopes = []
        for run in (f, tf.function(f)):
            with tf.GradientTape() as tape:
                tape.watch(x := tf.constant(3.0))
                y = run(x)
            slopes.append(float(tape.gradient(y, x)))
        assert slopes[0] == slopes[1]


# Error classes and the telling words of messages are those of TensorFlow.
BAD = {
    "pred": (lambda x: tf.cond(True, lambda: x, lambda: x), TypeError, "Python bool"),
    "true_fn": (lambda x: tf.cond(x > 0, x, lambda: x), TypeError, "true_fn"),
    "types": (lambda x: tf.cond(x > 0, lambda: x, lambda: 1), TypeError, "same number, type and overall structure|same types"),
    "structures": (lambda x: tf.cond(x > 0, lambda: [x, x], lambda: (x, x)), TypeError, "structure"),
    "loop type": (lambda x: tf.while_loop(lambda i: i < 3, lambda i: (tf.cast(i, tf.float32),), (0,)), TypeError,
                  "enters the loop with type int32, but has type float32"),
    "loop shape": (lambda x: tf.while_loop(lambda y: tf.size(y) < 5, lambda y: (tf.concat([y, y], 0),), (tf.ones(2),)), ValueError,
                   r"enters the loop with shape \(2,\), but has shape \(4,\) after one iteration. To allow .*shape_invariants"),
    "loop rank": (lambda x: tf.while_loop(lambda y: tf.size(y) < 5, lambda y: (y[None],), (tf.ones(2),)), ValueError, "shape_invariants"),
    "invariant broken": (lambda x: tf.while_loop(lambda y: tf.size(y) < 5, lambda y: (tf.concat([y, y], 1),), (tf.ones([2, 1]),),
                                                 shape_invariants=(tf.TensorShape([None, 1]),)), ValueError, "shape_invariants"),
    "loop structure": (lambda x: tf.while_loop(lambda y: y < 5, lambda y: (y, y), (x,)), ValueError, "structure"),
    "loop cond": (lambda x: tf.while_loop(1, lambda y: y, (x,)), TypeError, "'cond' must be callable"),
    "parallel": (lambda x: tf.while_loop(lambda y: y < 3, lambda y: (y,), (x,), parallel_iterations=0), TypeError, "parallel_iterations"),
    "nothing": (lambda x: tf.while_loop(lambda: True, lambda: (), ()), ValueError, "loop_vars"),
    "case": (lambda x: tf.case([(x > 5, lambda: x), (x > 6, lambda: x)]), tf.errors.InvalidArgumentError, "none of the conditions"),
    "exclusive": (lambda x: tf.case([(x > 0, lambda: x), (x > 0, lambda: x)], exclusive=True), tf.errors.InvalidArgumentError, "exclusive"),
    "case of bool": (lambda x: tf.case([(True, lambda: x)]), TypeError, "pred must be"),
    "case pair": (lambda x: tf.case([(x > 0, lambda: x, 3)]), TypeError, "2-tuple"),
    "switch gap": (lambda x: tf.switch_case(tf.cast(x, tf.int32), {1: lambda: x, 3: lambda: x}), ValueError, "contiguous"),
    "switch float": (lambda x: tf.switch_case(x, [lambda: x]), TypeError, "branch_index"),
    "switch empty": (lambda x: tf.switch_case(tf.cast(x, tf.int32), []), ValueError, "branch_fns"),
    "map scalar": (lambda x: tf.map_fn(lambda v: v, x), ValueError, "1\\+ dimensional"),
    "map type": (lambda x: tf.map_fn(lambda v: tf.cast(v, tf.float64), x[None]), tf.errors.InvalidArgumentError, "float64"),
    "map uneven": (lambda x: tf.map_fn(lambda v: v[0], (tf.ones(1), tf.ones(2)), fn_output_signature=tf.float32), ValueError,
                   "not compatible"),
    "scan nothing": (lambda x: tf.scan(lambda a, v: a, tf.zeros([0])), tf.errors.OutOfRangeError, "initializer"),
    "scan structure": (lambda x: tf.scan(lambda a, v: (a, v), x[None], initializer=1.0), ValueError, "structure"),
}


@pytest.mark.parametrize("name", BAD)
def test_errors(name):
    f, kind, words = BAD[name]
    with pytest.raises(kind, match=words): tf.function(f)(tf.constant(1.0))


def test_shapes_of_branches_merge():
    seen = []
    @tf.function
    def f(p): seen.append(tf.cond(p, lambda: tf.ones([2, 3]), lambda: tf.ones([2, 4])).shape.as_list())
    f(tf.constant(True))
    assert seen == [[2, None]]


def test_ragged():
    f = lambda n: tf.map_fn(tf.range, n, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))   # noqa: E731
    g = lambda r: tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.int32)   # noqa: E731
    n, r = tf.constant([1, 3, 2]), tf.ragged.constant([[1, 2], [3], []])
    assert f(n).to_list() == tf.function(f)(n).to_list() == [[0], [0, 1, 2], [0, 1]]
    assert g(r).numpy().tolist() == tf.function(g)(r).numpy().tolist() == [3, 3, 0]
    h = lambda r: tf.cond(tf.reduce_sum(r.values) > 5, lambda: r * 2, lambda: r)   # noqa: E731
    assert h(r).to_list() == tf.function(h)(r).to_list() == [[2, 4], [6], []]


def test_a_function_with_a_loop_called_in_another():
    inner = tf.function(lambda x, k: tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, y * x), (0, x))[1])
    @tf.function
    def outer(x, k):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(k > 0, lambda: inner(x, k), lambda: x)
        return y, tape.gradient(y, x)
    y, slope = outer(tf.constant(2.0), tf.constant(3))
    assert float(y) == 16 and float(slope) == 32
    with tf.GradientTape(persistent=True) as a, tf.GradientTape() as b:
        a.watch(x := tf.constant(2.0)), b.watch(x)
        y, slope = outer(x, tf.constant(3))
    assert float(b.gradient(slope, x)) == 48 and float(a.gradient(y, x)) == 32


@pytest.mark.parametrize("kept", [False, True])
def test_a_body_that_returns_constants_in_another_graph(kept):
    "A constant among the results of a body is written after the body itself; a replay needs it too."
    table = tf.constant([2.0, 3.0])
    @tf.function(autograph=False)
    def inner(y):
        def body(ran, z, y): return tf.constant(True), table if kept else tf.constant([1.0, 1.0]), y * 2.0
        _, z, y = tf.while_loop(lambda ran, z, y: y < 100.0, body, (False, tf.zeros(2), y))
        return y + tf.reduce_sum(z)
    @tf.function(autograph=False)
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x) + inner(x + 1.0)
        return y, tape.gradient(y, x)
    y, slope = outer(tf.constant(3.0))
    assert float(y) == 320.0 + (10.0 if kept else 4.0) and float(slope) == 96.0


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint8, tf.int8, tf.uint64])
def test_switch_case_takes_any_integer(dtype, traced):
    def chosen(i): return tf.switch_case(i, [lambda: tf.constant(10), lambda: tf.constant(20)], default=lambda: tf.constant(-1))
    f = tf.function(chosen) if traced else chosen
    assert [int(f(tf.constant(i, dtype))) for i in (0, 1, 2, 100)] == [10, 20, -1, -1]
    if dtype is tf.int64: assert [int(f(tf.constant(i, dtype))) for i in (-1, 2**32, 2**32 + 1, -2**32 + 1)] == [-1] * 4   # not 0 and 1
    if dtype is tf.uint64: assert int(f(tf.constant(2**64 - 1, dtype))) == -1
    assert int(chosen(1)) == int(chosen(np.int64(1))) == int(chosen(tf.Variable(1, dtype=tf.int64))) == 20


def test_switch_case_refuses_what_is_no_number_of_a_branch():
    for bad in (True, 1., None, "1", tf.constant(1.), tf.constant(True)):
        with pytest.raises(TypeError, match="branch_index must be an integer"): tf.switch_case(bad, [lambda: 1, lambda: 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"scalar, got shape \(1,\)"): tf.switch_case(tf.constant([1]), [lambda: 1])
