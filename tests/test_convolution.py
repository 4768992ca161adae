"""Convolutions against the formula written as loops and against their own transposes."""
from itertools import product

import numpy as np
import pytest
from conftest import thorough
from hypothesis import given, settings
from hypothesis import strategies as st

import tfedu as tf
from tfedu.autodiff.check import check_grads
from tfedu.core import threads
from tfedu.ops import convolution
from tfedu.ops.window import overlap, places, slide, view, windows

BAD = (tf.errors.InvalidArgumentError, ValueError)
NAMES = {1: (tf.nn.conv1d, tf.nn.conv1d_transpose), 2: (tf.nn.conv2d, tf.nn.conv2d_transpose), 3: (tf.nn.conv3d, tf.nn.conv3d_transpose)}
FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


# The formula, for any number of axes and groups


def padded(x, strides, window, dilations, padding):
    "`x`, `(n, *size, c)`, with zeros around, and how many places there are; TensorFlow's documentation as a second implementation."
    widths, count = [(0, 0)], []
    for n, k, step, gap in zip(x.shape[1:-1], window, strides, dilations, strict=True):
        span = (k - 1) * gap + 1
        if padding == "SAME":
            total = max(span - step, 0) if n % step == 0 else max(span - n % step, 0)
            widths.append((total // 2, total - total // 2))
        else: widths.append((0, 0) if padding == "VALID" else padding[len(widths) - 1])
        count.append((n + sum(widths[-1]) - span) // step + 1)
    return np.pad(x, [*widths, (0, 0)]), count


def loops(x, w, strides, dilations, padding):
    window, each, k = w.shape[:-2], w.shape[-2], w.shape[-1]
    x, count = padded(x, strides, window, dilations, padding)
    groups = x.shape[-1] // each
    y = np.zeros((len(x), *count, k))
    for place, cell, o in product(np.ndindex(*count), np.ndindex(*window), range(k)):
        at = tuple(p * s + j * d for p, s, j, d in zip(place, strides, cell, dilations, strict=True))
        first = o // (k // groups) * each
        y[(slice(None), *place, o)] += x[(slice(None), *at)][:, first:first + each] @ w[(*cell, slice(None), o)]
    return y


@st.composite
def problems(draw):
    "Inputs and settings of a convolution that has at least one place."
    few, spatial = st.integers(1, 3), draw(st.integers(1, 3))
    axes = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(spatial))
    window, strides, dilations = axes(1, 3), axes(1, 3), axes(1, 2)
    size = tuple((k - 1) * d + draw(st.integers(1, 4)) for k, d in zip(window, dilations, strict=True))
    explicit = tuple((draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in range(spatial))
    padding, groups, each = draw(st.sampled_from(["SAME", "VALID", explicit])), draw(few), draw(few)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    x, w = random.normal(size=(draw(few), *size, groups * each)), random.normal(size=(*window, each, groups * draw(few)))
    return x, w, strides, dilations, padding, draw(st.booleans())


def first(x): return np.moveaxis(x, -1, 1)


def spelled(problem):
    "The settings as TensorFlow takes them: strides, padding, data_format, dilations."
    _, w, strides, dilations, padding, turned = problem
    if not isinstance(padding, str):
        inner = [list(pair) for pair in padding]
        padding = [[0, 0], [0, 0], *inner] if turned else [[0, 0], *inner, [0, 0]]
    return list(strides), padding, FORMATS[w.ndim - 2][turned], list(dilations)


@given(problems())
@thorough()
def test_the_formula_agrees(problem):
    x, w, strides, dilations, padding, turned = problem
    want, (conv, _) = loops(x, w, strides, dilations, padding), NAMES[w.ndim - 2]
    got = conv(first(x) if turned else x, w, *spelled(problem)).numpy()
    np.testing.assert_allclose(got, first(want) if turned else want, atol=1e-12)


@given(problems())
@thorough()
def test_the_transpose_is_the_transpose(problem):
    x, w, strides, dilations, padding, turned = problem
    y, (_, transposed) = loops(x, w, strides, dilations, padding), NAMES[w.ndim - 2]
    shape = first(x).shape if turned else x.shape
    back = transposed(first(y) if turned else y, w, shape, *spelled(problem))
    assert back.shape == shape
    np.testing.assert_allclose(np.vdot(y, y), np.vdot(back.numpy(), first(x) if turned else x))


@given(problems())
@settings(max_examples=15, deadline=None)
def test_derivatives_agree_with_differences(problem):
    x, w, turned = problem[0], problem[1], problem[-1]
    check_grads(lambda x, w: NAMES[w.ndim - 2][0](x, w, *spelled(problem)), [first(x) if turned else x, w], order=2)


@given(st.integers(0, 12), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
@thorough()
def test_same_has_as_many_places_as_strides(n, window, stride, dilation):
    count, (before, after) = places("test", n, window, stride, dilation, "SAME")
    assert count == -(-n // stride) and after - before in (0, 1)
    if before + after: assert (n + before + after - (window - 1) * dilation - 1) // stride + 1 == count


# What tables and formulas do not show


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sixteen_bits_are_added_up_in_thirty_two(dtype):
    x, w = tf.ones((1, 40, 40, 1), dtype), tf.ones((40, 40, 1, 1), dtype)
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, 1, "VALID")
    assert float(y) == 1600 and y.dtype.name == dtype and {g.dtype.name for g in tape.gradient(y, [x, w])} == {dtype}


def test_whole_numbers_stay_whole():
    y = tf.nn.conv2d(np.arange(16, dtype=np.int32).reshape(1, 4, 4, 1), np.ones((2, 2, 1, 1), np.int32), 2, "VALID")
    assert y.dtype is tf.int32 and y.numpy().ravel().tolist() == [10, 18, 42, 50]


def test_a_large_image_is_done_by_rows(monkeypatch):
    x, w = np.random.default_rng(0).normal(size=(2, 23, 9, 4)), np.random.default_rng(1).normal(size=(3, 3, 2, 6))
    s = slide("test", (23, 9), (3, 3), (2, 1), (1, 1), "SAME")
    y = convolution.convolve(x, w, s, 2).numpy()
    slopes = convolution.convolve_kernel(x, y, s, 2).numpy(), convolution.convolve_input(y, w, s, 2).numpy()
    monkeypatch.setattr(convolution, "BLOCK", 3 * 9 * 36)
    assert convolution.portions(s, 36) == (1, 3)
    np.testing.assert_allclose(convolution.convolve(x, w, s, 2).numpy(), y)
    for f, slope, inputs in ((convolution.convolve_kernel, slopes[0], (x, y)), (convolution.convolve_input, slopes[1], (y, w))):
        np.testing.assert_allclose(f(*inputs, s, 2).numpy(), slope)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_threads_compute_the_same(monkeypatch, groups):
    x, w = np.random.default_rng(0).normal(size=(5, 9, 9, 4)), np.random.default_rng(1).normal(size=(3, 3, 4 // groups, 8))
    s = slide("test", (9, 9), (3, 3), (1, 1), (1, 1), "SAME")
    run = lambda y: [f(*inputs, s, groups).numpy() for f, inputs in
                     ((convolution.convolve, (x, w)), (convolution.convolve_kernel, (x, y)), (convolution.convolve_input, (y, w)))]
    y = convolution.convolve(x, w, s, groups).numpy()
    alone = run(y)
    monkeypatch.setattr(threads, "LITTLE", 0)
    monkeypatch.setattr(threads, "workers", lambda: 3)
    monkeypatch.setattr(threads, "blas", lambda: threads_of_nobody)
    once, twice = run(y), run(y)
    for a, b, c in zip(alone, once, twice, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
        np.testing.assert_array_equal(b, c)   # not only close: the order of sums is fixed


threads_of_nobody = (lambda: 1), (lambda n: None)


def test_work_in_other_threads_may_fail(monkeypatch):
    monkeypatch.setattr(threads, "workers", lambda: 2)
    monkeypatch.setattr(threads, "blas", lambda: threads_of_nobody)
    def work(start, stop):
        if start: raise ValueError("second half")
    with pytest.raises(ValueError, match="second half"): threads.shared(np, work, 4, 10**9)
    assert threads.INSIDE[0] == 0


@pytest.mark.skipif(threads.blas() is None, reason="another BLAS")
def test_blas_gets_its_threads_back():
    before = threads.blas()[0]()
    with pytest.raises(KeyError), threads.ONE_EACH:
        assert threads.blas()[0]() == 1
        raise KeyError
    assert threads.blas()[0]() == before


def test_no_images_at_all():
    x, w = tf.zeros((0, 5, 5, 3)), tf.ones((3, 3, 3, 2))
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, 1, "SAME")
    assert y.shape == (0, 5, 5, 2)
    gx, gw = tape.gradient(y, [x, w])
    assert gx.shape == x.shape and not gw.numpy().any()


def test_no_places_at_all():
    x, w = tf.ones((1, 2, 5, 3)), tf.ones((3, 3, 3, 2))
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, 1, "VALID")
    assert y.shape == (1, 0, 3, 2)
    assert [g.numpy().any() for g in tape.gradient(y, [x, w])] == [False, False]


def test_axes_in_front_are_one_batch():
    x, w = np.random.default_rng(0).normal(size=(2, 3, 2, 5, 6, 4)), np.random.default_rng(1).normal(size=(3, 3, 4, 2))
    y = tf.nn.conv2d(x, w, 2, "SAME").numpy()
    assert y.shape == (2, 3, 2, 3, 3, 2)
    np.testing.assert_allclose(y[1, 2], tf.nn.conv2d(x[1, 2], w, 2, "SAME").numpy())


def test_a_variable_and_lists_will_do():
    kernel = tf.Variable(tf.ones((2, 1, 1)))
    assert tf.nn.conv1d([[[1.], [2.], [3.]]], kernel, 1, "VALID").numpy().ravel().tolist() == [3, 5]
    assert tf.nn.convolution([[[1.], [2.], [3.]]], kernel).numpy().ravel().tolist() == [3, 5]


def test_output_shape_may_be_a_tensor():
    y = tf.nn.conv2d_transpose(tf.ones((1, 2, 2, 1)), tf.ones((2, 2, 3, 1)), tf.constant([1, 4, 4, 3]), 2)
    np.testing.assert_array_equal(y.numpy(), np.ones((1, 4, 4, 3)))
    np.testing.assert_array_equal(tf.nn.conv_transpose(tf.ones((1, 2, 2, 1)), tf.ones((2, 2, 3, 1)), [1, 4, 4, 3], 2).numpy(), y.numpy())


def test_four_axes_are_no_special_case():
    x, w = np.random.default_rng(0).normal(size=(1, 3, 4, 3, 2, 2)), np.random.default_rng(1).normal(size=(2, 2, 2, 2, 2, 3))
    np.testing.assert_allclose(tf.nn.convolution(x, w, padding="SAME").numpy(), loops(x, w, (1,) * 4, (1,) * 4, "SAME"))


def test_dilation_from_outside_is_dilation():
    x, w = np.random.default_rng(0).normal(size=(2, 7, 6, 8, 3)), np.random.default_rng(1).normal(size=(2, 2, 3, 4))
    plane = lambda v, n, padding: tf.nn.conv3d(v, w[:, None], [1] * 5, padding)
    for padding in ("SAME", "VALID"):
        got = tf.nn.with_space_to_batch(x, [3, 2], padding, plane, filter_shape=[2, 2], spatial_dims=[1, 3])
        np.testing.assert_allclose(got.numpy(), tf.nn.conv3d(x, w[:, None], [1] * 5, padding, dilations=[1, 3, 1, 2, 1]).numpy())


def test_depthwise_gradients_have_names():
    x, w, g = (np.random.default_rng(k).normal(size=shape) for k, shape in enumerate([(2, 3, 6, 7), (3, 3, 3, 2), (2, 6, 3, 4)]))
    k = dict(strides=[1, 1, 2, 2], padding="SAME", data_format="NCHW")
    images, kernels = tf.constant(x), tf.constant(w)
    with tf.GradientTape() as tape:
        tape.watch([images, kernels])
        y = tf.nn.depthwise_conv2d(images, kernels, **k)
    gx, gw = tape.gradient(y, [images, kernels], tf.constant(g))
    np.testing.assert_allclose(tf.nn.depthwise_conv2d_backprop_input(x.shape, w, g, **k).numpy(), gx.numpy())
    np.testing.assert_allclose(tf.nn.depthwise_conv2d_backprop_filter(x, w.shape, g, **k).numpy(), gw.numpy())


def test_windows_and_overlap_are_transposes():
    s, random = slide("test", (5, 6), (3, 2), (2, 1), (1, 2), ((1, 2), (0, 1))), np.random.default_rng(0)
    x, patches = random.normal(size=(2, 5, 6, 3)), random.normal(size=(2, *s.count, *s.window, 3))
    np.testing.assert_allclose(np.vdot(windows(x, s).numpy(), patches), np.vdot(x, overlap(patches, s).numpy()))
    assert windows(x, s, -np.inf).numpy()[0, 0, 0, 0, 0, 0] == -np.inf


def test_views_of_windows_are_views():
    x = np.zeros((1, 6, 6, 2))
    assert np.shares_memory(view(np, x, slide("test", (6, 6), (3, 3), (1, 2), (2, 1))), x)


X, W = np.ones((2, 5, 6, 4)), np.ones((3, 3, 4, 2))


@pytest.mark.parametrize("call, words", [
    (lambda: tf.nn.conv2d(X, np.ones((3, 3, 3, 2)), 1, "SAME"), ("conv2d", "4 channels", "(3, 3, 3, 2)")),
    (lambda: tf.nn.conv2d(X, np.ones((3, 3, 2, 3)), 1, "SAME"), ("conv2d", "(3, 3, 2, 3)", "multiple")),
    (lambda: tf.nn.conv2d(X[0], W, 1, "SAME"), ("conv2d", "(5, 6, 4)", "axes")),
    (lambda: tf.nn.conv2d(X, W[0], 1, "SAME"), ("conv2d", "(3, 4, 2)")),
    (lambda: tf.nn.conv2d(X, W, [2, 1, 1, 1], "SAME"), ("conv2d", "strides", "[2, 1, 1, 1]")),
    (lambda: tf.nn.conv2d(X, W, [1, 2, 3], "SAME"), ("conv2d", "strides", "[1, 2, 3]")),
    (lambda: tf.nn.conv2d(X, W, 0, "SAME"), ("conv2d", "strides", "positive")),
    (lambda: tf.nn.conv2d(X, W, 1, "FULL"), ("conv2d", "padding", "FULL")),
    (lambda: tf.nn.conv2d(X, W, 1, [[1, 1], [0, 0], [0, 0], [0, 0]]), ("conv2d", "padding")),
    (lambda: tf.nn.conv2d(X, W, 1, [[1, 1]]), ("conv2d", "padding")),
    (lambda: tf.nn.conv2d(X, W, 1, "SAME", "CHWN"), ("conv2d", "NCHW", "CHWN")),
    (lambda: tf.nn.conv2d(X, W, 1, "VALID", dilations=4), ("conv2d", "spans 9", "5 cells")),
    (lambda: tf.nn.conv2d(tf.constant(X), tf.constant(W, tf.float32), 1, "SAME"), ("conv2d", "float64", "float32")),
    (lambda: tf.nn.conv2d(tf.constant(X + 0j), W, 1, "SAME"), ("conv2d", "complex128")),
    (lambda: tf.nn.convolution(X, np.ones((4, 2))), ("convolution", "(4, 2)")),
    (lambda: tf.nn.conv1d_transpose(X[0], np.ones((3, 2, 4)), [5, 7, 2], 2), ("conv1d_transpose", "(4,)", "(6,)")),
    (lambda: tf.nn.conv2d_transpose(X, np.ones((3, 3, 2, 3)), [2, 5, 6, 2], 1), ("conv2d_transpose", "3 channels", "with 4")),
    (lambda: tf.nn.conv2d_transpose(X, np.ones((3, 3, 2, 4)), [1, 5, 6, 2], 1), ("conv2d_transpose", "1 images", "got 2")),
    (lambda: tf.nn.conv3d_transpose(X, np.ones((3, 3, 3, 2, 4)), [2, 5, 6, 2], 1), ("conv3d_transpose", "5 axes")),
    (lambda: tf.nn.depthwise_conv2d(X, np.ones((3, 3, 3, 2)), [1] * 4, "SAME"), ("depthwise_conv2d", "3 channels", "has 4")),
    (lambda: tf.nn.separable_conv2d(X, W, np.ones((1, 1, 4, 2)), [1] * 4, "SAME"), ("separable_conv2d", "(1, 1, 4, 2)")),
    (lambda: tf.nn.separable_conv2d(X, W[..., :1], np.ones((2, 1, 4, 2)), [1] * 4, "SAME"), ("separable_conv2d", "(2, 1, 4, 2)")),
    (lambda: tf.nn.depthwise_conv2d_backprop_input([2, 5, 6, 4], W, X, [1] * 4, "SAME"), ("backprop_input", "(5, 6, 8)", "(5, 6, 4)")),
    (lambda: tf.nn.depthwise_conv2d_backprop_filter(X, [3, 3, 4, 2], X, [1] * 4, "SAME"), ("backprop_filter", "(5, 6, 8)")),
    (lambda: tf.nn.with_space_to_batch(X, [2, 2], "SAME", None), ("with_space_to_batch", "filter_shape")),
    (lambda: tf.nn.with_space_to_batch(X, [2, 2], "VALID", None, spatial_dims=[2, 1]), ("with_space_to_batch", "[2, 1]")),
    (lambda: tf.nn.dilation2d(X, np.ones((3, 3, 2)), [1] * 4, "SAME", "NHWC", [1] * 4), ("dilation2d", "(3, 3, 2)")),
    (lambda: tf.nn.dilation2d(X, np.ones((3, 3, 4)), [1] * 4, "SAME", "NCHW", [1] * 4), ("dilation2d", "NCHW")),
    (lambda: tf.nn.erosion2d(X, np.ones((9, 3, 4)), [1] * 4, "VALID", "NHWC", [1] * 4), ("dilation2d", "spans 9")),
    (lambda: tf.nn.atrous_conv2d(X, W, 0, "SAME"), ("atrous_conv2d", "dilations")),
    (lambda: tf.nn.atrous_conv2d_transpose(X, W, [2, 5, 6, 4], 2, "SAME"), ("atrous_conv2d_transpose", "2 channels")),
])
def test_what_does_not_fit_is_named(call, words):
    with pytest.raises(BAD) as caught: call()
    for word in words: assert word in str(caught.value)
