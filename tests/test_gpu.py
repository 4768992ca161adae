"""A card's plumbing on a simulated one: names, copies, dispatch, gradients, errors."""
import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tfedu as tf
from tfedu.core import trace
from tfedu.core.memory import DEVICES
from tfedu.kernels import gpu
from tfedu.kernels.gpu import Array, Simulated, memory_info, prepare_pool, reset_memory, simulate

HERE = "/job:localhost/replica:0/task:0/device:"
RNG = np.random.default_rng(0)


@pytest.fixture
def card():
    tf.config.experimental.enable_tensor_float_32_execution(False)   # our convolutions obey it, once kernels.promotion is imported
    with simulate() as xp: yield xp
    tf.config.experimental.enable_tensor_float_32_execution(True)
    assert DEVICES == {"CPU": np} and trace.UNUSUAL == []


def test_names(card):
    assert tf.config.list_physical_devices("GPU") == [tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")]
    assert tf.config.list_logical_devices("GPU") == [tf.config.LogicalDevice("/device:GPU:0", "GPU")]
    details = tf.config.experimental.get_device_details(tf.config.list_physical_devices("GPU")[0])
    assert details == {"device_name": "simulated card", "compute_capability": (9, 0)}
    assert tf.constant(1.).gpu().device == HERE + "GPU:0" and tf.constant(1.).device == HERE + "CPU:0"


def test_after_it_nothing_is_left():
    with simulate(2): assert len(tf.config.list_logical_devices("GPU")) == 2
    assert tf.config.list_physical_devices("GPU") == [] and "GPU" not in DEVICES


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64", "bool", "complex64", "uint8"])
def test_there_and_back(card, dtype):
    x = tf.cast(tf.constant([[0, 1, 2], [3, 4, 5]]), dtype)
    y = x.gpu()
    assert type(y.array) is Array and y.dtype is x.dtype and y.shape == x.shape and y.gpu() is y and x.cpu() is x
    assert np.array_equal(y.cpu().numpy(), x.numpy()) and np.array_equal(y.numpy(), x.numpy()) and np.array_equal(np.array(y), x.numpy())
    assert repr(y) == repr(x) and str(y) == str(x)
    back = pickle.loads(pickle.dumps(y))
    assert np.array_equal(back.numpy(), x.numpy()) and copy.copy(y) is y


def test_scalars_are_numbers(card):
    with tf.device("GPU:0"): x, n, t = tf.constant(2.5), tf.constant(3), tf.constant(True)
    assert (float(x), int(n), bool(t), f"{x:.2f}", [10, 20, 30, 40][n]) == (2.5, 3, True, "2.50", 40)
    assert [float(v) for v in tf.constant([1., 2.]).gpu()] == [1, 2] and len(tf.constant([1., 2.]).gpu()) == 2


def test_scopes_decide_where_things_run(card):
    a, b = tf.constant([[1., 2.]]), tf.constant([[3.], [4.]])
    with tf.device("/GPU:0"):
        y = tf.matmul(a, b)
        with tf.device("/CPU:0"): z = y + 1
        v = tf.Variable([1., 2.])
    assert [t.device[-5:] for t in (y, z, v)] == ["GPU:0", "CPU:0", "GPU:0"] and y.numpy() == [[11.]] and z.numpy() == [[12.]]
    assert (y * 2).device.endswith("GPU:0") and (a * y).device.endswith("GPU:0") and (v + 1).device.endswith("GPU:0")


def test_kernels_for_cards_are_chosen(card):
    op, calls = tf.tanh.op, []
    old = dict(op.kernels)
    op.on("GPU")(lambda xp, x: calls.append(type(x)) or xp.tanh(x))
    try:
        x = tf.constant([.5])
        assert tf.tanh(x).numpy() == tf.tanh(x.gpu()).numpy() and calls == [Array]
    finally:
        op.kernels.clear()
        op.kernels.update(old)


def both(f, *arrays):
    "Value and gradients of `f`, on the processor and on the card."
    found = []
    for device in ("CPU:0", "GPU:0"):
        with tf.device(device):
            xs = [tf.Variable(a) for a in arrays]
            with tf.GradientTape() as tape: y = f(*xs)
            g = tape.gradient(y, xs)
        assert y.device.endswith(device) and all(v.device.endswith(device) for v in g if isinstance(v, tf.Tensor))
        found.append([y.numpy()] + [tf.convert_to_tensor(v).numpy() for v in g])
    for a, b in zip(*found, strict=True): np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


A, B, C = RNG.normal(size=(4, 3)).astype("f4"), RNG.normal(size=(3, 5)).astype("f4"), RNG.normal(size=5).astype("f4")
IMAGES, KERNELS = RNG.normal(size=(2, 5, 5, 3)).astype("f4"), RNG.normal(size=(3, 3, 3, 4)).astype("f4")
LABELS = np.array([0, 2, 1, 4])
CALLS = {
    "arithmetic": (lambda a: tf.reduce_sum(a * a - 2 * a / (a + 9)), A), "dense": (lambda a, b, c: tf.nn.relu(a @ b + c), A, B, C),
    "softmax": (lambda a: tf.nn.softmax(a)[:, 0], A), "log_softmax": (lambda a: tf.nn.log_softmax(a), A),
    "cross_entropy": (lambda a, b: tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, a @ b), A, B),
    "reductions": (lambda a: tf.reduce_max(a, 0) + tf.reduce_mean(a, 0) + tf.reduce_prod(a, 0), A),
    "gather": (lambda a: tf.gather(a, [0, 2, 0]), A), "concat": (lambda a, b: tf.concat([a, tf.transpose(b)], 0), A, B),
    "slices": (lambda a: a[1:, ::2] * 2, A), "einsum": (lambda a, b: tf.einsum("ij,jk->ki", a, b), A, B),
    "conv2d": (lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"), IMAGES, KERNELS),
    "pool": (lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), RNG.normal(size=(2, 4, 4, 3)).astype("f4")),
    "where": (lambda a: tf.where(a > 0, a, a * a), A), "reshape": (lambda a: tf.reshape(a, (3, 4)), A),
    "norm": (lambda a: tf.norm(a) + tf.reduce_logsumexp(a), A), "gelu": (lambda a: tf.nn.gelu(a), A),
    "clip": (lambda a: tf.clip_by_value(a, -1, 1), A),
    "stack": (lambda a: tf.stack(tf.unstack(a)), A), "pad": (lambda a: tf.pad(a, [[1, 1], [0, 2]]), A),
    "cumsum": (lambda a: tf.cumsum(a, 1), A),
    "split": (lambda a: tf.split(a, 2)[1], A), "l2": (lambda a: tf.nn.l2_loss(a), A),
    "solve": (lambda a: tf.linalg.inv(a), A[:3] + 3 * np.eye(3, dtype="f4")),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(card, name): both(*CALLS[name])


def test_gradients_cross_between_memories(card):
    x, w = tf.Variable([[1., 2.]]), tf.Variable([[3.], [4.]])
    with tf.GradientTape(persistent=True) as tape:
        with tf.device("GPU:0"): y = tf.matmul(x * x, w)
        z = y.cpu() * x
        u = tf.reduce_sum(z.gpu() * z)
    expected = tf.Variable([[1., 2.]]), tf.Variable([[3.], [4.]])
    with tf.GradientTape() as plain: t = tf.reduce_sum((tf.matmul(expected[0] * expected[0], expected[1]) * expected[0]) ** 2)
    for found, wanted in zip(tape.gradient(u, [x, w]), plain.gradient(t, expected), strict=True):
        assert found.device.endswith("CPU:0") and np.allclose(found.numpy(), wanted.numpy())
    assert tape.gradient(y, x).numpy().tolist() == [[6., 16.]]


def test_second_derivatives(card):
    with tf.device("GPU:0"):
        x = tf.Variable([1., 2.])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner: y = tf.reduce_sum(x ** 3)
            g = inner.gradient(y, x)
        assert outer.gradient(g, x).numpy().tolist() == [6., 12.]


def test_unconnected_and_given_cotangents(card):
    x, y = tf.Variable([1., 2.]), tf.constant([3., 4.]).gpu()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(y)
        z = y * y
    assert tape.gradient(z, y, output_gradients=tf.constant([1., 10.])).numpy().tolist() == [6., 80.]
    assert tape.gradient(z, x) is None and tape.gradient(z, x, unconnected_gradients="zero").numpy().tolist() == [0, 0]


def test_variables_live_there(card):
    with tf.device("GPU:0"): v = tf.Variable([[1., 2.], [3., 4.], [5., 6.]])
    v.assign_add(np.ones((3, 2), "f4"))
    v.assign_sub(tf.ones((3, 2)))
    v[0].assign([7., 8.])
    v.scatter_add(tf.IndexedSlices(tf.ones((3, 2)), tf.constant([1, 1, 2])))
    assert type(v.array) is Array and v.numpy().tolist() == [[7, 8], [5, 6], [6, 7]] and "GPU" in v.device and "7., 8." in repr(v)
    v.assign([[0., 0.]] * 3)
    assert v.numpy().sum() == 0 and type(v.array) is Array


def test_training_is_the_same(card):
    x, labels = RNG.normal(size=(32, 6)).astype("f4"), RNG.integers(0, 3, 32)
    weights = [RNG.normal(size=s).astype("f4") * .3 for s in ((6, 8), (8,), (8, 3), (3,))]
    def train(device):
        with tf.device(device):
            w = [tf.Variable(a) for a in weights]
            for _ in range(5):
                with tf.GradientTape() as tape:
                    logits = tf.nn.relu(x @ w[0] + w[1]) @ w[2] + w[3]
                    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
                for v, g in zip(w, tape.gradient(loss, w), strict=True): v.assign_sub(.1 * g)
        return float(loss)
    assert train("CPU:0") == pytest.approx(train("GPU:0"), rel=1e-5)


def test_policies(card):
    a, b = tf.constant([1.]), tf.constant([2.]).gpu()
    assert (a + b).device.endswith("GPU:0")
    try:
        tf.config.experimental.set_device_policy("explicit")
        with pytest.raises(tf.errors.InvalidArgumentError, match="add: x is on .*CPU:0, the operation runs on .*GPU:0"): a + b
        assert (a.gpu() + b).numpy() == [3.]
        tf.config.experimental.set_device_policy("warn")
        with pytest.warns(UserWarning, match="copied there"): a + b
        tf.config.experimental.set_device_policy("silent_for_int32")
        assert (tf.constant([1]) + tf.constant([2]).gpu()).numpy() == [3]
        with pytest.raises(tf.errors.InvalidArgumentError): a + b
    finally: tf.config.experimental.set_device_policy(None)


def test_soft_placement(card):
    with pytest.warns(UserWarning, match="no device .*GPU:3, .*GPU:0 is used instead"):
        assert tf.constant(1.).gpu(3).device.endswith("GPU:0")
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="GPU:3"): tf.constant(1.).gpu(3)
    finally: tf.config.set_soft_device_placement(True)


def test_text_stays_at_home(card):
    with tf.device("GPU:0"): x = tf.constant(["a", "b"])
    assert x.numpy().tolist() == [b"a", b"b"]


def test_strict_arrays(card):
    x = card.asarray(np.arange(6.).reshape(2, 3))
    strange = np.ones((2, 3))
    for wrong in (lambda: x + strange, lambda: np.asarray(x), lambda: card.add(x, strange), lambda: card.where(x > 1, x, strange)):
        with pytest.raises(TypeError): wrong()
    y = np.add(x, 1)
    assert type(y) is Array and type(np.sum(x)) is Array and type(x.T) is Array and type(x.sum()) is Array and type(x[0, 0]) is Array
    y += x
    y[0] = 0
    assert y.get().tolist() == [[0, 0, 0], [7, 9, 11]] and float(x.max()) == 5 and x.shape == (2, 3) and x.tolist()[1] == [3, 4, 5]


def test_memory(card):
    device, = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(device, True)
    tf.config.set_logical_device_configuration(device, [tf.config.LogicalDeviceConfiguration(memory_limit=1)] * 2)
    prepare_pool(device)
    reset_memory()
    before = memory_info()["current"]
    x = tf.zeros(1000).gpu()
    assert memory_info()["current"] == before + 4000 == tf.config.experimental.get_memory_usage("GPU:0")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="2097152 bytes"): tf.zeros(2 ** 20).gpu()
    assert tf.zeros(10).gpu(1).device.endswith("GPU:1") and (tf.zeros(10).gpu(1) + tf.zeros(10).gpu()).device[-5:] in ("GPU:1", "GPU:0")
    del x
    assert memory_info()["current"] == before and memory_info()["peak"] >= before + 4000


def test_logging_and_spans_name_the_card(card):
    seen = []
    trace.LISTENERS.append(lambda name, start, end, facts: seen.append((name, facts["device"][-5:])))
    try:
        with tf.device("GPU:0"): tf.tanh(tf.constant([1.]))
    finally: trace.LISTENERS.pop()
    assert ("tanh", "GPU:0") in seen


def test_the_environment_asks_for_one(root):
    code = "import tfedu as tf, tfedu.kernels.gpu; print(tf.config.list_physical_devices('GPU')[0].name, (tf.ones(2).gpu() * 2).numpy())"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60,
                          env={"TFEDU_SIMULATED_GPU": "1", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(root)})
    assert done.stdout.strip() == "/physical_device:GPU:0 [2. 2.]", done.stderr


def test_without_a_card_nothing_is_registered():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if not gpu.cards(): assert gpu.use() == 0


def test_ops_with_extremes_of_nothing(card):
    assert isinstance(card, Simulated)
    assert tf.reduce_max(tf.zeros((2, 0)).gpu(), 1).numpy().tolist() == [-np.inf] * 2
