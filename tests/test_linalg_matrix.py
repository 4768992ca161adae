"""Diagonals, bands and small relatives: NumPy as an oracle, TensorFlow's documented examples, and what is refused."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf

ALIGN = ("LEFT_LEFT", "RIGHT_RIGHT", "LEFT_RIGHT", "RIGHT_LEFT")


def inside(rows, columns, low, high): return -rows < low <= high < columns


@given(st.integers(1, 5), st.integers(1, 5), st.integers(-4, 4), st.integers(0, 3), st.sampled_from(ALIGN))
def test_diagonals_are_read_written_and_replaced(rows, columns, low, more, align):
    high = low + more
    if not inside(rows, columns, low, high): return
    x = np.arange(1., 1 + 2 * rows * columns).reshape(2, rows, columns)
    step = np.arange(columns) - np.arange(rows)[:, None]
    mask = (low <= step) & (step <= high)
    read = tf.linalg.diag_part(x, k=(low, high) if more else low, align=align)
    for i, k in enumerate(range(high, low - 1, -1) if more else ()):
        row, want = read.numpy()[:, i], np.diagonal(x, k, 1, 2)
        right = (align.split("_")[k < 0]) == "RIGHT"
        np.testing.assert_array_equal(row[:, -want.shape[1]:] if right else row[:, :want.shape[1]], want)
    again = tf.linalg.set_diag(np.zeros_like(x), read, k=(low, high) if more else low, align=align)
    np.testing.assert_array_equal(again, x * mask)
    built = tf.linalg.diag(read, k=(low, high) if more else low, num_rows=rows, num_cols=columns, align=align)
    np.testing.assert_array_equal(built, x * mask)
    np.testing.assert_array_equal(tf.linalg.set_diag(x, read, k=(low, high) if more else low, align=align), x)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(-1, 4), st.integers(-1, 4))
def test_a_band_is_what_lies_inside(rows, columns, low, high):
    if low > rows or high > columns: return
    x, k = np.ones((2, rows, columns)), np.arange(columns) - np.arange(rows)[:, None]
    want = x * ((low < 0) | (k >= -low)) * ((high < 0) | (k <= high))
    np.testing.assert_array_equal(tf.linalg.band_part(x, low, high), want)


def test_documented_examples():
    x = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6]])
    np.testing.assert_array_equal(tf.linalg.diag_part(x, k=(-1, 2)), [[0, 3, 8], [2, 7, 6], [1, 6, 7], [5, 8, 0]])
    np.testing.assert_array_equal(tf.linalg.diag_part(x, k=1), [2, 7, 6])
    np.testing.assert_array_equal(tf.linalg.diag([1, 2], k=-1, num_rows=3, num_cols=2), [[0, 0], [1, 0], [0, 2]])
    np.testing.assert_array_equal(tf.linalg.tensor_diag([1, 2]), [[1, 0], [0, 2]])
    assert tf.linalg.tensor_diag_part(tf.linalg.tensor_diag(np.ones((2, 3)))).shape == (2, 3)
    assert tf.linalg.trace([[1, 2], [3, 4]]).numpy() == 5
    np.testing.assert_array_equal(tf.linalg.cross([1., 2, 3], [4., 5, 6]), [-3, 6, -3])
    np.testing.assert_array_equal(tf.linalg.matrix_transpose([[1 + 1j, 2]], conjugate=True), [[1 - 1j], [2]])
    np.testing.assert_array_equal(tf.linalg.adjoint([[1 + 1j, 2]]), [[1 - 1j], [2]])
    assert tf.linalg.eye(2, 3).shape == (2, 3)


def test_what_is_overwritten_may_be_infinite():
    x = tf.linalg.set_diag(np.full((2, 2), np.inf), np.zeros(2))
    np.testing.assert_array_equal(x, [[0, np.inf], [np.inf, 0]])


@pytest.mark.parametrize("call, words", [
    (lambda: tf.linalg.diag_part(np.ones((2, 3)), k=3), "outside"),
    (lambda: tf.linalg.diag_part(np.ones((2, 3)), k=(1, 0)), "low <= high"),
    (lambda: tf.linalg.diag_part(np.ones(3)), "2 axes"),
    (lambda: tf.linalg.diag_part(np.ones((2, 3)), k=(0, 1), align="LEFT"), "align"),
    (lambda: tf.linalg.diag([1., 2], num_rows=3, num_cols=4), "do not fit"),
    (lambda: tf.linalg.set_diag(np.ones((2, 3)), np.ones(3)), "needs diagonals"),
    (lambda: tf.linalg.band_part(np.ones((2, 3)), 3, 0), "exceed"),
    (lambda: tf.linalg.cross([1j] * 3, [1j] * 3), "real"),
    (lambda: tf.linalg.tensor_diag(1.), "scalar"), (lambda: tf.linalg.tensor_diag_part(np.ones((2, 3))), "twice"),
])
def test_what_is_refused(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words): call()


def test_a_cross_product_needs_three_numbers():
    with pytest.raises(tf.errors.FailedPreconditionError, match="vectors have 3 numbers"): tf.linalg.cross([1., 2], [3., 4])
