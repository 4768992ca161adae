"""Sparse tensors against dense ones, the errors that users meet, and what functions make of them."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf

InvalidArgument = tf.errors.InvalidArgumentError


@st.composite
def matrices(draw, shape=None):
    "A small dense matrix with many zeros, of whole numbers, so that sums are exact."
    rows, columns = shape or (draw(st.integers(1, 4)), draw(st.integers(1, 5)))
    numbers = st.lists(st.sampled_from([0, 0, 0, 1, -2, 3]), min_size=rows * columns, max_size=rows * columns)
    return np.array(draw(numbers), np.float32).reshape(rows, columns)


pairs = st.integers(1, 4).flatmap(lambda n: st.integers(1, 4).flatmap(lambda m: st.tuples(matrices((n, m)), matrices((n, m)))))


def sparse(x): return tf.sparse.from_dense(x)
def same(sp, x): np.testing.assert_array_equal(tf.sparse.to_dense(sp), x)


@given(matrices())
def test_moving(x):
    sp, (n, m) = sparse(x), x.shape
    same(sp, x)
    same(tf.sparse.transpose(sp), x.T)
    same(tf.sparse.reshape(sp, [-1]), x.reshape(-1))
    same(tf.sparse.reshape(sp, [m, n]), x.reshape(m, n))
    same(tf.sparse.expand_dims(sp, 1), x[:, None])
    same(tf.sparse.slice(sp, [n // 2, 0], [n, max(m - 1, 0)]), x[n // 2:, :max(m - 1, 0)])
    for piece, wanted in zip(tf.sparse.split(sp, m, axis=1), np.split(x, m, 1)): same(piece, wanted)
    order = np.random.RandomState(0).permutation(len(sp.values))
    mixed = tf.SparseTensor(sp.indices.numpy()[order], sp.values.numpy()[order], sp.dense_shape)
    same(tf.sparse.reorder(mixed), x)
    filled, empty = tf.sparse.fill_empty_rows(sp, 9.0)
    np.testing.assert_array_equal(empty, ~x.any(1))
    same(filled, np.where((np.arange(m) == 0) & ~x.any(1, keepdims=True), 9, x))


@given(pairs)
def test_two(both):
    x, y = both
    a, b = map(sparse, both)
    same(tf.sparse.add(a, b), x + y)
    same(a - b, x - y)
    same(tf.sparse.maximum(a, b), np.maximum(x, y))
    same(tf.sparse.minimum(a, b), np.minimum(x, y))
    same(tf.sparse.concat(0, [a, b, a]), np.concatenate([x, y, x], 0))
    same(tf.sparse.concat(-1, [a, b]), np.concatenate([x, y], 1))
    same(a * y, x * y)
    np.testing.assert_array_equal(a + y, x + y)
    np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(a, y, adjoint_b=True), x @ y.T)
    np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(a, y, adjoint_a=True), x.T @ y)
    np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(x, b, adjoint_b=True), x @ y.T)


@given(matrices(), st.sampled_from([None, 0, 1, -1, [0, 1], [-2]]), st.booleans())
def test_reducing(x, axis, keepdims):
    sp, axes = sparse(x), axis if axis is None else tuple(np.atleast_1d(axis))
    wanted = x.sum(axes, keepdims=keepdims)
    np.testing.assert_array_equal(tf.sparse.reduce_sum(sp, axis, keepdims), wanted)
    thin = tf.sparse.reduce_sum(sp, axis, keepdims, output_is_sparse=True)
    assert thin.shape.as_list() == list(wanted.shape)
    same(thin, wanted)
    low = np.where(x == 0, -np.inf, x).max(axes, keepdims=keepdims)
    np.testing.assert_array_equal(tf.sparse.reduce_max(sp, axis, keepdims), np.where(np.isinf(low), 0, low))


@given(matrices())
def test_softmax_is_that_of_minus_infinity(x):
    e = np.where(x == 0, 0, np.exp(x - x.max()))
    whole = e / np.maximum(e.sum(1, keepdims=True), 1e-30)
    np.testing.assert_allclose(tf.sparse.to_dense(tf.sparse.softmax(sparse(x))), whole, rtol=1e-5)


@given(pairs)
def test_gradients_are_those_of_the_dense(both):
    x, y = both
    sp = sparse(x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([v := tf.identity(sp.values), w := tf.constant(x)])
        thin, y = sp.with_values(v), tf.constant(y)
        results = [tf.sparse.to_dense(thin) * y, tf.sparse.sparse_dense_matmul(thin, y, adjoint_b=True) ** 2,
                   tf.sparse.reduce_sum(thin, 0) ** 2, (thin * y).values, tf.sparse.to_dense(tf.sparse.transpose(thin)) ** 3]
        dense = [w * y, tf.matmul(w, y, transpose_b=True) ** 2, tf.reduce_sum(w, 0) ** 2, w * y, tf.transpose(w) ** 3]
    for a, b in zip(results, dense):
        got, wanted = tape.gradient(a, v), tape.gradient(b, w).numpy()[tuple(sp.indices.numpy().T)]
        if len(sp.values): np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_second_order():
    sp = sparse(np.array([[0, 2.0], [3, 0]], np.float32))
    with tf.GradientTape() as outer:
        outer.watch(v := tf.identity(sp.values))
        with tf.GradientTape() as inner:
            inner.watch(v)
            y = tf.sparse.reduce_sum(sp.with_values(v), 1) ** 3
        slope = inner.gradient(y, v)
    np.testing.assert_allclose(outer.gradient(slope, v), [12, 18])


def test_tape_and_nest_know_them():
    sp = tf.SparseTensor([[0], [2]], [1.0, 2.0], [3])
    with tf.GradientTape() as tape:
        tape.watch(sp)
        y = tf.sparse.to_dense(sp) ** 2
    slope = tape.gradient(y, sp)
    assert isinstance(slope, tf.SparseTensor)
    np.testing.assert_array_equal(slope.values, [2, 4])
    assert len(tf.nest.flatten([sp, 1], expand_composites=True)) == 4 and len(tf.nest.flatten([sp, 1])) == 2
    tf.nest.assert_same_structure(sp, sp.with_values([3.0, 4.0]), expand_composites=True)


def test_spec():
    sp = tf.sparse.SparseTensor([[0, 0]], [1], [2, 2])
    assert tf.SparseTensorSpec([2, None], tf.int32).is_compatible_with(sp)
    assert repr(tf.SparseTensorSpec.from_value(sp)) == "SparseTensorSpec(TensorShape([2, 2]), tf.int32)"
    assert tf.SparseTensorSpec([2, 3]).most_specific_compatible_type(tf.SparseTensorSpec([2, 4])) == tf.SparseTensorSpec([2, None])
    assert tf.SparseTensorSpec([1]).value_type is tf.SparseTensor


def test_dtypes_and_functions():
    sp = tf.SparseTensor([[0], [1]], [b"a", b"b"], [3])
    assert tf.sparse.to_dense(sp).numpy().tolist() == [b"a", b"b", b""]
    assert tf.sparse.to_dense(sp, "?").numpy().tolist() == [b"a", b"b", b"?"]
    ints = tf.SparseTensor([[0], [1]], [1, -4], [3])
    assert tf.abs(ints).values.numpy().tolist() == [1, 4]
    assert tf.cast(ints, tf.float64).dtype is tf.float64
    assert (int(tf.size(ints)), int(tf.rank(ints)), tf.shape(ints).numpy().tolist()) == (2, 1, [3])
    assert tf.sparse.to_dense(tf.SparseTensor(np.zeros((0, 2)).astype(np.int64), [], [2, 2])).numpy().tolist() == [[0, 0], [0, 0]]
    assert tf.sparse.map_values(tf.multiply, ints, 3).values.numpy().tolist() == [3, -12]
    np.testing.assert_array_equal((np.ones(3, np.float32) * tf.cast(ints, tf.float32)).values, [1, -4])   # NumPy on the left


def test_several_axes():
    x = np.random.RandomState(0).randint(-1, 2, (2, 3, 4)).astype(np.float32)
    same(tf.sparse.transpose(sparse(x), [2, 0, 1]), x.transpose(2, 0, 1))
    same(tf.sparse.concat(1, [sparse(x), sparse(x)]), np.concatenate([x, x], 1))
    np.testing.assert_array_equal(tf.sparse.reduce_sum(sparse(x), [0, 2]), x.sum((0, 2)))
    np.testing.assert_allclose(tf.sparse.reduce_sum(tf.sparse.softmax(sparse(x)), -1), x.any(-1), rtol=1e-6)


@pytest.mark.parametrize("call, error, words", [
    (lambda s: tf.SparseTensor([0], [1.0], [2]), ValueError, "indices must have 2 axes"),
    (lambda s: tf.SparseTensor([[0]], [1.0, 2.0], [2]), ValueError, "values of shape"),
    (lambda s: tf.sparse.to_dense(tf.SparseTensor([[3, 0]], [1.0], [2, 2])), InvalidArgument, "out of bounds"),
    (lambda s: tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 0]], [1.0, 2.0], [2, 2])), InvalidArgument, "out of order"),
    (lambda s: tf.sparse.to_dense(tf.SparseTensor([[1, 0], [1, 0]], [1.0, 2.0], [2, 2])), InvalidArgument, "repeated"),
    (lambda s: tf.sparse.to_dense(s, [1.0]), ValueError, "default_value must be a scalar"),
    (lambda s: tf.sparse.reshape(s, [5]), InvalidArgument, "does not hold"),
    (lambda s: tf.sparse.transpose(s, [0, 0]), InvalidArgument, "perm"),
    (lambda s: tf.sparse.expand_dims(s, 5), InvalidArgument, "axis 5"),
    (lambda s: tf.sparse.concat(0, [s, tf.sparse.eye(3)]), InvalidArgument, "differ"),
    (lambda s: tf.sparse.split(s, 5, 0), InvalidArgument, "pieces"),
    (lambda s: tf.sparse.split(s, axis=0), ValueError, "num_split is missing"),
    (lambda s: tf.sparse.retain(s, [True]), ValueError, "to_retain"),
    (lambda s: tf.sparse.reset_shape(s, [1, 1]), ValueError, "none shorter"),
    (lambda s: tf.sparse.add(s, tf.sparse.eye(3)), InvalidArgument, "must be the same"),
    (lambda s: tf.sparse.add(s, tf.cast(s, tf.int32)), ValueError, "tf.cast"),
    (lambda s: tf.sparse.add(1.0, 2.0), TypeError, "SparseTensor"),
    (lambda s: tf.sparse.reduce_sum(s, 2), InvalidArgument, "axis 2"),
    (lambda s: tf.sparse.softmax(tf.sparse.reshape(s, [4])), InvalidArgument, "rank"),
    (lambda s: tf.sparse.sparse_dense_matmul(s, np.ones((3, 2), np.float32)), InvalidArgument, "do not fit"),
    (lambda s: tf.sparse.segment_sum(np.ones((2, 2)), [0, 1], [1, 0]), InvalidArgument, "descend"),
    (lambda s: tf.sparse.segment_mean(np.ones((2, 2)), [0, 5], [0, 1]), InvalidArgument, "5"),
    (lambda s: tf.sparse.segment_sqrt_n(np.ones((2, 2)), [0, 1], [0, 3], num_segments=2), InvalidArgument, "3"),
    (lambda s: tf.sparse.to_indicator(s, 3), TypeError, "integers"),
    (lambda s: tf.sparse.bincount([-1, 2]), InvalidArgument, "negative"),
    (lambda s: tf.sparse.bincount([1.5]), TypeError, "int32 or int64"),
    (lambda s: tf.sparse.cross([[[1]], [[1], [2]]]), ValueError, "numbers of rows"),
    (lambda s: tf.sparse.map_values(tf.abs, 3), ValueError, "none of the arguments"),
    (lambda s: tf.sparse.from_dense(s), TypeError, "to_dense"),
    (lambda s: tf.exp(s), TypeError, "to_dense"),
    (lambda s: s * s, TypeError, "dense"),
    (lambda s: tf.sparse.reorder(np.ones((2, 2))), TypeError, "SparseTensor is needed"),
    (lambda s: tf.sets.size([[1]]), TypeError, "SparseTensor"),
    (lambda s: tf.sets.union([1], [2]), ValueError, "rank of 2"),
    (lambda s: s.eval(), NotImplementedError, "session"),
    (lambda s: s.consumers(), NotImplementedError, "graph"),
])
def test_errors(call, error, words):
    with pytest.raises(error) as caught: call(tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2]))
    assert words in str(caught.value)


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=4))
def test_counts_and_sets(rows):
    counts = tf.sparse.to_dense(tf.sparse.bincount(rows, axis=-1, minlength=6)).numpy()
    np.testing.assert_array_equal(counts, [[row.count(i) for i in range(6)] for row in rows])
    other = [[5, 0, 3]] * len(rows)
    for function, wanted in ((tf.sets.intersection, set.intersection), (tf.sets.union, set.union), (tf.sets.difference, set.difference)):
        got = function(rows, other)
        found = [[int(v) for i, v in zip(got.indices.numpy()[:, 0], got.values) if i == r] for r in range(len(rows))]
        assert found == [sorted(wanted(set(a), set(b))) for a, b in zip(rows, other)]
        np.testing.assert_array_equal(tf.sets.size(got), [len(f) for f in found])


def test_mask_drops_rows():
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([5, 1, 3]), tf.constant([9, 1]))
    left = tf.sparse.mask(slices, [1, 4])
    assert left.indices.numpy().tolist() == [5, 3] and left.values.numpy().tolist() == [[1], [3]]


class Guest:
    "A value with its own meaning of functions."
    @staticmethod
    def __op__(function, args, kw): return "mine" if function.__name__ in ("add", "concat", "matvec", "equal") else NotImplemented


def test_values_may_take_functions_over():
    x = tf.constant([1.0])
    assert tf.add(x, Guest()) == tf.add(Guest(), 1) == x + Guest() == "mine"      # an op
    assert tf.concat([x, Guest()], axis=0) == "mine"                               # a function of ops, in a list
    assert tf.linalg.matvec(a=Guest(), b=x) == "mine"                              # by keyword
    assert (x == Guest()) == "mine"
    with pytest.raises((TypeError, ValueError)): tf.exp(Guest())
    with pytest.raises((TypeError, ValueError)): tf.rank(Guest())
