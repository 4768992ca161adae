"""Activations, softmax, bias and the cross entropies: first and second derivatives, small types, special values."""
import math

import ml_dtypes
import numpy as np
import pytest

import tfedu as tf

INF, NAN = math.inf, math.nan
X = np.random.default_rng(0).normal(size=(3, 4)) * 2
P, Z = np.abs(X), np.random.default_rng(1).normal(size=(2, 3, 4, 5))
LABELS = np.array([1, 0, 3])


def beside(value, x): return tf.cast(tf.constant(value), x.dtype)


CASES = {
    "relu": (tf.nn.relu, X), "relu6": (tf.nn.relu6, X * 3), "crelu": (tf.nn.crelu, X), "leaky_relu": (tf.nn.leaky_relu, X),
    "elu": (tf.nn.elu, X), "selu": (tf.nn.selu, X), "softsign": (tf.nn.softsign, X), "silu": (tf.nn.silu, X), "swish": (tf.nn.swish, X),
    "erf": (tf.math.erf, X), "erfc": (tf.math.erfc, X), "gelu": (tf.nn.gelu, X),
    "gelu tanh": (lambda x: tf.nn.gelu(x, approximate=True), X),
    "softmax": (tf.nn.softmax, X), "softmax 0": (lambda x: tf.nn.softmax(x, axis=0), X), "log_softmax": (tf.nn.log_softmax, X),
    "log_softmax 0": (lambda x: tf.nn.log_softmax(x, 0), X), "l2_loss": (tf.nn.l2_loss, X),
    "bias_add value": (lambda x: tf.nn.bias_add(x, beside(np.ones(4), x)) ** 2, X),
    "bias_add bias": (lambda b: tf.nn.bias_add(beside(X, b), b) ** 2, X[0]),
    "bias_add NHWC": (lambda b: tf.nn.bias_add(beside(Z, b), b, "NHWC") ** 2, Z[0, 0, 0]),
    "bias_add NCHW": (lambda b: tf.nn.bias_add(beside(Z, b), b, data_format="NCHW") ** 2, Z[0, :, 0, 0]),
    "mean": (lambda x: tf.nn.moments(x, [0])[0] ** 2, X), "variance": (lambda x: tf.nn.moments(x, [0, 1])[1], X),
    "variance kept": (lambda x: tf.nn.moments(x, [1], keepdims=True)[1], X),
    "sparse": (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=LABELS, logits=x), X),
    "dense logits": (lambda x: tf.nn.softmax_cross_entropy_with_logits(beside(P, x), x), X),
    "dense labels": (lambda y: tf.nn.softmax_cross_entropy_with_logits(y, beside(X, y)), P),
    "dense both": (lambda x: tf.nn.softmax_cross_entropy_with_logits(x * x, x, axis=0), X),
    "sigmoid logits": (lambda x: tf.nn.sigmoid_cross_entropy_with_logits(labels=beside(P, x), logits=x), X),
    "sigmoid both": (lambda x: tf.nn.sigmoid_cross_entropy_with_logits(x * x, x), X),
    "weighted both": (lambda x: tf.nn.weighted_cross_entropy_with_logits(x * x, x, 2.5), X),
    "weighted weight": (lambda w: tf.nn.weighted_cross_entropy_with_logits(beside(P, w), beside(X, w), w * w), X),
}


def numeric(f, x, h=1e-5):
    out = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[i] = h
        out[i] = (f(x + step) - f(x - step)) / (2 * h)
    return out


def slope(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, unconnected_gradients="zero")


@pytest.mark.parametrize("f, x", CASES.values(), ids=CASES)
def test_derivatives(f, x):
    def total(x):
        y = f(x)
        return tf.reduce_sum(y * np.cos(np.arange(y.numpy().size)).reshape(y.shape))

    def along(x): return tf.reduce_sum(slope(total, x) * np.sin(np.arange(x.numpy().size)).reshape(x.shape))

    np.testing.assert_allclose(slope(total, tf.constant(x)).numpy(), numeric(lambda v: float(total(tf.constant(v))), x), atol=1e-7)
    np.testing.assert_allclose(slope(along, tf.constant(x)).numpy(), numeric(lambda v: float(along(tf.constant(v))), x), atol=1e-7)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("f, x", CASES.values(), ids=CASES)
def test_small_types_stay(f, x, dtype):
    x = tf.cast(tf.constant(x), dtype)
    first, second = slope(f, x), slope(lambda v: slope(f, v), x)
    assert f(x).dtype == first.dtype == second.dtype == dtype
    exact = slope(f, tf.cast(x, "float64")).numpy()
    scale, eps = max(np.abs(exact).max(), 1), {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23}[dtype]
    np.testing.assert_allclose(first.numpy().astype(np.float64), exact, atol=16 * eps * scale)


def test_sums_in_small_types_do_not_stop():
    for dtype in (np.float16, ml_dtypes.bfloat16):
        b, x = tf.constant(np.zeros(1, dtype)), tf.constant(np.ones((3000, 1), dtype))
        assert abs(float(slope(lambda b, x=x: tf.nn.bias_add(x, b), b)[0]) - 3000) < 16
        even = tf.constant(np.zeros((1, 4096), dtype))
        np.testing.assert_allclose(tf.nn.softmax(even).numpy().astype(float), 1 / 4096, rtol=0.01)
        np.testing.assert_allclose(float(tf.nn.log_softmax(even)[0, 0]), -math.log(4096), rtol=0.01)


def test_error_function_to_the_last_digits():
    x = np.concatenate([np.linspace(-6.2, 6.2, 5001), [0.46875, np.nextafter(0.46875, 1), 4, np.nextafter(4, 5), 1e-300]])
    far = np.linspace(6, 26, 1000)
    np.testing.assert_allclose(tf.math.erf(x).numpy(), [math.erf(v) for v in x], rtol=1e-15)
    for v in (x, far): np.testing.assert_allclose(tf.math.erfc(v).numpy(), [math.erfc(w) for w in v], rtol=2e-15)
    assert tf.math.erf([INF, -INF]).numpy().tolist() == [1, -1] and tf.math.erfc([INF, -INF, 40.0]).numpy().tolist() == [0, 2, 0]
    assert np.isnan(tf.math.erf([NAN]).numpy()[0]) and np.signbit(tf.math.erf([-0.0]).numpy()[0])


# for nan, -1, inf, -inf, 0: values, slopes (None: not compared); as TensorFlow 2.21, but softsign, gelu and silu
# have their limits where it has nan
SPECIAL = {
    "relu": ([NAN, 0, INF, 0, 0], [0, 0, 1, 0, 0]), "relu6": ([NAN, 0, 6, 0, 0], [0, 0, 0, 0, 0]),
    "leaky_relu": ([NAN, -0.2, INF, -INF, 0], [0.2, 0.2, 1, 0.2, 0.2]),
    "elu": ([NAN, math.expm1(-1), INF, -1, 0], [None, math.exp(-1), 1, 0, 1]),
    "selu": ([NAN, -1.1113307, INF, -1.7580993, 0], [None, 0.64676857, 1.050701, 0, 1.050701]),
    "softsign": ([NAN, -0.5, 1, -1, 0], [NAN, 0.25, 0, 0, 1]),
    "gelu": ([NAN, -0.15865526, INF, 0, 0], [None, -0.08331549, 1, 0, 0.5]),
    "silu": ([NAN, -0.26894143, INF, 0, 0], [None, 0.07232948, 1, 0, 0.5]),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name):
    x = tf.constant([NAN, -1.0, INF, -INF, 0.0])
    values, slopes = SPECIAL[name]
    np.testing.assert_allclose(getattr(tf.nn, name)(x).numpy(), np.float32(values), rtol=1e-6)
    found = slope(getattr(tf.nn, name), x).numpy()
    for f, s in zip(found, slopes, strict=True): assert s is None or np.allclose(f, s, rtol=1e-5, equal_nan=True)


def test_masked_rows():
    x = tf.constant([[0.0, -INF, 0.0], [-INF, -INF, -INF]])
    np.testing.assert_allclose(tf.nn.softmax(x).numpy(), [[0.5, 0, 0.5], [0, 0, 0]])
    np.testing.assert_allclose(tf.nn.log_softmax(x).numpy(), [[-math.log(2), -INF, -math.log(2)], [-INF] * 3], rtol=1e-6)
    assert np.isfinite(slope(tf.nn.softmax, x).numpy()).all() and np.isfinite(slope(tf.nn.log_softmax, x).numpy()).all()
    np.testing.assert_allclose(tf.nn.softmax_cross_entropy_with_logits([[1.0, 0, 0]], x[:1]).numpy(), [math.log(2)], rtol=1e-6)
    np.testing.assert_allclose(tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1], [[0.0, -INF]] * 2).numpy(), [0, INF])


def test_empty_and_integer_inputs():
    assert tf.nn.softmax(tf.zeros([2, 0])).shape == [2, 0] and tf.nn.log_softmax(tf.zeros([0, 3])).shape == [0, 3]
    assert tf.nn.sparse_softmax_cross_entropy_with_logits(tf.zeros([0], tf.int32), tf.zeros([0, 3])).shape == [0]
    assert tf.nn.sparse_softmax_cross_entropy_with_logits(1, tf.zeros([3])).shape == []
    assert tf.nn.relu(tf.constant([1, -2])).numpy().tolist() == [1, 0] and np.isnan(tf.nn.zero_fraction(tf.zeros([0])).numpy())
    assert tf.nn.zero_fraction([[0, 1], [0, 0]]).numpy() == np.float32(0.75) and tf.nn.zero_fraction([0.0]).dtype == tf.float32
    assert tf.nn.softsign([1.0]).numpy() == tf.math.softsign([1.0]).numpy() == 0.5


BAD = {
    "softmax of a scalar": (lambda: tf.nn.softmax(3.0), "softmax"), "softmax axis": (lambda: tf.nn.softmax([[1.0]], axis=5), "softmax.*5"),
    "bias size": (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([2])), r"bias_add.*2, 3.*2"),
    "bias rank": (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([1, 3])), r"bias_add.*2, 3.*1, 3"),
    "value rank": (lambda: tf.nn.bias_add(tf.ones([3]), tf.ones([3])), "bias_add"),
    "data_format": (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([3]), "X"), "data_format.*X"),
    "sparse rank": (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(tf.zeros([2, 3], tf.int32), tf.zeros([2, 3])),
                    r"labels.*2, 3.*2, 3"),
    "label too large": (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 10], tf.zeros([2, 10])),
                        r"label value of 10 which is outside the valid range \[0, 10\)"),
    "label negative": (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0, -1], tf.zeros([2, 10])), "label value of -1"),
    "dense shapes": (lambda: tf.nn.softmax_cross_entropy_with_logits(tf.ones([2, 2]), tf.ones([2, 3])), r"2, 2.*2, 3"),
    "sigmoid shapes": (lambda: tf.nn.sigmoid_cross_entropy_with_logits(tf.ones([2, 2]), tf.ones([2, 3])), r"2, 3.*2, 2"),
    "sigmoid missing": (lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones([2])), "logits"),
    "weighted shapes": (lambda: tf.nn.weighted_cross_entropy_with_logits(tf.ones([2, 2]), tf.ones([2, 3]), 1.0), r"2, 3.*2, 2"),
    "dropout rate": (lambda: tf.nn.dropout(tf.ones([3]), 1.0), "dropout.*rate"),
    "dropout of integers": (lambda: tf.nn.dropout(tf.constant([3]), 0.5), "dropout.*int32"),
}


@pytest.mark.parametrize("call, message", BAD.values(), ids=BAD)
def test_refused(call, message):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message): call()


def test_dropout():
    x = tf.constant(np.ones((100, 100)))
    tf.random.set_seed(1)
    y = tf.nn.dropout(x, rate=0.25)
    assert y.dtype == tf.float64 and abs(y.numpy().mean() - 1) < 0.03
    assert set(np.unique(y.numpy()).round(9).tolist()) == {0.0, round(4 / 3, 9)}
    rows = tf.nn.dropout(x, 0.5, noise_shape=[None, 1]).numpy()
    assert (rows == rows[:, :1]).all() and 20 < (rows[:, 0] == 0).sum() < 80
    np.testing.assert_array_equal(slope(lambda v: tf.nn.dropout(v, 0.5, seed=3) * 0 + v, x).numpy(), x.numpy())
    assert tf.nn.dropout(x, 0) is x
    tf.random.set_seed(None)
