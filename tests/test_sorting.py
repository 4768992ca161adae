"""Sorting, searching, counting: against NumPy's definitions on random arrays."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import tfedu as tf

NUMBERS = arrays(np.int32, array_shapes(min_dims=1, max_dims=3, max_side=5), elements=st.integers(-4, 4))
VECTORS = arrays(np.int32, st.integers(0, 12), elements=st.integers(0, 6))


@given(NUMBERS, st.data())
def test_sort_is_numpys_and_argsort_is_stable(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    np.testing.assert_array_equal(tf.sort(x, axis).numpy(), np.sort(x, axis))
    np.testing.assert_array_equal(tf.sort(x, axis, "DESCENDING").numpy(), -np.sort(-x, axis))
    np.testing.assert_array_equal(tf.argsort(x, axis, stable=True).numpy(), np.argsort(x, axis, kind="stable"))
    np.testing.assert_array_equal(tf.argsort(x, axis, "DESCENDING").numpy(), np.argsort(-x, axis, kind="stable"))


@given(st.integers(1, 3), arrays(np.float32, (3, 4), elements=st.integers(-3, 3)), arrays(np.float32, (3, 5), elements=st.integers(-4, 4)),
       st.sampled_from(["left", "right"]))
def test_searchsorted_in_many_rows_is_searchsorted_in_each(rows, table, values, side):
    table, values = np.sort(table[:rows], 1), values[:rows]
    expected = [np.searchsorted(row, v, side) for row, v in zip(table, values, strict=True)]
    found = tf.searchsorted(table, values, side, tf.int64)
    assert found.dtype is tf.int64
    np.testing.assert_array_equal(found.numpy(), expected)


@given(VECTORS)
def test_unique_reads_back_and_counts(x):
    y, idx, count = tf.unique_with_counts(x)
    assert y.numpy().tolist() == list(dict.fromkeys(x.tolist()))
    np.testing.assert_array_equal(y.numpy()[idx.numpy()], x)
    assert count.numpy().tolist() == [(x == v).sum() for v in y.numpy()] and tf.unique(x).idx.numpy().tolist() == idx.numpy().tolist()


@given(VECTORS, st.integers(0, 9), st.none() | st.integers(1, 9))
def test_bincount_is_numpys(x, least, most):
    expected = np.bincount(x, minlength=least)[:most]
    np.testing.assert_array_equal(tf.math.bincount(x, minlength=least, maxlength=most).numpy(), expected)
    weights = np.arange(len(x), dtype=np.float64)
    np.testing.assert_allclose(tf.math.bincount(x, weights, least, most).numpy(), np.bincount(x, weights, least)[:most])


@given(st.permutations(range(6)))
def test_a_permutation_undone(p):
    x = np.array(p, np.int64)
    assert tf.math.invert_permutation(x).numpy()[x].tolist() == list(range(6))
    assert bool(tf.math.is_non_decreasing(tf.sort(x))) and bool(tf.math.is_strictly_increasing(x)) == (p == sorted(p))


def test_confusion_histogram_and_count():
    assert tf.math.confusion_matrix([1, 0, 1], [1, 1, 1]).numpy().tolist() == [[0, 1], [0, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="predictions"): tf.math.confusion_matrix([0], [4], 2)
    assert tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5).numpy().tolist() == [2, 1, 1, 0, 2]
    assert tf.histogram_fixed_width_bins(np.float16([1, 4]), np.float16([0, 5]), 5).numpy().tolist() == [1, 4]
    assert int(tf.math.count_nonzero([[0, 1], [2, 0]])) == 2
    with pytest.raises(ValueError, match="axis must be 0 or -1"): tf.math.bincount([[1]], axis=1)
    with pytest.raises(ValueError, match="together"): tf.math.bincount([1], [1.0], binary_output=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="weights"): tf.math.bincount([1, 2], [1.0])


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_sequences(rows, length, data):
    lengths = np.array([data.draw(st.integers(0, length)) for _ in range(rows)])
    x = np.arange(rows * length).reshape(rows, length)
    expected = [np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(x, lengths, strict=True)]
    np.testing.assert_array_equal(tf.reverse_sequence(x, lengths, seq_axis=1).numpy(), expected)
    np.testing.assert_array_equal(tf.sequence_mask(lengths, length).numpy(), [[i < n for i in range(length)] for n in lengths])
    place = data.draw(st.integers(0, x.size - 1))
    np.testing.assert_array_equal(tf.unravel_index(place, x.shape).numpy(), np.unravel_index(place, x.shape))


def test_large_integer_products_are_exact():
    rng = np.random.default_rng(0)
    for low, high in ((-1000, 1000), (-2**31, 2**31)):
        a, b = rng.integers(low, high, (2, 40, 40)).astype(np.int32)
        np.testing.assert_array_equal(tf.matmul(a, b).numpy(), a @ b)
    edge = np.full((40, 40), -2**31, np.int32)
    np.testing.assert_array_equal(tf.matmul(edge, np.ones_like(edge)).numpy(), edge @ np.ones_like(edge))


def test_numbers_out_of_range():
    assert tf.constant(1e40, tf.float32).numpy() == np.inf and tf.constant(2**63, tf.uint64).numpy() == 2**63
    for value in (1e40, 2**63, [2**63], [1.0, -1e39]):
        with pytest.raises(ValueError, match="out of range"): tf.constant(value)
    assert tf.constant(float("inf")).dtype is tf.float32 and tf.constant(np.array([1e40])).dtype is tf.float64
