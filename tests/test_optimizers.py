"""tf.keras.optimizers.SGD and Adam, against plain NumPy written from TF 2.4's documented formulas.

TF 2.4's optimizers differ from those of Keras 3 (names, `iter`, `lr`, `decay`, slots): 2.4 counts here.
"""
import contextlib
import logging
import warnings

import numpy as np
import pytest

import tfedu as tf

SGD, Adam = tf.keras.optimizers.SGD, tf.keras.optimizers.Adam
BAD = (ValueError, TypeError)


def variable(value=(1.0, 2.0, 3.0), dtype=tf.float32, **kw):
    return tf.Variable(value, dtype=dtype, **kw)


def step(optimizer, variables, *gradients, **kw):
    return optimizer.apply_gradients(zip([None if g is None else g if isinstance(g, tf.IndexedSlices) else tf.constant(g, v.dtype)
                                          for g, v in zip(gradients, variables, strict=True)], variables, strict=True), **kw)


def sparse(values, indices, shape=None):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), None if shape is None else tf.constant(shape))


@contextlib.contextmanager
def noticed(caplog):
    said = []
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.WARNING):
        warnings.simplefilter("always")
        for name in ("tensorflow", "tfedu"):
            logging.getLogger(name).addHandler(caplog.handler)
        try:
            yield said
        finally:
            for name in ("tensorflow", "tfedu"):
                logging.getLogger(name).removeHandler(caplog.handler)
    said += [str(w.message) for w in caught] + [r.getMessage() for r in caplog.records]


# -------------------------------------------------------------- reference in NumPy

def np_sgd(v, gs, lr=0.01, momentum=0.0, nesterov=False, decay=0.0):
    a = np.zeros_like(v)
    for t, g in enumerate(gs):
        rate = (lr(t) if callable(lr) else lr) / (1 + decay * t)
        if momentum > 0:
            a = momentum * a - rate * g
            v = v + (momentum * a - rate * g if nesterov else a)
        else:
            v = v - rate * g
    return v


def np_adam(v, gs, lr=0.001, b1=0.9, b2=0.999, eps=1e-7, amsgrad=False, decay=0.0):
    m, s, top = np.zeros_like(v), np.zeros_like(v), np.zeros_like(v)
    for t, g in enumerate(gs, 1):
        rate = (lr(t - 1) if callable(lr) else lr) / (1 + decay * (t - 1))
        m, s = b1 * m + (1 - b1) * g, b2 * s + (1 - b2) * g * g
        top = np.maximum(top, s)
        v = v - rate * np.sqrt(1 - b2 ** t) / (1 - b1 ** t) * m / (np.sqrt(top if amsgrad else s) + eps)
    return v


def trajectory(optimizer, start, gs, dtype):
    v = tf.Variable(start, dtype=dtype)
    for g in gs:
        step(optimizer, [v], g)
    return v.numpy()


GRADIENTS = np.random.RandomState(0).randn(7, 2, 3)
GRADIENTS[3] *= 10
START = np.random.RandomState(1).randn(2, 3)


@pytest.mark.parametrize("dtype, rtol", [("float32", 2e-5), ("float64", 1e-6), ("float16", 3e-2)])      # hyperparameters are float32
@pytest.mark.parametrize("kw", [{}, {"lr": 0.3}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "momentum": 0.9, "nesterov": True},
                                {"lr": 0.1, "momentum": 1.0}, {"lr": 0.2, "decay": 0.5},
                                {"lr": 0.1, "nesterov": True}, {"lr": 0.1, "momentum": 0.5, "decay": 0.1}], ids=str)
def test_sgd_trajectory(kw, dtype, rtol):
    given = {"learning_rate" if k == "lr" else k: v for k, v in kw.items()}
    np.testing.assert_allclose(trajectory(SGD(**given), START, GRADIENTS, dtype), np_sgd(START, GRADIENTS, **kw), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype, rtol", [("float32", 2e-5), ("float64", 2e-6)])
@pytest.mark.parametrize("kw", [{}, {"lr": 0.1}, {"lr": 0.1, "amsgrad": True}, {"lr": 0.1, "b1": 0.5, "b2": 0.8}, {"lr": 0.1, "eps": 0.5},
                                {"lr": 0.1, "eps": 0.5, "amsgrad": True},
                                {"lr": 0.1, "decay": 0.3}, {"lr": 0.1, "b1": 0.0}], ids=str)
def test_adam_trajectory(kw, dtype, rtol):
    given = {{"lr": "learning_rate", "b1": "beta_1", "b2": "beta_2", "eps": "epsilon"}.get(k, k): v for k, v in kw.items()}
    np.testing.assert_allclose(trajectory(Adam(**given), START, GRADIENTS, dtype), np_adam(START, GRADIENTS, **kw), rtol=rtol, atol=rtol)


def test_adam_epsilon_none_or_zero_is_the_backends():
    gs = GRADIENTS * 1e-7                                                      # so small that epsilon counts
    for epsilon in (None, 0, 1e-7):
        np.testing.assert_allclose(trajectory(Adam(0.1, epsilon=epsilon), START, gs, "float64"), np_adam(START, gs, lr=0.1, eps=1e-7),
                                   rtol=1e-5)
    assert Adam(epsilon=None).epsilon == 1e-7 and Adam().epsilon == 1e-7


def test_amsgrad_keeps_the_largest_second_moment():
    gs = np.array([[10.0], [0.1], [0.1], [0.1]])
    plain, ams = (trajectory(Adam(0.1, amsgrad=a), np.zeros(1), gs, "float64") for a in (False, True))
    assert plain != ams
    np.testing.assert_allclose(ams, np_adam(np.zeros(1), gs, lr=0.1, amsgrad=True), rtol=1e-6)


# --------------------------------------------------------------- apply_gradients

@pytest.mark.parametrize("make", [SGD, Adam, lambda: SGD(momentum=0.9)])
def test_iterations(make):
    optimizer, v = make(), variable()
    assert isinstance(optimizer.iterations, tf.Variable) and optimizer.iterations.dtype == tf.int64 and int(optimizer.iterations) == 0
    assert optimizer.iterations.name == "iter:0" and optimizer.iterations.trainable is False
    for n in (1, 2, 3):
        step(optimizer, [v], [1.0, 1.0, 1.0])
        assert int(optimizer.iterations) == n
    optimizer.iterations.assign(10)
    step(optimizer, [v], [1.0, 1.0, 1.0])
    assert int(optimizer.iterations) == 11
    with pytest.raises(RuntimeError):
        optimizer.iterations = tf.Variable(0, dtype=tf.int64)
    fresh, counter = make(), tf.Variable(5, dtype=tf.int64)
    fresh.iterations = counter
    assert fresh.iterations is counter


def test_missing_gradients(caplog):
    a, b = variable(name="a"), variable(name="b")
    optimizer = SGD(1.0)
    with noticed(caplog) as said:
        step(optimizer, [a, b], [1.0, 1.0, 1.0], None)
    assert any("b:0" in s and "Gradients do not exist" in s for s in said)
    assert a.numpy().tolist() == [0, 1, 2] and b.numpy().tolist() == [1, 2, 3] and int(optimizer.iterations) == 1
    with pytest.raises(ValueError, match="No gradients provided for any variable.*a:0.*b:0"):
        step(optimizer, [a, b], None, None)
    assert int(optimizer.iterations) == 1
    optimizer.apply_gradients([])                                             # nothing to do is not an error, and not a step
    assert int(optimizer.iterations) == 1


def test_apply_gradients_takes_any_iterable_and_a_name():
    v, optimizer = variable(), SGD(1.0)
    optimizer.apply_gradients(iter([(tf.ones([3]), v)]), name="step")
    optimizer.apply_gradients(grads_and_vars=((tf.ones([3]), v),), name=None, experimental_aggregate_gradients=True)
    optimizer.apply_gradients([(tf.ones([3]), v)], experimental_aggregate_gradients=False)
    assert v.numpy().tolist() == [-2, -1, 0]


def test_only_floating_variables_train():
    for dtype in (tf.int32, tf.bool):
        v = tf.Variable(tf.zeros([2], dtype))
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            SGD().apply_gradients([(tf.zeros([2], dtype), v)])
    for dtype in (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64):
        v = tf.Variable(tf.ones([2], dtype))
        SGD(0.5).apply_gradients([(tf.ones([2], dtype), v)])
        np.testing.assert_array_equal(v.numpy().astype("complex64"), [0.5, 0.5])


def test_wrong_shape_of_a_gradient():
    v = variable()
    for optimizer in (SGD(), SGD(momentum=0.9), Adam()):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            optimizer.apply_gradients([(tf.ones([2]), v)])


def test_mixed_dtypes_in_one_call():
    a, b = variable(dtype=tf.float64), variable(dtype=tf.float16)
    step(SGD(0.5), [a, b], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert a.numpy().tolist() == b.numpy().tolist() == [0.5, 1.5, 2.5] and a.dtype == tf.float64 and b.dtype == tf.float16


# --------------------------------------------------------- clipping and transformers

BIG = [[3.0, -4.0, 0.0], [0.0, 0.0, 12.0]]


@pytest.mark.parametrize("kw, expected", [
    ({"clipvalue": 2.0}, [[2, -2, 0], [0, 0, 2]]), ({"clipnorm": 1.0}, [[0.6, -0.8, 0], [0, 0, 1]]),
    ({"global_clipnorm": 6.5}, [[1.5, -2, 0], [0, 0, 6]]),
    ({"clipvalue": 3.0, "clipnorm": 1.0}, [[2 ** -0.5, -2 ** -0.5, 0], [0, 0, 1]]), ({"clipnorm": 100.0}, BIG),
    ({"clipvalue": 3.0, "global_clipnorm": 100.0}, [[3, -3, 0], [0, 0, 3]]),
])
@pytest.mark.parametrize("how", ["argument", "property"])
def test_clip_options(kw, expected, how):
    variables = [tf.Variable(np.zeros(3)), tf.Variable(np.zeros(3))]
    optimizer = SGD(1.0, **(kw if how == "argument" else {}))
    if how == "property":
        for name, value in kw.items():
            setattr(optimizer, name, value)
    assert all(getattr(optimizer, n) == kw.get(n) for n in ("clipnorm", "clipvalue", "global_clipnorm"))
    step(optimizer, variables, *BIG)
    np.testing.assert_allclose([-v.numpy() for v in variables], expected, rtol=1e-6)


def test_clip_errors():
    for kw in ({"clipnorm": 1.0, "global_clipnorm": 1.0}, {"clipnorm": -1.0}, {"clipvalue": -1.0}, {"decay": -0.1}, {"lr": -0.1},
               {"clipvalue": 1.0, "gradient_transformers": [lambda p: p]},
               {"clipnorm": 1.0, "gradient_transformers": [lambda p: p]}, {"global_clipnorm": 1.0, "gradient_transformers": [lambda p: p]}):
        for make in (SGD, Adam):
            with pytest.raises(ValueError):
                make(0.1, **kw)
    for make in (SGD, Adam):
        with pytest.raises(TypeError, match="no_such_option"):
            make(0.1, no_such_option=1)
    for name in ("clipvalue", "clipnorm", "global_clipnorm"):
        with pytest.raises(ValueError):
            setattr(SGD(0.1, gradient_transformers=[lambda p: p]), name, 1.0)


@pytest.mark.parametrize("momentum", [-0.1, 1.1])
def test_momentum_outside_zero_to_one(momentum):
    with pytest.raises(ValueError, match="(?i)momentum"):
        SGD(0.1, momentum=momentum)


def test_gradient_transformers_run_in_order_after_aggregation():
    seen = []

    def aggregate(pairs):
        seen.append("aggregate")
        return [(g * 10.0, v) for g, v in pairs]

    def add_one(pairs):
        seen.append("add")
        return [(g + 1.0, v) for g, v in pairs]

    def double(pairs):
        seen.append("double")
        return [(g * 2.0, v) for g, v in pairs]

    v = variable()
    optimizer = SGD(1.0, gradient_aggregator=aggregate, gradient_transformers=[add_one, double])
    step(optimizer, [v], [1.0, 1.0, 1.0])
    assert seen == ["aggregate", "add", "double"] and v.numpy().tolist() == [-21, -20, -19]
    seen.clear()
    step(optimizer, [v], [1.0, 1.0, 1.0], experimental_aggregate_gradients=False)
    assert seen == ["add", "double"] and v.numpy().tolist() == [-25, -24, -23]


# -------------------------------------------------------------- hyperparameters

@pytest.mark.filterwarnings("ignore:.*lr.*")
def test_learning_rate_and_its_alias():
    for optimizer in (SGD(learning_rate=0.5), SGD(0.5), SGD(lr=0.5)):
        assert float(optimizer.learning_rate) == float(optimizer.lr) == 0.5
        v = variable()
        step(optimizer, [v], [2.0, 2.0, 2.0])
        assert v.numpy().tolist() == [0, 1, 2]
        optimizer.lr = 0.25
        assert float(optimizer.learning_rate) == 0.25
        step(optimizer, [v], [4.0, 4.0, 4.0])
        optimizer.learning_rate = 1.0
        step(optimizer, [v], [1.0, 1.0, 1.0])
        assert v.numpy().tolist() == [-2, -1, 0] and float(optimizer.lr) == 1.0


def test_hyperparameters_become_variables():
    optimizer, v = SGD(0.5, momentum=0.5), variable()
    step(optimizer, [v], [1.0, 1.0, 1.0])
    rate = optimizer.learning_rate
    assert isinstance(rate, tf.Variable) and rate.dtype == tf.float32 and rate.trainable is False and float(optimizer.momentum) == 0.5
    rate.assign(0.125)
    optimizer.momentum = 0.0
    assert float(optimizer.lr) == 0.125 and float(optimizer.momentum) == 0.0 and float(optimizer.decay) == 0.0
    adam = Adam()
    step(adam, [v], [1.0, 1.0, 1.0])
    np.testing.assert_allclose([float(adam.learning_rate), float(adam.beta_1), float(adam.beta_2)], [0.001, 0.9, 0.999], rtol=1e-6)
    adam.beta_1 = 0.5
    assert float(adam.beta_1) == 0.5
    with pytest.raises(AttributeError):
        adam.no_such_hyperparameter


def test_learning_rate_may_be_a_callable_or_a_variable():
    calls = []

    def rate():
        calls.append(1)
        return 0.1 * len(calls)

    v = variable([0.0])
    optimizer = SGD(rate)
    for _ in range(3):
        step(optimizer, [v], [1.0])
    np.testing.assert_allclose(v.numpy(), [-0.6], rtol=1e-6)

    given = tf.Variable(0.5)
    optimizer, v = SGD(given), variable([0.0])
    step(optimizer, [v], [1.0])
    given.assign(1.0)
    step(optimizer, [v], [1.0])
    assert v.numpy().tolist() == [-1.5]


@pytest.mark.skipif(not hasattr(tf.keras.optimizers.schedules, "LearningRateSchedule"), reason="schedules come later")
def test_learning_rate_may_be_a_schedule():
    class Halving(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.5 * 0.5 ** tf.cast(step, tf.float32)

        def get_config(self):
            return {}

    gs, halving = np.ones((4, 1)), Halving()
    got = trajectory(SGD(halving), np.zeros(1), gs, "float32")
    np.testing.assert_allclose(got, np_sgd(np.zeros(1), gs, lr=lambda t: 0.5 * 0.5 ** t), rtol=1e-6)
    got = trajectory(Adam(halving, decay=0.5), np.zeros(1), gs, "float32")     # decay acts on top of the schedule
    np.testing.assert_allclose(got, np_adam(np.zeros(1), gs, lr=lambda t: 0.5 * 0.5 ** t, decay=0.5), rtol=1e-5)


# --------------------------------------------------------------- weights and slots

def test_slots_and_weights_order():
    a, b = variable(name="a"), variable([1.0], name="b")
    adam = Adam(amsgrad=True)
    assert adam.get_slot_names() == [] and [w.name for w in adam.weights][:1] in ([], ["iter:0"])
    step(adam, [a, b], [1.0, 2.0, 3.0], [4.0])
    assert adam.get_slot_names() == ["m", "v", "vhat"]
    assert [w.shape.as_list() for w in adam.weights] == [[], [3], [1], [3], [1], [3], [1]] and adam.weights[0] is adam.iterations
    assert [w.name.split(":")[0].endswith(s) for w, s in zip(adam.weights[1:], ("a/m", "b/m", "a/v", "b/v", "a/vhat", "b/vhat"),
                                                             strict=True)] == [True] * 6
    np.testing.assert_allclose(adam.get_slot(a, "m").numpy(), [0.1, 0.2, 0.3], rtol=1e-6)
    np.testing.assert_allclose(adam.get_slot(b, "v").numpy(), [0.016], rtol=1e-4)
    assert adam.get_slot(a, "m").dtype == a.dtype and adam.get_slot(a, "m").trainable is False
    assert len(adam.variables()) == 7 and adam.variables()[1] is adam.weights[1]
    for bad in (lambda: adam.get_slot(a, "no_such_slot"), lambda: adam.get_slot(variable(), "m")):
        with pytest.raises((KeyError, ValueError)):
            bad()
    sgd = SGD(0.1)
    step(sgd, [a], [1.0, 1.0, 1.0])
    assert sgd.get_slot_names() == [] and len(sgd.weights) == 1
    heavy = SGD(0.1, momentum=0.9)
    step(heavy, [a], [1.0, 1.0, 1.0])
    assert heavy.get_slot_names() == ["momentum"]
    np.testing.assert_allclose(heavy.get_slot(a, "momentum").numpy(), [-0.1] * 3, rtol=1e-6)


@pytest.mark.parametrize("make", [lambda: SGD(0.1, momentum=0.9), lambda: Adam(0.1), lambda: Adam(0.1, amsgrad=True)])
def test_get_and_set_weights_resume_a_run(make):
    full = trajectory(make(), START, GRADIENTS, "float64")
    first, v = make(), tf.Variable(START)
    for g in GRADIENTS[:3]:
        step(first, [v], g)
    saved = first.get_weights()
    assert all(isinstance(w, np.ndarray) or np.isscalar(w) for w in saved) and int(saved[0]) == 3
    second = make()
    scratch = tf.Variable(START)
    step(second, [scratch], GRADIENTS[0])                                     # creates the weights
    second.set_weights(saved)
    assert int(second.iterations) == 3
    w = tf.Variable(v)
    third = make()
    step(third, [w], np.zeros((2, 3)))
    w.assign(v), third.set_weights(saved)
    for g in GRADIENTS[3:]:
        step(third, [w], g)
    np.testing.assert_allclose(w.numpy(), full, rtol=1e-6)
    for bad in (saved[:-1], [*saved, saved[-1]] if "amsgrad" in str(make) else saved[:1], [saved[0], *[np.zeros(9) for _ in saved[1:]]]):
        with pytest.raises(ValueError):
            second.set_weights(bad)


def test_adam_takes_weights_saved_with_vhat():
    ams, plain, v = Adam(amsgrad=True), Adam(), variable()
    step(ams, [v], [1.0, 1.0, 1.0]), step(plain, [v], [0.0, 0.0, 0.0])
    plain.set_weights(ams.get_weights())
    np.testing.assert_allclose(plain.get_slot(v, "m").numpy(), [0.1] * 3, rtol=1e-6)


def test_config_round_trip():
    for optimizer, expected in ((SGD(0.5, momentum=0.25, nesterov=True, name="mine"),
                                 {"name": "mine", "learning_rate": 0.5, "decay": 0.0, "momentum": 0.25, "nesterov": True}),
                                (Adam(0.5, 0.25, 0.125, 1e-3, True), {"name": "Adam", "learning_rate": 0.5, "decay": 0.0, "beta_1": 0.25,
                                                                      "beta_2": 0.125, "epsilon": 1e-3, "amsgrad": True}),
                                (SGD(0.5, clipnorm=2.0, decay=0.5), {"name": "SGD", "learning_rate": 0.5, "decay": 0.5, "momentum": 0.0,
                                                                     "nesterov": False, "clipnorm": 2.0}),
                                (SGD(0.5, global_clipnorm=2.0), {"name": "SGD", "learning_rate": 0.5, "decay": 0.0, "momentum": 0.0,
                                                                 "nesterov": False, "global_clipnorm": 2.0})):
        config = optimizer.get_config()
        assert config == expected and all(type(v) in (str, float, int, bool) for v in config.values())
        again = type(optimizer).from_config(config)
        assert again.get_config() == expected
    optimizer, v = SGD(0.5), variable()
    step(optimizer, [v], [1.0, 1.0, 1.0])
    optimizer.lr = 0.25
    assert optimizer.get_config()["learning_rate"] == 0.25 and type(optimizer.get_config()["learning_rate"]) in (float, np.float32)
    assert float(SGD.from_config({"lr": 0.5}).learning_rate) == 0.5            # the old name


def test_names():
    assert SGD(name="x").get_config()["name"] == "x" and SGD().get_config()["name"] == "SGD" and Adam().get_config()["name"] == "Adam"


# -------------------------------------------------------------- sparse gradients

def test_sgd_adds_duplicate_rows():
    v = tf.Variable(np.zeros((3, 2), np.float32))
    step(SGD(0.5), [v], sparse([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]], [0, 2, 0], [3, 2]))
    np.testing.assert_allclose(v.numpy(), [[-2.5, -2.5], [0, 0], [-1, -1]])


@pytest.mark.parametrize("nesterov", [False, True])
def test_sparse_momentum_touches_only_the_rows_given(nesterov):
    v = tf.Variable(np.zeros((3, 1), np.float32))
    optimizer = SGD(0.1, momentum=0.5, nesterov=nesterov)
    step(optimizer, [v], sparse([[1.0], [2.0], [4.0]], [0, 2, 0]))
    step(optimizer, [v], sparse([[3.0]], [0]))
    row0 = np_sgd(np.zeros(1), [np.array([5.0]), np.array([3.0])], lr=0.1, momentum=0.5, nesterov=nesterov)
    row2 = np_sgd(np.zeros(1), [np.array([2.0])], lr=0.1, momentum=0.5, nesterov=nesterov)
    np.testing.assert_allclose(v.numpy().ravel(), [row0[0], 0, row2[0]], rtol=1e-6)


@pytest.mark.parametrize("amsgrad", [False, True])
def test_sparse_adam_is_not_lazy(amsgrad):
    v = tf.Variable(np.zeros((3, 1), np.float32))
    optimizer = Adam(0.1, amsgrad=amsgrad)
    dense = [np.array([[5.0], [0.0], [2.0]]), np.array([[3.0], [0.0], [0.0]]), np.array([[0.0], [1.0], [0.0]])]
    for g in (sparse([[1.0], [2.0], [4.0]], [0, 2, 0]), sparse([[3.0]], [0]), sparse([[1.0]], [1])):
        step(optimizer, [v], g)
    np.testing.assert_allclose(v.numpy(), np_adam(np.zeros((3, 1)), dense, lr=0.1, amsgrad=amsgrad), rtol=1e-5, atol=1e-8)


def test_embedding_rows_train():
    table = tf.Variable(np.ones((4, 2), np.float32))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [1, 3, 1]))
    SGD(0.5).apply_gradients([(tape.gradient(loss, table), table)])
    np.testing.assert_allclose(table.numpy(), [[1, 1], [0, 0], [1, 1], [0.5, 0.5]])


def test_constraints():
    v = variable(constraint=lambda x: tf.clip_by_value(x, 0.0, 1.5))
    for optimizer in (SGD(1.0), Adam(1.0), SGD(1.0, momentum=0.5)):
        v.assign([1.0, 2.0, 3.0])
        step(optimizer, [v], [5.0, -5.0, 0.0])
        np.testing.assert_allclose(v.numpy(), [0, 1.5, 1.5], atol=1e-5)
    with pytest.raises(RuntimeError, match="(?i)constraint"):
        step(SGD(1.0), [v], sparse([1.0], [0]))


# ----------------------------------------------------------------------- minimize

def test_the_announcements_own_loop():
    inputs, targets = tf.constant([[0.0], [1.0], [2.0], [3.0]]), tf.constant([[1.0], [3.0], [5.0], [7.0]])
    w, b = tf.Variable([[0.0]], name="w"), tf.Variable([0.0], name="b")
    optimizer = SGD(learning_rate=0.1)
    for _ in range(200):
        tape = tf.GradientTape()
        with tape:
            loss = tf.reduce_mean((inputs @ w + b - targets) ** 2)
        optimizer.minimize(loss, [w, b], tape=tape)
    np.testing.assert_allclose([float(w[0, 0]), float(b[0])], [2, 1], atol=1e-2)
    assert float(loss) < 1e-3 and int(optimizer.iterations) == 200


def test_minimize_with_a_callable():
    v, frozen = variable([4.0]), tf.Variable([1.0], trainable=False)
    optimizer = SGD(0.25)
    optimizer.minimize(lambda: v * v, var_list=[v])
    assert v.numpy().tolist() == [2]
    optimizer.minimize(lambda: v * v, lambda: [v], grad_loss=tf.constant([2.0]), name="m")
    assert v.numpy().tolist() == [0]
    optimizer.minimize(lambda: frozen * frozen, [frozen])                      # a var_list is watched
    assert frozen.numpy().tolist() == [0.5]


def test_minimize_errors():
    v = variable([4.0])
    with tf.GradientTape() as tape:
        loss = v * v
    with pytest.raises(ValueError, match="tape"):
        SGD().minimize(loss, [v])
    with pytest.raises(ValueError, match="No gradients"):
        SGD().minimize(loss, [variable([1.0])], tape=tape)


def test_one_optimizer_and_several_variable_sets():
    a, b = variable([1.0]), variable([1.0])
    optimizer = Adam(0.1)
    step(optimizer, [a], [1.0]), step(optimizer, [a, b], [1.0], [1.0])
    reference = np_adam(np.ones(1), [np.ones(1)] * 2, lr=0.1)
    np.testing.assert_allclose(a.numpy(), reference, rtol=1e-5)
    assert len(optimizer.weights) == 5


def test_deterministic_and_independent_optimizers():
    runs = [trajectory(Adam(0.1), START, GRADIENTS, "float32") for _ in range(2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    a, b, v, w = SGD(0.5, momentum=0.9), SGD(0.5, momentum=0.9), variable(), variable()
    step(a, [v], [1.0, 1.0, 1.0]), step(b, [w], [2.0, 2.0, 2.0])
    np.testing.assert_allclose(a.get_slot(v, "momentum").numpy(), [-0.5] * 3)
    with pytest.raises((KeyError, ValueError)):
        a.get_slot(w, "momentum")
