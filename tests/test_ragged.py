"""Ragged tensors against Python's lists, the errors that users meet, and what functions make of them."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf

InvalidArgument = tf.errors.InvalidArgumentError
number = st.integers(-5, 5)
lists = st.lists(st.lists(number, max_size=4), min_size=1, max_size=5)
deep_lists = st.lists(st.lists(st.lists(number, max_size=3), max_size=3), min_size=1, max_size=4)
slices = st.builds(slice, *[st.none() | st.integers(-4, 4)] * 2, st.sampled_from([None, 1, 2, -1, -2]))


def ragged(x): return tf.ragged.constant(x, tf.int32, ragged_rank=1)
def deep(x): return tf.ragged.constant(x, tf.int32, ragged_rank=2)
def floats(x): return tf.cast(ragged(x), tf.float32)


def square(x):
    "Rows filled up with zeros."
    width = max(map(len, x), default=0)
    return [row + [0] * (width - len(row)) for row in x]


@given(lists)
def test_there_and_back(x):
    rt = ragged(x)
    assert rt.to_list() == x and [r.tolist() for r in rt.numpy()] == x and [r.numpy().tolist() for r in rt] == x
    assert repr(rt) == f"<tf.RaggedTensor {x}>" and rt.shape.as_list() == [len(x), None]
    for again in (tf.RaggedTensor.from_row_splits(rt.values, rt.row_splits), tf.RaggedTensor.from_row_lengths(rt.values, rt.row_lengths()),
                  tf.RaggedTensor.from_row_starts(rt.values, rt.row_starts()), tf.RaggedTensor.from_row_limits(rt.values, rt.row_limits()),
                  tf.RaggedTensor.from_value_rowids(rt.values, rt.value_rowids(), rt.nrows()), tf.RaggedTensor.from_sparse(rt.to_sparse()),
                  tf.RaggedTensor.from_tensor(rt.to_tensor(), rt.row_lengths()) if rt.to_tensor().shape[1] else rt):
        assert again.to_list() == x
    assert rt.to_tensor().numpy().tolist() == square(x)
    assert rt.to_tensor(7, shape=[len(x) + 1, 2]).numpy().tolist() == [(row + [7, 7])[:2] for row in [*x, []]]
    assert tf.sparse.to_dense(rt.to_sparse()).numpy().tolist() == square(x)
    ids = tf.ragged.row_splits_to_segment_ids(rt.row_splits)
    assert tf.ragged.segment_ids_to_row_splits(ids, len(x)).numpy().tolist() == rt.row_splits.numpy().tolist()


@given(deep_lists)
def test_deep_there_and_back(x):
    rt = deep(x)
    assert rt.to_list() == x and rt.ragged_rank == 2
    for make, parts in ((tf.RaggedTensor.from_nested_row_splits, rt.nested_row_splits),
                        (tf.RaggedTensor.from_nested_row_lengths, rt.nested_row_lengths())):
        assert make(rt.flat_values, parts).to_list() == x
    counts = [s.array.shape[0] - 1 for s in rt.nested_row_splits]
    assert tf.RaggedTensor.from_nested_value_rowids(rt.flat_values, rt.nested_value_rowids(), counts).to_list() == x
    assert rt.merge_dims(0, 1).to_list() == sum(x, []) and rt.merge_dims(1, 2).to_list() == [sum(row, []) for row in x]
    assert tf.nest.map_structure(lambda v: v, rt, expand_composites=True).to_list() == x
    assert tf.RaggedTensorSpec.from_value(rt).is_compatible_with(rt)
    outer, inner = max(map(len, x)), max((len(r) for row in x for r in row), default=0)
    padded = [[r + [0] * (inner - len(r)) for r in row] + [[0] * inner] * (outer - len(row)) for row in x]
    assert rt.to_tensor().numpy().tolist() == padded


@given(deep_lists, slices, slices, slices)
def test_slices(x, a, b, c):
    rt = deep(x)
    assert rt[a].to_list() == x[a]
    assert rt[a, b].to_list() == [row[b] for row in x[a]]
    assert rt[a, b, c].to_list() == [[r[c] for r in row[b]] for row in x[a]]
    assert rt[..., c].to_list() == [[r[c] for r in row] for row in x]
    assert rt[0].to_list() == x[0] and rt[-1, b].to_list() == x[-1][b] and rt[0, b, c].to_list() == [r[c] for r in x[0][b]]
    assert rt[:, tf.newaxis, b].to_list() == [[row[b]] for row in x]
    assert tf.reverse(rt, [0, 2]).to_list() == [[r[::-1] for r in row] for row in x[::-1]]


@given(lists, st.data())
def test_elementwise(x, data):
    y = [[data.draw(number) for _ in row] for row in x]
    column = [[data.draw(number)] for _ in x]
    a, b = ragged(x), ragged(y)
    def both(f): return [[f(p, q) for p, q in zip(r, s)] for r, s in zip(x, y)]
    assert (a + b).to_list() == both(lambda p, q: p + q) and (a - b).to_list() == both(lambda p, q: p - q)
    assert tf.maximum(a, b).to_list() == both(max) and (a < b).to_list() == both(lambda p, q: p < q)
    assert (a == b).to_list() == both(lambda p, q: p == q) and (a != b).to_list() == both(lambda p, q: p != q)
    assert (a * tf.constant(column)).to_list() == [[p * c[0] for p in row] for row, c in zip(x, column)]
    assert (tf.constant(column) - a).to_list() == [[c[0] - p for p in row] for row, c in zip(x, column)]
    assert (3 - a).to_list() == [[3 - p for p in row] for row in x] and abs(a).to_list() == [[abs(p) for p in row] for row in x]
    assert (a / 2).to_list() == [[p / 2 for p in row] for row in x] and (-a).to_list() == [[-p for p in row] for row in x]
    assert tf.where(a > b, a, b).to_list() == both(max)
    assert tf.where(a > 0).numpy().tolist() == [[i, j] for i, row in enumerate(x) for j, p in enumerate(row) if p > 0]
    assert tf.ragged.map_flat_values(tf.add, a, b).to_list() == (a + b).to_list()
    assert tf.boolean_mask(a, a > b).to_list() == [[p for p, q in zip(r, s) if p > q] for r, s in zip(x, y)]


@given(deep_lists, st.sampled_from(["sum", "max", "min", "prod"]))
def test_reductions(x, kind):
    rt, reduce = deep(x), getattr(tf, f"reduce_{kind}")
    dtype = np.iinfo(np.int32)
    empty = {"sum": 0, "max": dtype.min, "min": dtype.max, "prod": 1}[kind]
    def of(values): return int(getattr(np, kind)(np.array(values, np.int32))) if values else empty
    assert reduce(rt, 2).to_list() == [[of(r) for r in row] for row in x]
    columns = [[[r[j] for r in row if j < len(r)] for j in range(max(map(len, row), default=0))] for row in x]
    assert reduce(rt, 1).to_list() == [[of(c) for c in row] for row in columns]
    groups = [[row[j] for row in x if j < len(row)] for j in range(max(map(len, x)))]
    firsts = [[[r[k] for r in rows if k < len(r)] for k in range(max(map(len, rows), default=0))] for rows in groups]
    assert reduce(rt, 0).to_list() == [[of(c) for c in row] for row in firsts]
    assert int(reduce(rt)) == of([v for row in x for r in row for v in r])
    if kind in ("sum", "prod"): assert reduce(rt, [1, 2]).numpy().tolist() == [of([v for r in row for v in r]) for row in x]
    assert reduce(rt, 2, keepdims=True).to_list() == [[[of(r)] for r in row] for row in x]


@given(lists)
def test_reductions_of_numbers_that_are_not_whole(x):
    rt = floats(x) + 0.5
    rows = [np.array(r, np.float64) + 0.5 for r in x]
    with np.errstate(all="ignore"):
        for name in ("mean", "variance", "std"):
            wanted = [getattr(r, {"variance": "var"}.get(name, name))() if len(r) else np.nan for r in rows]
            function = tf.reduce_mean if name == "mean" else getattr(tf.math, f"reduce_{name}")
            np.testing.assert_allclose(function(rt, 1), wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tf.nn.softmax(rt).flat_values, np.concatenate([np.exp(r) / np.exp(r).sum() for r in rows]), rtol=1e-5)
    bits = rt > 1.0
    assert tf.reduce_any(bits, 1).numpy().tolist() == [bool((r > 1).any()) for r in rows]
    assert tf.reduce_all(bits, 1).numpy().tolist() == [bool((r > 1).all()) for r in rows]


@given(deep_lists, deep_lists)
def test_joining(x, y):
    y = (y * len(x))[:len(x)]
    a, b = deep(x), deep(y)
    assert tf.concat([a, b], 0).to_list() == x + y
    assert tf.concat([a, b], 1).to_list() == [p + q for p, q in zip(x, y)]
    assert tf.concat([a, a + 1], -1).to_list() == [[r + [v + 1 for v in r] for r in row] for row in x]
    assert tf.stack([a, b]).to_list() == [x, y] and tf.ragged.stack([a, b], axis=1).to_list() == [[p, q] for p, q in zip(x, y)]
    assert tf.tile(a, [2, 1, 1]).to_list() == x * 2 and tf.tile(a, [1, 2, 2]).to_list() == [[r * 2 for r in row] * 2 for row in x]
    for axis in range(4): assert tf.squeeze(tf.expand_dims(a, axis), axis).to_list() == x
    assert tf.expand_dims(a, 1).to_list() == [[row] for row in x] and int(tf.size(a)) == len(a.flat_values) and int(tf.rank(a)) == 3


@given(lists, st.data())
def test_picking(x, data):
    rt, which = ragged(x), data.draw(st.lists(st.integers(0, len(x) - 1), min_size=1))
    assert tf.gather(rt, which).to_list() == [x[i] for i in which]
    inner = [data.draw(st.lists(st.integers(0, len(row) - 1), max_size=3)) if row else [] for row in x]
    assert tf.gather(rt, ragged(inner), batch_dims=1).to_list() == [[row[i] for i in index] for row, index in zip(x, inner)]
    spots = [(i, j) for i, row in enumerate(x) for j in range(len(row))]
    if spots: assert tf.gather_nd(rt, spots).numpy().tolist() == [v for row in x for v in row]
    keep = [data.draw(st.booleans()) for _ in x]
    assert tf.ragged.boolean_mask(rt, keep).to_list() == [row for row, k in zip(x, keep) if k]
    parts = [data.draw(st.integers(0, 2)) for _ in x]
    assert tf.ragged.stack_dynamic_partitions(rt, parts, 3).to_list() == [[r for r, p in zip(x, parts) if p == i] for i in range(3)]


@given(st.lists(st.tuples(number, number, st.sampled_from([1, 2, -1])), min_size=1, max_size=5))
def test_ranges(triples):
    assert tf.ragged.range(*map(list, zip(*triples))).to_list() == [list(range(*t)) for t in triples]


@given(lists)
def test_gradients_are_those_of_padded_rows(x):
    if not any(x): return
    rt = floats(x)
    lengths, mask = rt.row_lengths(), tf.ones_like(rt).to_tensor()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(v := rt.flat_values)
        a = tf.RaggedTensor.from_row_lengths(v, lengths)
        b = a.to_tensor()
        results = [(tf.reduce_sum(a * a, 1), tf.reduce_sum(b * b, 1)), (tf.reduce_sum(a, 0) ** 3, tf.reduce_sum(b, 0) ** 3),
                   (tf.exp(a).flat_values, tf.exp(b) * mask), (tf.concat([a, 2.0 * a], 1).flat_values ** 2, 5.0 * b ** 2),
                   (tf.reduce_max(a, 1)[:0], 0.0 * b), (tf.gather(a, [0, 0]).flat_values, 2.0 * b[0])]
    for got, wanted in results: np.testing.assert_allclose(zero(tape.gradient(got, v), v), zero(tape.gradient(wanted, v), v), rtol=1e-5)


def zero(g, x): return np.zeros(x.shape, np.float32) if g is None else tf.convert_to_tensor(g).numpy()


def test_gradient_in_the_form_of_the_source():
    with tf.GradientTape() as tape:
        tape.watch(rt := tf.ragged.constant([[1.0, 2.0], [3.0]]))
        y = tf.reduce_sum(rt * rt)
    slope = tape.gradient(y, rt)
    assert isinstance(slope, tf.RaggedTensor) and slope.to_list() == [[2, 4], [6]]


def test_uniform_axes():
    rt = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 2], [3], [], [4]]), 2)
    assert rt.shape.as_list() == [2, 2, None] and rt[:, 1].to_list() == [[3], [4]] and rt[:, -1:].shape.as_list() == [2, 1, None]
    assert int(rt.uniform_row_length) == 2 and rt.nrows().dtype is tf.int64 and rt.bounding_shape(axis=2).numpy() == 2
    assert rt.with_row_splits_dtype(tf.int32).row_splits.dtype is tf.int32
    assert tf.RaggedTensor.from_uniform_row_length([], 0, nrows=3).to_list() == [[], [], []]
    assert rt.with_flat_values([5.0, 6.0, 7.0, 8.0]).to_list() == [[[5, 6], [7]], [[], [8]]] and rt.get_shape() == rt.shape


def test_specs():
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    assert repr(spec) == "RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)" and spec.value_type is tf.RaggedTensor
    assert spec.is_compatible_with(ragged([[1]])) and not spec.is_compatible_with(floats([[1]]))
    assert not tf.RaggedTensorSpec([None, None], tf.int32, ragged_rank=0).is_compatible_with(ragged([[1]]))
    assert tf.RaggedTensorSpec([2], tf.float32, 0).is_compatible_with(tf.constant([1.0, 2.0]))


@pytest.mark.parametrize("call, error, words", [
    (lambda r: tf.RaggedTensor(r.values, r.row_splits), ValueError, "tf.ragged.constant"),
    (lambda r: tf.RaggedTensor.from_row_splits([1, 2], [0, 3]), InvalidArgument, "[0, 3]"),
    (lambda r: tf.RaggedTensor.from_row_lengths([1, 2], [3]), InvalidArgument, "2"),
    (lambda r: tf.RaggedTensor.from_value_rowids([1, 2], [1, 0]), InvalidArgument, "ascend"),
    (lambda r: tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2), InvalidArgument, "rows of length 2"),
    (lambda r: tf.RaggedTensor.from_row_splits(1, [0, 1]), ValueError, "scalar"),
    (lambda r: tf.RaggedTensor.from_row_splits([1], [0.0, 1.0]), ValueError, "integers"),
    (lambda r: tf.RaggedTensor.from_tensor([1, 2]), ValueError, "ragged_rank"),
    (lambda r: tf.RaggedTensor.from_tensor([[1]], lengths=[1], padding=0), ValueError, "not both"),
    (lambda r: tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[0, 1]])), InvalidArgument, "gap"),
    (lambda r: tf.ragged.constant([1, [2]]), ValueError, "equally deep"),
    (lambda r: tf.ragged.constant([[1]], ragged_rank=2), ValueError, "ragged_rank"),
    (lambda r: r[:, 0], ValueError, "ragged axis"),
    (lambda r: r[7], IndexError, "row 7"),
    (lambda r: r[::0], ValueError, "zero"),
    (lambda r: r[:, ::0], ValueError, "step"),
    (lambda r: r + ragged([[1], [2]]), InvalidArgument, "[2, 1] and [1, 1]"),
    (lambda r: r + [[1], [2], [3]], InvalidArgument, "rows of axis 0"),
    (lambda r: r + floats([[1, 2], [3]]), InvalidArgument, "float32"),
    (lambda r: tf.concat([r, ragged([[1]])], 1), InvalidArgument, "numbers of rows"),
    (lambda r: tf.concat([r, [1]], 0), ValueError, "ranks"),
    (lambda r: tf.reduce_sum(r, 2), InvalidArgument, "axis 2"),
    (lambda r: tf.gather(r, [5]), InvalidArgument, "index 5"),
    (lambda r: tf.gather_nd(r, [[1, 1]]), InvalidArgument, "index 1"),
    (lambda r: tf.ragged.boolean_mask(r, ragged([[1], [1]]) > 0), ValueError, "same rows"),
    (lambda r: tf.ragged.boolean_mask(r, [[1]]), TypeError, "bool"),
    (lambda r: tf.tile(r, [2]), InvalidArgument, "multiples"),
    (lambda r: tf.expand_dims(r, 4), InvalidArgument, "axis 4"),
    (lambda r: tf.squeeze(r), ValueError, "axis"),
    (lambda r: tf.squeeze(r, 0), InvalidArgument, "length 1"),
    (lambda r: tf.ragged.map_flat_values(tf.add, r, ragged([[1], [2]])), ValueError, "row_splits"),
    (lambda r: tf.ragged.range([0], [3], [0]), InvalidArgument, "deltas"),
    (lambda r: tf.ragged.stack([]), ValueError, "at least one"),
    (lambda r: tf.ragged.stack_dynamic_partitions([1], [3], 2), InvalidArgument, "index 3"),
    (lambda r: r.with_values([1, 2]), ValueError, "2 rows"),
    (lambda r: tf.convert_to_tensor(r), TypeError, "to_tensor"),
    (lambda r: tf.linalg.matmul(r, r), TypeError, "to_tensor"),
    (lambda r: bool(r), TypeError, "true nor false"),
    (lambda r: hash(r), TypeError, "unhashable"),
    (lambda r: tf.RaggedTensorSpec([2, None], ragged_rank=2), ValueError, "ragged_rank"),
    (lambda r: r.consumers(), NotImplementedError, "graph"),
])
def test_errors(call, error, words):
    with pytest.raises(error) as caught: call(ragged([[1, 2], [3]]))
    assert words in str(caught.value)


def test_cross():
    assert tf.ragged.cross([ragged([[1, 2], []]), [["a"], ["b"]]]).to_list() == [[b"1_X_a", b"2_X_a"], []]
    assert tf.sparse.cross([[["a"]], [["b"]]]).values.numpy().tolist() == [b"a_X_b"]
    hashed = tf.ragged.cross_hashed([[["a", "b"]]], num_buckets=10)
    assert tf.sparse.cross_hashed([[["a", "b"]]], num_buckets=10).values.numpy().tolist() == hashed.to_list()[0]
