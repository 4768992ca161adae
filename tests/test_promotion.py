"""Promoted forwards and the gradients behind them: on the simulated card against the processor."""
import numpy as np
import pytest

import tfedu as tf
from tfedu.kernels import promotion
from tfedu.kernels.gpu import simulate
from tfedu.kernels.promotion import CHOICE, HOME, PROMOTED, traced

RNG = np.random.default_rng(0)
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
A, B = RNG.normal(size=(5, 7)).astype("f4"), RNG.normal(size=(7, 6)).astype("f4")
BATCH, OTHERS = RNG.normal(size=(3, 4, 5)).astype("f4"), RNG.normal(size=(3, 5, 2)).astype("f4")
IMAGES, KERNELS = RNG.normal(size=(2, 6, 6, 3)).astype("f4"), RNG.normal(size=(3, 3, 3, 4)).astype("f4")
LABELS, INDEX = np.array([0, 6, 3, 3, 1]), np.array([[4, 0], [0, 2]])

CALLS = {
    "softmax": (lambda a: tf.nn.softmax(a), A), "softmax along the first axis": (lambda a: tf.nn.softmax(a, 0), A),
    "log_softmax": (lambda a: tf.nn.log_softmax(a), A), "loss": (lambda a: tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, a), A),
    "gather": (lambda a: tf.gather(a, INDEX) * 2, A), "gather of products": (lambda a: tf.gather(a * a, INDEX), A),
    "many products": (lambda a, b: a @ b, BATCH, OTHERS),
    "turned": (lambda a, b: tf.matmul(b, a, transpose_a=True, transpose_b=True), BATCH, OTHERS),
    "one product": (lambda a, b: a @ b, A, B), "broadcast product": (lambda a, b: a @ b[0], BATCH, OTHERS),
    "sum": (lambda a: tf.reduce_sum(a, 0), A), "mean": (lambda a: tf.reduce_mean(a, 1, keepdims=True), A),
    "max": (lambda a: tf.reduce_max(a), A),
    "gelu": (lambda a: tf.nn.gelu(a), A), "sigmoid": (lambda a: tf.sigmoid(a), A), "softplus": (lambda a: tf.nn.softplus(a), A),
    "elu": (lambda a: tf.nn.elu(a), A), "difference": (lambda a, b: tf.math.squared_difference(a, b), A, A[0]),
    "clipped": (lambda a: tf.nn.relu6(a * 4), A), "leaky": (lambda a: tf.nn.leaky_relu(a, .3), A),
}


def both(f, dtype, *arrays):
    "Value and gradients, on the processor and on the card."
    found = []
    for device in ("CPU:0", "GPU:0"):
        with tf.device(device):
            xs = [tf.Variable(tf.cast(a, dtype)) for a in arrays]
            with tf.GradientTape() as tape: y = f(*xs)
            g = tape.gradient(y, xs)
        assert y.device.endswith(device)
        found.append([y.numpy()] + [tf.convert_to_tensor(v).numpy() for v in g])
    return zip(*found, strict=True)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", CALLS)
def test_value_and_gradient(name, dtype):
    with simulate():
        for a, b in both(CALLS[name][0], dtype, *CALLS[name][1:]):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(a.astype("f8"), b.astype("f8"), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("tf32", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("stride, padding", [(1, "SAME"), (2, "VALID")])
def test_convolution(dtype, stride, padding, tf32):
    tf.config.experimental.enable_tensor_float_32_execution(tf32)
    near = 2e-2 if dtype == "float16" or tf32 else 1e-4
    try:
        with simulate():
            for a, b in both(lambda x, w: tf.nn.conv2d(x, w, stride, padding), dtype, IMAGES, KERNELS):
                np.testing.assert_allclose(a.astype("f8"), b.astype("f8"), rtol=near, atol=near)
    finally: tf.config.experimental.enable_tensor_float_32_execution(True)


def test_the_switch_and_the_simulation_agree():
    "A convolution by our TF32 kernel on the card, and by NumPy with rounded operands, are the same up to the order of sums."
    from tfedu.core.tf32 import simulate as rounding
    x, w = tf.constant(IMAGES), tf.constant(KERNELS)
    with simulate(), tf.device("GPU:0"): card = tf.nn.conv2d(x, w, 1, "SAME").numpy()
    with rounding(): processor = tf.nn.conv2d(x, w, 1, "SAME").numpy()
    np.testing.assert_allclose(card, processor, rtol=1e-5, atol=1e-5)
    assert np.abs(card - tf.nn.conv2d(x, w, 1, "SAME").numpy()).max() > 1e-5


def test_what_does_not_fit_goes_on():
    with simulate(), tf.device("GPU:0"):
        assert tf.nn.softmax(tf.constant([0., 0.], tf.float64)).numpy().tolist() == [.5, .5]
        assert tf.gather(tf.constant([[1, 2], [3, 4]]), [1, 0], axis=1).numpy().tolist() == [[2, 1], [4, 3]]
        assert tf.reduce_sum(tf.constant([], tf.float16)).numpy() == 0
        assert (tf.constant([2, 3]) ** tf.constant([2, 2])).numpy().tolist() == [4, 9]
    with simulate(), tf.device("GPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.sparse_softmax_cross_entropy_with_logits([9], [[1., 2.]])


def test_index_outside_gives_zeros_as_tensorflow_says_of_cards():
    with simulate(), tf.device("GPU:0"): assert tf.gather(tf.constant([[1., 2.]]), [0, 3]).numpy().tolist() == [[1, 2], [0, 0]]


@pytest.mark.parametrize("name", ["lgamma", "digamma", "erfinv", "bessel_i0e"])
def test_ops_that_stay_at_home(name):
    call = getattr(tf.math, name, None)
    with simulate():
        for a, b in both(lambda x: call(x * .1 + .5), "float32", np.abs(A) / 4): np.testing.assert_allclose(a, b, rtol=1e-5)


def test_choices_are_followed(monkeypatch):
    used = []
    monkeypatch.setattr(promotion, "softmax_rows", lambda xp, x, axis: used.append(1) or x)
    with simulate(), tf.device("GPU:0"):
        tf.nn.softmax([[1., 2.]])
        monkeypatch.setitem(CHOICE, "softmax", "library")
        tf.nn.softmax([[1., 2.]])
    assert used == [1]


def test_coverage():
    assert {"softmax", "gather", "matmul", "convolve", "gelu", "sigmoid", "reduce_sum"} <= set(PROMOTED) and len(PROMOTED) > 60
    f4 = np.dtype("f4")
    assert traced(tf.nn.gelu.op, (f4,), (False,)) is not None and traced(tf.add.op, (f4, f4), ()) is None
    assert not set(HOME) & {"softmax", "gelu"}


def test_second_derivative_and_mixed_precision_training():
    x, labels = RNG.normal(size=(24, 6)).astype("f4"), RNG.integers(0, 3, 24)
    def train(device):
        with tf.device(device):
            w = [tf.Variable(a) for a in (FIRST, LAST)]
            for _ in range(4):
                with tf.GradientTape() as tape:
                    h = tf.nn.gelu(tf.cast(x, tf.float16) @ tf.cast(w[0], tf.float16))
                    scores = tf.cast(h @ tf.cast(w[1], tf.float16), tf.float32)
                    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
                    scaled = loss * 128.
                for v, g in zip(w, tape.gradient(scaled, w), strict=True): v.assign_sub(.5 / 128 * g)
        return float(loss)
    with simulate(): assert train("CPU:0") == pytest.approx(train("GPU:0"), rel=5e-3)
    with simulate(), tf.device("GPU:0"):
        v = tf.Variable([.3, -.2])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner: y = tf.nn.softmax(v)[0]
            g = inner.gradient(y, v)[0]
        s = 1 / (1 + np.exp(-.5))
        np.testing.assert_allclose(outer.gradient(g, v).numpy(), [s * (1 - s) * (1 - 2 * s), -s * (1 - s) * (1 - 2 * s)], rtol=1e-4)


FIRST, LAST = RNG.normal(size=(6, 8)).astype("f4") * .4, RNG.normal(size=(8, 3)).astype("f4") * .4
