"""Pooling against loops: every place of every window, one after the other."""
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import tfedu as tf


def windows(size, window, stride, dilation, padding):
    "For each place along an axis, the pixels under the window."
    span = (window - 1) * dilation + 1
    if padding == "SAME":
        count = -(-size // stride)
        before = max((count - 1) * stride + span - size, 0) // 2
    else: before, count = 0, (size - span) // stride + 1
    starts = [i * stride - before for i in range(count)]
    return [[p for j in range(window) if 0 <= (p := start + j * dilation) < size] for start in starts]


def slow(x, g, axes, kind):
    "Result and gradient, one window at a time; channels last."
    out = np.zeros((len(x), *map(len, axes), x.shape[-1]))
    dx = np.zeros_like(x)
    for n, c in product(range(len(x)), range(x.shape[-1])):
        for place in product(*[range(len(a)) for a in axes]):
            pixels = [*product(*[a[i] for a, i in zip(axes, place, strict=True)])]
            values = [x[(n, *p, c)] for p in pixels]
            if kind == "max":
                at = int(np.argmax(values))                         # the first
                out[(n, *place, c)] = values[at]
                dx[(n, *pixels[at], c)] += g[(n, *place, c)]
            else:
                out[(n, *place, c)] = np.mean(values)
                for p in pixels: dx[(n, *p, c)] += g[(n, *place, c)] / len(pixels)
    return out, dx


@st.composite
def cases(draw):
    spatial = draw(st.integers(1, 3))
    each = lambda low, high: [draw(st.integers(low, high)) for _ in range(spatial)]   # noqa: E731
    window, padding = each(1, 3), draw(st.sampled_from(["SAME", "VALID"]))
    stride, dilation = (each(1, 3), [1] * spatial) if draw(st.booleans()) else ([1] * spatial, each(1, 2))
    size = [draw(st.integers((k - 1) * d + 1, 6)) for k, d in zip(window, dilation, strict=True)]
    first, seed, whole = draw(st.booleans()), draw(st.integers(0, 99)), draw(st.booleans())
    x = np.random.default_rng(seed).normal(size=(2, *size, 2))
    return np.round(x) if whole else x, window, stride, dilation, padding, first


@given(cases(), st.sampled_from(["max", "avg"]))
def test_pooling_is_what_the_loops_say(case, kind):
    x, window, stride, dilation, padding, first = case
    spatial = len(window)
    axes = [windows(*axis, padding) for axis in zip(x.shape[1:-1], window, stride, dilation, strict=True)]
    g = np.random.default_rng(1).normal(size=(2, *map(len, axes), 2))
    out, dx = slow(x, g, axes, kind)
    swap = (lambda a: np.moveaxis(a, -1, 1)) if first else (lambda a: a)
    tensor = tf.constant(swap(x))
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        y = tf.nn.pool(tensor, window, kind.upper(), stride, padding, "NC" + "DHW"[-spatial:] if first else None, dilation)
    np.testing.assert_allclose(y.numpy(), swap(out), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tape.gradient(y, tensor, swap(g)).numpy(), swap(dx), rtol=1e-12, atol=1e-12)


BY_RANK = {("max", 1): tf.nn.max_pool1d, ("max", 2): tf.nn.max_pool2d, ("max", 3): tf.nn.max_pool3d,
           ("avg", 1): tf.nn.avg_pool1d, ("avg", 2): tf.nn.avg_pool2d, ("avg", 3): tf.nn.avg_pool3d}


@pytest.mark.parametrize("kind, spatial", BY_RANK)
def test_the_functions_for_one_rank_agree_with_those_for_all(kind, spatial):
    x = tf.constant(np.random.default_rng(0).normal(size=(2, *[5] * spatial, 3)))
    general = {"max": tf.nn.max_pool, "avg": tf.nn.avg_pool}[kind](x, 2, 2, "SAME")
    np.testing.assert_array_equal(BY_RANK[kind, spatial](x, [2], [2], "SAME").numpy(), general.numpy())
    whole = [1, *[2] * spatial, 1]
    np.testing.assert_array_equal(BY_RANK[kind, spatial](x, whole, whole, "same").numpy(), general.numpy())
    with pytest.raises(ValueError, match=f"{kind}_pool{spatial}d.*axes"): BY_RANK[kind, spatial](x[0], 2, 2, "SAME")


def test_ties_go_to_the_first_and_are_not_shared():
    x = tf.zeros((1, 3, 3, 1))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(x, 2, 1, "VALID")
    np.testing.assert_array_equal(tape.gradient(y, x).numpy()[0, ..., 0], [[1, 1, 0], [1, 1, 0], [0, 0, 0]])


def test_padding_never_wins_and_never_counts():
    x = -tf.ones((1, 3, 3, 1))
    np.testing.assert_array_equal(tf.nn.max_pool2d(x, 3, 2, "SAME").numpy(), -np.ones((1, 2, 2, 1)))
    np.testing.assert_array_equal(tf.nn.avg_pool2d(x, 3, 2, [[0, 0], [1, 1], [1, 1], [0, 0]]).numpy(), -np.ones((1, 2, 2, 1)))
    low = tf.constant(np.full((1, 2, 2, 1), -np.inf, np.float32))
    assert tf.nn.max_pool2d(low, 2, 2, "SAME").numpy() == -np.inf


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_whole_numbers_have_a_largest(dtype):
    x = np.array([[[-3 if "u" not in dtype else 3], [7], [0]]]).astype(dtype)
    y = tf.nn.max_pool1d(x, 2, 2, "SAME")
    assert y.dtype == dtype and y.numpy().ravel().tolist() == [7, 0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_add_up_in_single(dtype):
    x = tf.ones((1, 4096, 1), dtype)
    assert float(tf.nn.avg_pool1d(x, 4096, 1, "VALID")) == 1
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool1d(x, 4096, 1, "SAME")
    assert float(tf.reduce_sum(tf.cast(tape.gradient(y, x), tf.float32))) == 4096


@given(cases(), st.booleans())
def test_argmax_is_where_the_maximum_stands(case, batch):
    x, window, stride, dilation, padding, first = case
    if len(window) != 2 or max(dilation) > 1: return
    y, places = tf.nn.max_pool_with_argmax(x, window, stride, padding, include_batch_in_index=batch, output_dtype=tf.int32)
    assert places.dtype == tf.int32
    flat = x.ravel() if batch else None
    for n in range(len(x)):
        np.testing.assert_array_equal((flat if batch else x[n].ravel())[places.numpy()[n]], y.numpy()[n])


def test_argmax_has_a_gradient():
    x = tf.constant(np.arange(16.).reshape(1, 4, 4, 1))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = tf.nn.max_pool_with_argmax(x, 2, 2, "VALID")
    np.testing.assert_array_equal(np.flatnonzero(tape.gradient(y, x).numpy()), [5, 7, 13, 15])


@pytest.mark.parametrize("ratio", [1.0, 1.3, 1.5, 2.0, 2.6, 4])
@pytest.mark.parametrize("pseudo, overlapping", [*product((False, True), repeat=2)])
def test_fractional_pooling_is_what_its_sequences_say(ratio, pseudo, overlapping):
    x = np.random.default_rng(0).normal(size=(2, 9, 8, 3))
    for f, combine in ((tf.nn.fractional_max_pool, np.max), (tf.nn.fractional_avg_pool, np.mean)):
        with tf.GradientTape() as tape:
            tensor = tf.constant(x)
            tape.watch(tensor)
            y, rows, columns = f(tensor, ratio, pseudo, overlapping, seed=5)
        rows, columns = rows.numpy(), columns.numpy()
        assert rows[0] == columns[0] == 0 and (rows[-1], columns[-1]) == (9, 8) and y.shape[1:3] == (int(9 / ratio), int(8 / ratio))
        assert {*np.diff(rows)} <= {int(ratio), int(ratio) + 1, int(ratio) + 2}
        for i, j in product(range(len(rows) - 1), range(len(columns) - 1)):
            part = x[:, rows[i]:rows[i + 1] + overlapping, columns[j]:columns[j + 1] + overlapping]
            np.testing.assert_allclose(y.numpy()[:, i, j], combine(part, (1, 2)))
        np.testing.assert_allclose(tape.gradient(y, tensor).numpy().sum(), y.numpy().size)


def test_fractional_pooling_draws_anew_unless_there_is_a_seed():
    x = tf.zeros((1, 60, 60, 1))
    draws = [tf.nn.fractional_max_pool(x, 1.4).row_pooling_sequence.numpy().tolist() for _ in range(3)]
    assert draws[0] != draws[1] or draws[1] != draws[2]
    whole = tf.nn.fractional_avg_pool(np.arange(-9, 0, dtype=np.int32).reshape(1, 3, 3, 1), [1., 3., 3., 1.])
    assert whole.output.dtype == tf.int32 and int(whole.output) == -5


@pytest.mark.parametrize("call, error, words", [
    (lambda x: tf.nn.max_pool2d(x, 2, 2, "FULL"), ValueError, "max_pool2d: padding"),
    (lambda x: tf.nn.max_pool2d(x, 9, 1, "VALID"), tf.errors.InvalidArgumentError, "max_pool2d: a window of 9"),
    (lambda x: tf.nn.max_pool2d(x, [1, 2, 2, 2], 1, "VALID"), tf.errors.InvalidArgumentError, "ksize must be 1 for batch and channels"),
    (lambda x: tf.nn.avg_pool2d(x, 2, 0, "VALID"), ValueError, "strides"),
    (lambda x: tf.nn.avg_pool(x, 2, 1, "VALID", "NHCW"), ValueError, "data_format"),
    (lambda x: tf.nn.max_pool2d(x, 2, 1, [[0, 0], [2, 0], [0, 0], [0, 0]]), tf.errors.InvalidArgumentError, "smaller than the window"),
    (lambda x: tf.nn.pool(x, [2, 2], "MIN"), ValueError, "pooling_type must be 'MAX' or 'AVG', got 'MIN'"),
    (lambda x: tf.nn.pool(x, [2, 2], "MAX", [2, 2], dilations=[2, 2]), ValueError, "cannot be combined"),
    (lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", "NCHW"), ValueError, "data_format must be 'NHWC'"),
    (lambda x: tf.nn.avg_pool2d(tf.cast(x, tf.int32), 2, 2, "SAME"), tf.errors.InvalidArgumentError, "int32"),
    (lambda x: tf.nn.fractional_max_pool(x, [2., 2., 2., 1.]), ValueError, "pooling_ratio"),
    (lambda x: tf.nn.fractional_avg_pool(x[0], 2.), tf.errors.InvalidArgumentError, "4 axes"),
])
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words): call(tf.zeros((1, 4, 4, 2)))


def test_a_batch_of_nothing_is_a_batch():
    assert tf.nn.max_pool2d(tf.zeros((0, 4, 4, 1)), 2, 2, "VALID").shape == (0, 2, 2, 1)
    assert tf.nn.avg_pool2d(tf.zeros((2, 4, 4, 0)), 2, 2, "VALID").shape == (2, 2, 2, 0)
