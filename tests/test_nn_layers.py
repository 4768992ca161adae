"""Normalisation, embeddings, blocks, ranking and small losses: edge cases, documented examples, errors."""
import itertools
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

import tfedu as tf
from tfedu.autodiff.check import check_grads

RNG = np.random.default_rng(0)
CLOSE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-12}


def gradient(f, *xs):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [g.numpy() for g in tape.gradient(y, xs)]


# ---- normalisation

@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("axis", [None, 0, 1, [0, 1], -1])
def test_l2_normalize_makes_length_one(dtype, axis):
    x = tf.cast(RNG.normal(size=(4, 5)), dtype)
    y = tf.math.l2_normalize(x, axis)
    assert y.dtype == dtype
    sizes = np.linalg.norm(y.numpy().astype(float), axis=tuple(axis) if isinstance(axis, list) else axis)
    np.testing.assert_allclose(sizes, np.ones_like(sizes), rtol=CLOSE[dtype] * 3)


def test_l2_normalize_where_squares_leave_the_range():
    for dtype, large in (("float16", 6e4), ("float32", 1e38), ("float64", 1e300)):
        x = tf.constant(np.array([[3 * large / 5, 4 * large / 5], [0, 0]], dtype))
        np.testing.assert_allclose(tf.nn.l2_normalize(x, 1).numpy(), [[.6, .8], [0, 0]], rtol=2e-3)
    np.testing.assert_allclose(gradient(lambda x: tf.linalg.l2_normalize(x, 0), np.zeros(2))[0], [1e6, 1e6], rtol=1e-9)
    np.testing.assert_allclose(tf.math.l2_normalize([3 + 4j, 0]).numpy(), [.6 + .8j, 0], rtol=1e-6)
    np.testing.assert_allclose(tf.math.l2_normalize([1., 1.], epsilon=8.).numpy(), [8 ** -.5] * 2, rtol=1e-6)
    check_grads(lambda x: tf.nn.l2_normalize(x, 1), [RNG.normal(size=(2, 3))])


@pytest.mark.parametrize("dtype", CLOSE)
def test_batch_normalization_and_its_older_name(dtype):
    x = RNG.normal(size=(2, 3, 3, 4))
    mean, variance, beta, gamma = RNG.normal(size=4), RNG.uniform(.5, 2, 4), RNG.normal(size=4), RNG.normal(size=4)
    parts = [tf.cast(v, dtype) for v in (x, mean, variance, beta, gamma)]
    x, mean, variance, beta, gamma = (p.numpy().astype(float) for p in parts)
    want = (x - mean) / np.sqrt(variance + .1)
    for y, expected in ((tf.nn.batch_normalization(*parts, .1), want * gamma + beta),
                        (tf.nn.batch_normalization(*parts[:3], None, None, .1), want),
                        (tf.nn.batch_norm_with_global_normalization(*parts, .1, True), want * gamma + beta),
                        (tf.nn.batch_norm_with_global_normalization(*parts, .1, False), want + beta)):
        assert y.dtype == dtype
        np.testing.assert_allclose(y.numpy().astype(float), expected, rtol=CLOSE[dtype] * 3, atol=CLOSE[dtype] * 3)


def test_batch_normalization_has_derivatives_of_every_order():
    values = RNG.normal(size=(3, 2)), RNG.normal(size=2), RNG.uniform(.5, 2, 2), RNG.normal(size=2), RNG.normal(size=2)
    check_grads(lambda *v: tf.nn.batch_normalization(*v, .01), values)
    check_grads(lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, 0), None, None, .01), values[:1], tolerance=1e-5)


@given(arrays(np.float64, (3, 4), elements=st.floats(-10, 10)), st.sampled_from([0, [0], [1], [0, 1], None]), st.booleans())
def test_moments_from_sums_are_the_moments(x, axes, keepdims):
    for shift in (None, 1.5):
        count, total, squares, back = tf.nn.sufficient_statistics(x, axes, shift, keepdims)
        assert (back is None) == (shift is None)
        moments = tf.nn.moments(x, [0, 1] if axes is None else axes, keepdims=keepdims)
        for got, want in zip(tf.nn.normalize_moments(count, total, squares, back), moments, strict=True):
            np.testing.assert_allclose(got.numpy(), want.numpy(), atol=1e-9)


@given(arrays(np.float64, (3, 4), elements=st.floats(-5, 5)), arrays(np.int64, (3, 4), elements=st.integers(0, 3)))
def test_weights_are_how_often_a_number_counts(x, weights):
    mean, variance = (v.numpy() for v in tf.nn.weighted_moments(x, [0, 1], weights.astype(float)))
    every = np.repeat(x.ravel(), weights.ravel())
    np.testing.assert_allclose([mean, variance], [every.mean(), every.var()] if len(every) else [0, 0], atol=1e-9)


def test_weighted_moments_of_halves_and_without_weights():
    mean, variance = tf.nn.weighted_moments(tf.ones((2, 3), tf.float16), [0], tf.zeros((2, 1), tf.float16), keepdims=True)
    assert mean.shape == variance.shape == (1, 3) and mean.dtype == tf.float16 and not mean.numpy().any()
    check_grads(lambda x, w: tf.nn.weighted_moments(x, [0], w), [RNG.normal(size=(3, 2)), RNG.uniform(.5, 1, (3, 1))])


def test_local_response_normalization_is_a_loop():
    x = RNG.normal(size=(1, 2, 1, 7))
    want = np.empty_like(x)
    for c in range(7): want[..., c] = x[..., c] / (2 + .5 * (x[..., max(0, c - 2):c + 3] ** 2).sum(-1)) ** .75
    y = tf.nn.local_response_normalization(x, 2, 2., .5, .75)
    np.testing.assert_allclose(y.numpy(), want)
    np.testing.assert_array_equal(tf.nn.lrn(x, depth_radius=2, bias=2., alpha=.5, beta=.75).numpy(), y.numpy())
    check_grads(lambda x: tf.nn.lrn(x, 1), [x])
    with pytest.raises(tf.errors.InvalidArgumentError, match="4 axes"): tf.nn.lrn(x[0])


# ---- embeddings

def sparse(at, values, shape): return SimpleNamespace(indices=tf.constant(at, tf.int64), values=tf.constant(values), dense_shape=shape)


TABLE = RNG.normal(size=(6, 3))
BAGS = sparse([[0, 0], [0, 1], [1, 0], [3, 0], [3, 1], [3, 2]], [2, 4, 1, 0, 2, 3], [5, 3])
WEIGHTS = sparse([[0, 0], [0, 1], [1, 0], [3, 0], [3, 1], [3, 2]], [1., 2., 3., .5, 0., 1.], [5, 3])


def test_embedding_lookup_in_parts_and_with_a_limit():
    ids = [[5, 0], [2, 2]]
    np.testing.assert_array_equal(tf.nn.embedding_lookup(TABLE, ids).numpy(), TABLE[ids])
    np.testing.assert_array_equal(tf.nn.embedding_lookup([TABLE[:4], TABLE[4:]], ids).numpy(), TABLE[ids])
    sizes = np.linalg.norm(tf.nn.embedding_lookup(TABLE, ids, max_norm=.5).numpy(), axis=-1)
    assert sizes.max() <= .5 + 1e-12
    zero = tf.Variable(tf.zeros((2, 3)))
    with tf.GradientTape() as tape: y = tf.nn.embedding_lookup(zero, [1], 1.0)
    assert np.isfinite(tf.convert_to_tensor(tape.gradient(y, zero)).numpy()).all()
    with pytest.raises(ValueError, match="empty list"): tf.nn.embedding_lookup([], ids)
    with pytest.raises(tf.errors.InvalidArgumentError, match="6"): tf.nn.embedding_lookup(TABLE, [6])


@pytest.mark.parametrize("combiner", ["mean", "sum", "sqrtn"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_bags_are_what_the_loops_say(combiner, weights):
    want = np.zeros((5, 3))
    for bag in range(5):
        at = np.flatnonzero(BAGS.indices.numpy()[:, 0] == bag)
        w = np.ones(len(at)) if weights is None else weights.values.numpy()[at]
        if not len(at): continue
        want[bag] = w @ TABLE[BAGS.values.numpy()[at]] / {"sum": 1, "mean": w.sum(), "sqrtn": (w * w).sum() ** .5}[combiner]
    np.testing.assert_allclose(tf.nn.embedding_lookup_sparse(TABLE, BAGS, weights, combiner).numpy(), want, atol=1e-7)
    np.testing.assert_allclose(tf.nn.safe_embedding_lookup_sparse(TABLE, BAGS, weights, combiner).numpy(), want, atol=1e-7)
    check_grads(lambda table: tf.nn.embedding_lookup_sparse(table, BAGS, weights, combiner), [TABLE])


def test_the_safe_lookup_forgives():
    ids = sparse([[0, 0], [0, 1], [2, 0]], [-1, 3, 1], [4, 2])
    y = tf.nn.safe_embedding_lookup_sparse(TABLE, ids, default_id=5)
    np.testing.assert_allclose(y.numpy(), TABLE[[3, 5, 1, 5]])
    none = sparse([[0, 0], [0, 1], [2, 0]], [1., 0., -1.], [4, 2])
    np.testing.assert_allclose(tf.nn.safe_embedding_lookup_sparse(TABLE, ids, none).numpy(), np.zeros((4, 3)))
    deep = sparse([[0, 1, 0], [1, 0, 0]], [2, 3], [2, 2, 1])
    np.testing.assert_allclose(tf.nn.safe_embedding_lookup_sparse(TABLE, deep).numpy(), [[[0] * 3, TABLE[2]], [TABLE[3], [0] * 3]])


def test_bags_that_do_not_fit_are_refused():
    with pytest.raises(TypeError, match="sp_ids must be a SparseTensor"): tf.nn.embedding_lookup_sparse(TABLE, [[1]], None)
    with pytest.raises(ValueError, match="combiner must be one of mean, sqrtn, sum"):
        tf.nn.embedding_lookup_sparse(TABLE, BAGS, None, "max")
    other = sparse([[0, 0]], [1.], [5, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="sp_weights"): tf.nn.embedding_lookup_sparse(TABLE, BAGS, other)


def test_a_real_sparse_tensor_will_do():
    ids = tf.SparseTensor([[0, 0], [1, 0]], [2, 3], [2, 1])
    np.testing.assert_allclose(tf.nn.embedding_lookup_sparse(TABLE, ids, None).numpy(), TABLE[[2, 3]])


# ---- blocks

@given(st.integers(1, 2), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(2, 3), st.booleans())
def test_space_and_depth_are_inverse(n, h, w, c, b, first):
    x = np.arange(n * h * w * b * b * c).reshape((n, c, h * b, w * b) if first else (n, h * b, w * b, c))
    form = "NCHW" if first else "NHWC"
    y = tf.nn.space_to_depth(x, b, form)
    np.testing.assert_array_equal(tf.nn.depth_to_space(y, b, form).numpy(), x)
    last = np.moveaxis(x, 1, -1) if first else x
    np.testing.assert_array_equal(y.numpy() if not first else np.moveaxis(y.numpy(), 1, -1), tf.nn.space_to_depth(last, b).numpy())


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2)), min_size=1, max_size=3))
def test_space_and_batch_are_inverse(axes):
    block, pads = [b for b, _, _ in axes], [[p, -(p + b * n - p) % b + b - p % b if (p % b) else 0] for b, n, p in axes]
    sizes = [b * n for b, n, _ in axes]
    pads = [[p[0], -(s + p[0]) % b] for p, s, b in zip(pads, sizes, block, strict=True)]
    x = np.arange(2 * np.prod(sizes) * 2).reshape(2, *sizes, 2)
    y = tf.space_to_batch_nd(x, block, pads)
    assert y.shape[0] == 2 * np.prod(block)
    np.testing.assert_array_equal(tf.batch_to_space(y, block, pads).numpy(), x)
    np.testing.assert_array_equal(tf.space_to_batch(x, block, pads).numpy(), y.numpy())
    np.testing.assert_array_equal(tf.nn.space_to_batch(x, np.array(block), np.array(pads)).numpy(), y.numpy())


def test_blocks_as_documented():
    np.testing.assert_array_equal(tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy(), [[[[1, 2, 3, 4]]]])
    four = [[[[1]]], [[[2]]], [[[3]]], [[[4]]]]
    np.testing.assert_array_equal(tf.batch_to_space(four, [2, 2], [[0, 0], [0, 0]]).numpy(), [[[[1], [2]], [[3], [4]]]])
    check_grads(lambda x: tf.batch_to_space(tf.nn.space_to_depth(x, 2), [2, 1], [[1, 0], [0, 1]]), [RNG.normal(size=(2, 4, 4, 1))])


@pytest.mark.parametrize("call, words", [
    (lambda: tf.nn.space_to_depth(np.zeros((1, 3, 4, 1)), 2), "axis 1 has 3 entries"),
    (lambda: tf.nn.depth_to_space(np.zeros((1, 3, 4, 3)), 2), "axis 3 has 3 entries"),
    (lambda: tf.nn.depth_to_space(np.zeros((3, 4, 4)), 2), "4 axes"),
    (lambda: tf.nn.space_to_depth(np.zeros((1, 4, 4, 1)), 1), "at least 2"),
    (lambda: tf.space_to_batch(np.zeros((1, 4, 4)), [2], [[0, 0], [0, 0]]), "paddings a pair"),
    (lambda: tf.batch_to_space(np.zeros((3, 4, 4)), [2], [[0, 0]]), "axis 0 has 3 entries"),
    (lambda: tf.batch_to_space(np.zeros((2, 1, 4)), [2], [[2, 2]]), "crops"),
])
def test_blocks_that_do_not_fit_are_refused(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words): call()


# ---- ranking

@given(st.integers(1, 40), st.integers(0, 40), st.sampled_from("float32 int32 uint8 float16 bfloat16 int64".split()), st.integers(0, 5))
def test_top_k_is_a_stable_sort(n, k, dtype, spread):
    x = tf.cast(np.random.default_rng(n).integers(0, spread + 1, (3, n)), dtype)
    k = min(k, n)
    values, indices = tf.math.top_k(x, k)
    order = np.argsort(-x.numpy().astype(np.int64), 1, kind="stable")[:, :k]
    assert values.dtype == dtype and indices.dtype == tf.int32
    np.testing.assert_array_equal(indices.numpy(), order)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x.numpy(), order, 1))


def test_top_k_edges():
    x = np.r_[np.zeros(200), np.nan, -np.inf, np.inf, np.ones(200)][None]
    assert tf.nn.top_k(x, 3).indices.numpy().tolist() == [[200, 202, 203]]
    assert tf.nn.top_k(np.iinfo(np.int64).min + np.arange(30), 2).indices.numpy().tolist() == [29, 28]
    check_grads(lambda x: tf.math.top_k(x, 2, sorted=False).values, [RNG.normal(size=(2, 2, 5))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="k must be in .0, 3"): tf.math.top_k([1, 2, 3], 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"): tf.math.top_k(3)
    with pytest.raises(TypeError, match="complex"): tf.math.top_k([1j])


def test_in_top_k():
    scores = np.array([[.1, .5, .2, .2], [1, 1, 1, 1], [0, np.inf, 0, 0], [3, 1, 2, 0]], np.float32)
    assert tf.math.in_top_k([2, 0, 0, 3], scores, 1).numpy().tolist() == [False, True, False, False]
    assert tf.nn.in_top_k([3, 4, -1, 1], scores, 3).numpy().tolist() == [True, False, False, True]
    with pytest.raises(tf.errors.InvalidArgumentError, match="in_top_k"): tf.math.in_top_k([1, 2], scores, 1)


@given(arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 9)), elements=st.integers(-5, 5).map(float)), st.booleans())
def test_isotonic_regression_is_the_min_max_of_means(x, decreasing):
    y, segments = tf.nn.isotonic_regression(x, decreasing)
    sign = 1 if decreasing else -1
    for row, out, segment in zip(x * sign, y.numpy() * sign, segments.numpy(), strict=True):
        n = len(row)
        mean = lambda a, b: row[a:b + 1].mean()   # noqa: B023, E731
        want = [min(max(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]
        np.testing.assert_allclose(out, want, atol=1e-12)
        assert segment[0] == 0 and {*np.diff(segment)} <= {0, 1}


def test_isotonic_regression_along_any_axis_and_of_whole_numbers():
    x = RNG.normal(size=(4, 3))
    np.testing.assert_array_equal(tf.nn.isotonic_regression(x, axis=0).output.numpy(), tf.nn.isotonic_regression(x.T).output.numpy().T)
    for given_, wanted in (("int8", "float32"), ("int32", "float64"), ("float16", "float16")):
        assert tf.nn.isotonic_regression(np.array([3, 1, 2], given_)).output.dtype == wanted
    check_grads(tf.nn.isotonic_regression, [x])
    with pytest.raises(ValueError, match="scalar"): tf.nn.isotonic_regression(1.)


# ---- small losses

@pytest.mark.parametrize("dtype", CLOSE)
def test_log_sigmoid(dtype):
    x = tf.constant(np.array([-60, -1, 0, 1, 60]), dtype)
    assert tf.math.log_sigmoid(x).dtype == dtype
    want = -np.log1p(np.exp(-x.numpy().astype(float)))
    np.testing.assert_allclose(tf.math.log_sigmoid(x).numpy().astype(float), want, rtol=CLOSE[dtype] * 2, atol=1e-7)
    np.testing.assert_allclose(gradient(tf.math.log_sigmoid, np.array([-1e3, 0, 1e3]))[0], [1, .5, 0])


def test_log_poisson_loss():
    z, c = np.array([0., .5, 1., 3.]), RNG.normal(size=4)
    full = tf.nn.log_poisson_loss(z, c, compute_full_loss=True).numpy()
    extra = [0, 0, 0, 3 * np.log(3) - 3 + .5 * np.log(6 * np.pi)]
    np.testing.assert_allclose(full - tf.nn.log_poisson_loss(z, c).numpy(), extra, atol=1e-12)
    assert np.isfinite(gradient(lambda z, c: tf.nn.log_poisson_loss(z, c, True), z, c)[0]).all()
    check_grads(lambda z, c: tf.nn.log_poisson_loss(z, c, True), [z + .2, c])
    with pytest.raises(ValueError, match="same shape"): tf.nn.log_poisson_loss([1.], [1., 2.])


def test_losses_of_a_batch():
    assert float(tf.nn.compute_average_loss([2., 4.])) == 3 and float(tf.nn.compute_average_loss([2., 4.], global_batch_size=4)) == 1.5
    assert float(tf.nn.compute_average_loss([[1., 3.], [2., 2.]], [[2.], [1.]])) == 6
    assert float(tf.nn.compute_average_loss([[1., 3.], [2., 2.]], [2., 1.])) == 6
    assert float(tf.nn.scale_regularization_loss([1., 2.])) == 3
    with pytest.raises(ValueError, match="scalar"): tf.nn.compute_average_loss(1.)
    with pytest.raises(TypeError, match="global_batch_size"): tf.nn.compute_average_loss([1.], global_batch_size=1.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="sample_weight"): tf.nn.compute_average_loss([1., 2.], [1., 2., 3.])


def test_leaky_relu_of_whole_numbers():
    for dtype in ("int32", "int8", "uint8"):
        y = tf.nn.leaky_relu(np.array([3, 0], dtype), .5)
        assert y.dtype == tf.float32 and y.numpy().tolist() == [3, 0]
    assert tf.nn.leaky_relu([-4], alpha=.25).numpy().tolist() == [-1]


@pytest.mark.parametrize("rate, noise", [*itertools.product([0, .25, .999], [None, [4, 1], [None, 1]])])
def test_dropout_of_any_rate(rate, noise):
    y = tf.nn.dropout(tf.ones((4, 50)), rate, noise, seed=1).numpy()
    assert {*np.unique(y)} <= {np.float32(0), np.float32(1 / (1 - rate))}
    if noise is not None: assert (y == y[:, :1]).all()
    with pytest.raises(ValueError, match="rate"): tf.nn.dropout(tf.ones(3), 1)
