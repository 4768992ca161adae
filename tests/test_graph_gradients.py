"""Gradients inside a tf.function, through functions that are one node of the graph: they equal those outside."""
import numpy as np
import pytest
from numpy.testing import assert_allclose

import tfedu as tf

RANDOM = np.random.default_rng(0)


def floats(*shape): return tf.constant(RANDOM.uniform(0.1, 1, shape).astype(np.float32))


def whole(values): return tf.constant(values, tf.int32)


CASES = {
    "boolean_mask": (lambda x: tf.boolean_mask(x, x > 0.4), floats(6)),
    "boolean_mask_rows": (lambda x: tf.boolean_mask(x, x[:, 0] > 0.4), floats(6, 3)),
    "top_k": (lambda x, k: tf.math.top_k(x, k)[0], floats(6), whole(2)),
    "segment_sum": (tf.math.segment_sum, floats(4, 2), whole([0, 0, 1, 1])),
    "segment_max": (tf.math.segment_max, floats(4, 2), whole([0, 0, 1, 1])),
    "dynamic_partition": (lambda x, i: tf.dynamic_partition(x, i, 2)[1], floats(4, 2), whole([0, 0, 1, 1])),
    "repeat": (lambda x, n: tf.repeat(x, n, axis=0), floats(4, 3), whole([1, 0, 2, 3])),
    "repeat_flat": (tf.repeat, floats(4, 3), whole(2)),
    "slice": (lambda x, i: tf.slice(x, [0, 0], tf.stack([i, 2])), floats(4, 3), whole(2)),
    "rows": (lambda x, i: x[:i, ::2], floats(4, 3), whole(2)),
    "fill": (lambda x, n: tf.fill([n], x), floats(), whole(3)),
    "resize": (lambda x: tf.image.resize(x, tf.shape(x)[1:3] * 2), floats(1, 3, 3, 2)),
    "central_crop": (lambda x: tf.image.central_crop(x, 0.5), floats(1, 8, 8, 2)),
    "resize_with_crop_or_pad": (lambda x, n: tf.image.resize_with_crop_or_pad(x, n, n), floats(1, 6, 6, 2), whole(4)),
    "rot90": (tf.image.rot90, floats(1, 6, 4, 2), whole(1)),
    "extract_patches": (lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), floats(1, 6, 6, 2)),
    "max_pool2d": (lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), floats(1, 5, 5, 2)),
    "avg_pool2d": (lambda x: tf.nn.avg_pool2d(x, 2, 2, "SAME"), floats(1, 5, 5, 2)),
    "conv2d": (lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"), floats(1, 5, 5, 2), floats(3, 3, 2, 2)),
    "ragged_mask": (lambda x: tf.ragged.boolean_mask(x, x > 0.4).values, floats(3, 4)),
    "softmax_cross_entropy": (lambda x: tf.nn.softmax_cross_entropy_with_logits([[0.0, 1, 0], [1, 0, 0]], x), floats(2, 3)),
    "set_diag": (tf.linalg.set_diag, floats(3, 3), floats(3)),
    "reverse_sequence": (lambda x, n: tf.reverse_sequence(x, n, 1), floats(2, 3), whole([1, 3])),
    "transpose": (tf.transpose, floats(2, 3), whole([1, 0])),
    "reduce_sum": (tf.reduce_sum, floats(2, 3), whole(1)),
    "reduce_mean": (tf.reduce_mean, floats(2, 3), whole([0])),
    "reduce_max": (tf.reduce_max, floats(2, 3), whole([0])),
    "embedding_lookup": (lambda x, i: tf.nn.embedding_lookup(x, i) ** 2, floats(6, 2), whole([3])),
    "sparse_values": (lambda x: tf.sparse.from_dense(x).values, floats(3, 4)),
    "map_fn": (lambda x: tf.map_fn(lambda r: tf.reduce_sum(tf.boolean_mask(r * r, r > 0.4)), x), floats(4, 5)),
    "cond": (lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.boolean_mask(x * x, x > 0.4), lambda: x), floats(6)),
    "while_loop": (lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * tf.reduce_sum(tf.boolean_mask(x, x > 0.4))),
                                           (0, tf.constant(1.0)))[1], floats(4)),
    "py_function": (lambda x: tf.py_function(lambda a: a ** 2, [x], tf.float32), floats(2)),
    "py_function_of_two": (lambda x, y: tf.py_function(lambda a, b: (a ** 2 * b, a + b), [x, y], [tf.float32] * 2), floats(2), floats(2)),
}


def sources(xs): return [x for x in xs if x.dtype.is_floating]


def first(f, *xs):
    with tf.GradientTape() as tape:
        tape.watch(sources(xs))
        loss = tf.add_n([tf.reduce_sum(tf.sin(y) * y) for y in tf.nest.flatten(f(*xs))])
    return [tf.convert_to_tensor(g) for g in tape.gradient(loss, sources(xs), unconnected_gradients="zero")]


def second(f, *xs):
    with tf.GradientTape() as tape:
        tape.watch(sources(xs))
        loss = tf.add_n([tf.reduce_sum(tf.sin(g)) for g in first(f, *xs)])
    return [tf.convert_to_tensor(g) for g in tape.gradient(loss, sources(xs), unconnected_gradients="zero")]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("gradient", [first, second])
def test_inside_and_outside_agree(name, known, gradient):
    f, *xs = CASES[name]
    spec = [tf.TensorSpec(x.shape if known else [None] * x.shape.rank, x.dtype) for x in xs]
    found = tf.function(lambda *xs: gradient(f, *xs), input_signature=spec)(*xs)
    for g, right in zip(found, gradient(f, *xs), strict=True): assert_allclose(g, right, rtol=2e-4, atol=1e-5)


def test_a_variable_and_a_mask():
    w = tf.Variable(2.0)
    @tf.function
    def f(x):
        with tf.GradientTape() as tape: loss = tf.reduce_mean(tf.boolean_mask(w * x, x > 0.0))
        return tape.gradient(loss, w)
    assert f(tf.range(6.0)).numpy() == 3


def test_the_way_back_has_the_shape_of_the_inputs():
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.boolean_mask(x, x[:, 0] > 0.4)
        g = tape.gradient(y, x)
        assert g.shape.as_list() == [None, 3] and g.dtype is tf.float32
        return g
    assert f([[0.5, 1.0, 1.0], [0.0, 1.0, 1.0]]).numpy().tolist() == [[1, 1, 1], [0, 0, 0]]


@pytest.mark.parametrize("times", [1, 2])
def test_random_numbers_are_those_of_the_way_there(times):
    @tf.function
    def f(x, noise):
        with tf.GradientTape() as outer:
            outer.watch([x, noise])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.dropout(x, 0.5)
            g = tape.gradient(y, x, noise)
        return y, (g if times == 1 else outer.gradient(g, noise))
    y, g = f(tf.ones(50), tf.ones(50))
    assert g.numpy().tolist() == y.numpy().tolist() and {0.0, 2.0} == set(g.numpy())


def test_three_times():
    f = lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0.4) ** 4)   # noqa: E731
    def third(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                with tf.GradientTape() as innermost:
                    innermost.watch(x)
                    y = f(x)
                g = innermost.gradient(y, x)
            g = inner.gradient(g, x)
        return tape.gradient(g, x)
    assert_allclose(tf.function(third)(tf.constant([0.5, 0.2, 1.0])), [12, 0, 24], rtol=1e-6)


def test_jacobian():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.boolean_mask(x ** 3, x > 0.4)
        return tape.jacobian(y, x)
    assert_allclose(f(tf.constant([0.5, 0.2, 1.0])), [[0.75, 0, 0], [0, 0, 3]], rtol=1e-6)


def test_numpy_function_has_no_gradient():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.numpy_function(lambda a: a * 2, [x], tf.float32)
        assert tape.gradient(y, x) is None
        return y
    assert f(tf.ones(2)).numpy().tolist() == [2, 2]


def test_python_runs_once_for_each_call():
    seen = []
    def square(x):
        seen.append(x.shape.as_list())
        return x * x
    inner = tf.function(lambda x: tf.py_function(square, [x], tf.float32))
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return tape.gradient(y, x)
    assert f(tf.constant([1.0, 3.0])).numpy().tolist() == [2, 6] and seen == [[2]]


@pytest.mark.parametrize("lookup", [lambda w, i: tf.nn.embedding_lookup(w, i) ** 2, lambda w, i: tf.gather(w, i)])
def test_rows_of_a_table_of_unknown_size(lookup):
    w, i = floats(6, 2), whole([3, 3, 0])
    def f(w, i):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = lookup(w, i)
        return tf.convert_to_tensor(tape.gradient(y, w))
    spec = [tf.TensorSpec([None, None]), tf.TensorSpec([None], tf.int32)]
    assert_allclose(tf.function(f, input_signature=spec)(w, i), f(w, i), rtol=1e-6)
    inner = tf.function(lookup, input_signature=spec)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = inner(w, i)
    assert_allclose(tf.convert_to_tensor(tape.gradient(y, w)), f(w, i), rtol=1e-6)


# ---- results whose parts no example tells

GRID = np.array([[0.5, 0.0], [0.2, 1.0], [0.0, 3.0]], np.float32)


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("f", [
    lambda x: tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(x), tf.constant([[1.0, 2.0, 3.0], [0.0, 1.0, 5.0]])),
    lambda x: tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(x), tf.ones([3, 2]), adjoint_a=True),
    lambda x: tf.sparse.to_dense(tf.sparse.retain(tf.sparse.from_dense(x), tf.sparse.from_dense(x).values > 0.4)),
    lambda x: tf.sparse.to_dense(tf.sparse.reshape(tf.sparse.from_dense(x), [2, 3])),
    lambda x: tf.sparse.to_dense(tf.sparse.reshape(tf.sparse.from_dense(x), [-1])),
    lambda x: tf.sparse.reduce_sum(tf.sparse.from_dense(x), 1),
    lambda x: tf.RaggedTensor.from_row_lengths(x, [2, 1]).to_tensor(),
    lambda x: tf.RaggedTensor.from_row_splits(x, [0, 0, 3]).to_tensor(),
    lambda x: tf.reduce_sum(tf.RaggedTensor.from_row_starts(x, [0, 1]), 1),
    lambda x: tf.RaggedTensor.from_row_limits(x, [1, 3]).to_tensor(-1.0),
    lambda x: tf.unstack(x, 3)[1],
    lambda x: tf.split(x, [1, -1])[1],
])
def test_composites_in_a_graph(f, known):
    spec = [tf.TensorSpec([3, 2] if known else [None, None])]
    found, right = tf.function(f, input_signature=spec)(GRID), f(tf.constant(GRID))
    assert found.numpy().tolist() == right.numpy().tolist()


def test_ragged_range_and_cuts_that_are_computed():
    assert tf.function(lambda n: tf.ragged.range(n).to_tensor())(tf.constant([1, 3])).numpy().tolist() == [[0, 0, 0], [0, 1, 2]]
    assert tf.function(lambda n: tf.ragged.range(n))(tf.constant([1, 3])).to_list() == [[0], [0, 1, 2]]
    assert tf.function(lambda n: tf.ragged.range(1.0, n, 0.5))(tf.constant([2.0, 1.0])).to_list() == [[1, 1.5], []]
    f = tf.function(lambda x, n: tf.split(x, [n, 6 - n]))
    assert [y.numpy().tolist() for y in f(tf.range(6.0), tf.constant(2))] == [[0, 1], [2, 3, 4, 5]]
    g = tf.function(lambda x, n: tf.split(x, n, num=3), input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None], tf.int32)])
    assert [y.numpy().tolist() for y in g(tf.range(4.0), [1, 0, 3])] == [[0], [], [1, 2, 3]]


def test_pieces_have_the_shapes_that_are_known():
    shapes = []
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32)])
    def f(x, n):
        shapes.extend([y.shape.as_list() for y in (*tf.split(x, [n, 1, -1]), *tf.unstack(x, 3))])
        return x
    f(tf.ones([3, 2]), 1)
    assert shapes == [[None, 2], [1, 2], [None, 2], [2], [2], [2]]
