"""tf.GradientTape: what it watches, what it returns, what it costs; gradients against finite differences."""
import collections
import contextlib
import gc
import logging
import threading
import tracemalloc
import warnings

import numpy as np
import pytest

import tfedu as tf

INF = float("inf")


def dense(gradient):
    "A gradient as an array; tf.gather's may be tf.IndexedSlices."
    return None if gradient is None else tf.convert_to_tensor(gradient).numpy()


def gradients(f, *values, **kw):
    xs = [tf.convert_to_tensor(v) for v in values]
    with tf.GradientTape() as tape:
        for x in xs:
            tape.watch(x)
        y = f(*xs)
    return [dense(g) for g in tape.gradient(y, xs, **kw)]


@contextlib.contextmanager
def noticed(caplog):
    "Collects what was said through warnings or logging."
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


# ----------------------------------------------------------------- what is watched

def test_watch_a_tensor():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    g = tape.gradient(y, x)
    assert isinstance(g, tf.Tensor) and g.dtype == tf.float32 and g.shape == [] and float(g) == 6.0
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None                                        # constants are not watched by themselves


def test_watch_takes_structures_and_is_repeatable():
    x, y = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch({"a": [x], "b": (y,)}), tape.watch(x), tape.watch([])
        z = x * y
    assert [float(g) for g in tape.gradient(z, [x, y])] == [2.0, 1.0]
    for bad in (1.0, "a", [x, 2.0], np.ones(2), None):
        with tf.GradientTape() as tape, pytest.raises((ValueError, TypeError)):
            tape.watch(bad)


def test_what_was_computed_before_watch_is_not_seen():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        before = x * x
        tape.watch(x)
        after = x * before
    assert float(tape.gradient(after, x)) == 9.0


def test_variables_are_watched_when_they_are_read():
    v, frozen = tf.Variable(3.0), tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * frozen
    assert [None if g is None else float(g) for g in tape.gradient(y, [v, frozen])] == [12.0, None]
    with tf.GradientTape() as tape:
        tape.watch(frozen)
        y = v * frozen
    assert [float(g) for g in tape.gradient(y, [v, frozen])] == [2.0, 3.0]


def test_watch_accessed_variables_off():
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * w
    assert [x is v for x in tape.watched_variables()] == [True]
    assert [None if g is None else float(g) for g in tape.gradient(y, [v, w])] == [2.0, None]


def test_watched_variables_are_those_that_were_read():
    a, b, c, d = (tf.Variable(float(i), name=n) for i, n in enumerate("abcd"))
    with tf.GradientTape() as tape:
        a * b, a * b, tf.reshape(c, [1]), d.name, d.shape
    watched = tape.watched_variables()
    assert isinstance(watched, tuple) and [v.name for v in watched] == ["a:0", "b:0", "c:0"]


@pytest.mark.parametrize("read", [lambda v: v * 1.0, lambda v: v.value(), lambda v: v.read_value(), tf.convert_to_tensor, tf.identity,
                                  lambda v: v[:], lambda v: -v,
                                  lambda v: tf.stack([v, v])[0], lambda v: tf.add(1.0, v), lambda v: tf.reshape(v, [2]),
                                  lambda v: [0.0, 0.0] + v])
def test_every_way_to_read_a_variable_is_recorded(read):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(read(v) * [3.0, 4.0])
    assert np.abs(dense(tape.gradient(y, v))).tolist() == [3.0, 4.0]


def test_sparse_reads():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for read in (lambda: v.sparse_read([0, 2, 0]), lambda: tf.gather(v, [0, 2, 0])):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(read() * [[1.0], [2.0], [3.0]])
        np.testing.assert_array_equal(dense(tape.gradient(y, v)), [[4, 4], [0, 0], [2, 2]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [0])) + tf.reduce_sum(v)
    np.testing.assert_array_equal(dense(tape.gradient(y, v)), [[2, 2], [1, 1], [1, 1]])


# ------------------------------------------------------------- what gradient() takes

def test_sources_of_any_structure():
    v, w, x = tf.Variable(2.0), tf.Variable(3.0), tf.constant(4.0)
    Pair = collections.namedtuple("Pair", "first second")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = v * w * x
    assert float(tape.gradient(y, v)) == 12.0
    assert [float(g) for g in tape.gradient(y, [v, x])] == [12.0, 6.0]
    result = tape.gradient(y, {"v": v, "rest": [w, (x,)]})
    assert set(result) == {"v", "rest"} and float(result["v"]) == 12.0 and float(result["rest"][1][0]) == 6.0
    assert isinstance(result["rest"][1], tuple)
    pair = tape.gradient(y, Pair(v, [v]))
    assert isinstance(pair, Pair) and float(pair.first) == float(pair.second[0]) == 12.0
    assert tape.gradient(y, []) == [] and isinstance(tape.gradient(y, (v,)), tuple)
    assert [float(g) for g in tape.gradient(y, [v, v])] == [12.0, 12.0]


def test_intermediate_results_and_targets_are_sources_too():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * 3.0
    assert float(tape.gradient(z, y)) == 3.0 and float(tape.gradient(z, z)) == 1.0 and float(tape.gradient(x, x)) == 1.0
    assert tape.gradient(y, z) is None and [float(g) for g in tape.gradient(z, [x, y, z])] == [12.0, 3.0, 1.0]
    assert [float(g) for g in tape.gradient([y, z], [x, y])] == [16.0, 4.0]


def test_several_targets_are_summed():
    for make in (lambda a, b: [a, b], lambda a, b: {"a": a, "b": (b,)}):
        assert gradients(lambda x, make=make: make(x * x, 3 * x), 2.0) == [7.0]
    assert gradients(lambda x: [x * x, tf.constant(1.0)], 2.0) == [4.0]
    v = tf.Variable(5.0)
    with tf.GradientTape() as tape:
        v * 1.0
    assert float(tape.gradient(v, v)) == 1.0


def test_non_scalar_targets_are_summed():
    np.testing.assert_array_equal(gradients(lambda x: x * [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0])[0], [4, 6])


def test_output_gradients():
    assert gradients(lambda x: x * x, [1.0, 2.0], output_gradients=tf.constant([3.0, 5.0]))[0].tolist() == [6, 20]
    assert gradients(lambda x: [x * x, 3 * x], 2.0, output_gradients=[tf.constant(10.0), tf.constant(100.0)]) == [340.0]
    assert gradients(lambda x: x, [1.0, 2.0], output_gradients=tf.constant([3.0, 5.0]))[0].tolist() == [3, 5]
    for bad in (tf.ones([3]), tf.constant([1, 2]), tf.ones([2], tf.float64)):
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            gradients(lambda x: x * x, [1.0, 2.0], output_gradients=bad)


def test_unconnected_gradients():
    x, v = tf.constant([1.0, 2.0]), tf.Variable([[3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, v])
        y = x * 2.0
    assert tape.gradient(y, v) is None and tape.gradient(y, v, unconnected_gradients="none") is None
    assert tape.gradient(y, v, unconnected_gradients=tf.UnconnectedGradients.NONE) is None
    for zero in ("zero", tf.UnconnectedGradients.ZERO):
        gx, gv = tape.gradient(y, [x, v], unconnected_gradients=zero)
        assert gx.numpy().tolist() == [2, 2] and gv.numpy().tolist() == [[0]] and gv.dtype == tf.float32
    with pytest.raises(ValueError, match="unconnected_gradients|nothing"):
        tape.gradient(y, v, unconnected_gradients="nothing")


@pytest.mark.parametrize("cut", [tf.stop_gradient, lambda x: tf.constant(x.numpy()), lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32),
                                 lambda x: tf.cast(tf.argmax(x), tf.float32),
                                 lambda x: tf.cast(x > 0, tf.float32), lambda x: tf.ones_like(x),
                                 lambda x: tf.cast(tf.shape(x), tf.float32)])
def test_what_cuts_the_gradient(cut):
    with tf.GradientTape(persistent=True) as tape:
        x = tf.constant([1.0, 2.0])
        tape.watch(x)
        y = cut(x)
        z = y * x
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, x).shape == [2]


# ------------------------------------------------------------------ life of a tape

def test_a_second_gradient_needs_a_persistent_tape():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    with pytest.raises(RuntimeError, match="(?i)persistent"):
        tape.gradient(y, v)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    assert float(tape.gradient(y, v)) == float(tape.gradient(y, v)) == 6.0
    with pytest.raises(RuntimeError):
        tf.GradientTape().gradient(y, v)                                      # never entered


def test_stop_recording():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        with tape.stop_recording():
            hidden = v * 5.0
        z = y + hidden
    assert float(tape.gradient(z, v)) == 6.0 and tape.gradient(hidden, v) is None
    tape = tf.GradientTape()
    with tape:
        y = v * v
        with tape.stop_recording():
            inside = tape.gradient(y, v)
    assert float(inside) == 6.0
    with pytest.raises((RuntimeError, ValueError)), tf.GradientTape().stop_recording():
        pass


def test_stop_recording_ends_after_an_error():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with contextlib.suppress(KeyError), tape.stop_recording():
            raise KeyError
        y = v * v
    assert float(tape.gradient(y, v)) == 6.0


def test_reset_forgets():
    v, x = tf.Variable(3.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = v * v * x
        tape.reset()
        z = v * x
    assert tape.gradient(y, v) is None and float(tape.gradient(z, v)) == 2.0 and tape.gradient(z, x) is None


def test_entering_again_continues_and_entering_twice_is_an_error():
    v = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = v * v
    apart = y * 1.0
    with tape:
        z = y * v
    assert float(tape.gradient(z, v)) == 27.0 and apart is not None
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="(?i)record"):
        tape.__enter__()


def test_nothing_is_recorded_outside_or_after_an_exception():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    assert tape.gradient(y * 2.0, v) is None
    with contextlib.suppress(KeyError), tf.GradientTape(persistent=True) as failed:
        y = v * v
        raise KeyError
    z = y * v
    assert float(failed.gradient(y, v)) == 6.0 and failed.gradient(z, v) is None


def test_gradient_inside_the_context():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        inside = tape.gradient(y, v)
    assert float(inside) == 6.0


@pytest.mark.filterwarnings("ignore")                        # TF says that this costs more
def test_gradient_inside_a_persistent_tape_is_recorded():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v * v
        first = tape.gradient(y, v)
        second = tape.gradient(first, v)
    assert (float(first), float(second), float(tape.gradient(second, v))) == (27.0, 18.0, 6.0)


def test_bad_sources_and_targets():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    for target, source in ((None, v), (y, 1.0), (y, "a"), (y, [v, None])):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            tape.gradient(target, source)


# ---------------------------------------------------------------- nested, higher order

def test_third_order():
    x = tf.Variable(2.0)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = x ** 4 + tf.exp(2.0 * x)
            d1 = t1.gradient(y, x)
        d2 = t2.gradient(d1, x)
    d3 = t3.gradient(d2, x)
    e = np.exp(4.0)
    np.testing.assert_allclose([float(d1), float(d2), float(d3)], [32 + 2 * e, 48 + 4 * e, 48 + 8 * e], rtol=1e-6)


def test_sibling_and_overlapping_tapes():
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tx, tf.GradientTape() as ty:
        tx.watch(x), ty.watch(y)
        z = x * x * y
    assert float(tx.gradient(z, x)) == 12.0 and float(ty.gradient(z, y)) == 4.0
    with tf.GradientTape() as tx, tf.GradientTape() as ty:
        tx.watch(x), ty.watch(y)
        z = x * y
    assert tx.gradient(z, y) is None and ty.gradient(z, x) is None
    a, b = tf.GradientTape(), tf.GradientTape()                               # not properly nested
    with contextlib.ExitStack() as stack:
        a.__enter__()
        b.__enter__()
        a.watch(x), b.watch(x)
        u = x * x
        a.__exit__(None, None, None)
        w = u * x
        stack.callback(b.__exit__, None, None, None)
    assert a.gradient(w, x) is None and float(b.gradient(w, x)) == 12.0


def test_hessian_of_softmax_cross_entropy():
    logits = tf.Variable([[0.5, -1.0, 2.0]], dtype=tf.float64)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits)
        g = inner.gradient(loss, logits)
        parts = tf.unstack(g[0])
    hessian = np.stack([outer.gradient(p, logits).numpy()[0] for p in parts])
    p = tf.nn.softmax(logits).numpy()[0]
    np.testing.assert_allclose(hessian, np.diag(p) - np.outer(p, p), atol=1e-12)


@pytest.mark.parametrize("f", [lambda x: tf.sigmoid(x), lambda x: tf.tanh(x), lambda x: tf.nn.softmax(x), lambda x: tf.nn.log_softmax(x),
                               lambda x: tf.sqrt(x), lambda x: x / (1 + x * x),
                               lambda x: tf.reduce_prod(x), lambda x: tf.reduce_logsumexp(x), lambda x: tf.matmul(x[None], x[:, None]),
                               lambda x: tf.pow(x, x), lambda x: tf.math.rsqrt(x),
                               lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=[0.2, 0.3, 0.5], logits=x),
                               lambda x: tf.concat([x * x, x], 0)[::2] ** 2,
                               lambda x: tf.nn.sigmoid_cross_entropy_with_logits(labels=np.array([0.2, 0.3, 0.5]), logits=x),
                               lambda x: tf.gather(x, [0, 0, 2]) ** 3, lambda x: tf.math.log(x) * x])
def test_second_order_against_finite_differences(f):
    value = np.array([0.4, 1.3, 0.7])

    def first(x):
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
            y = tf.reduce_sum(y * 2.0 * np.arange(1.0, 1.0 + int(tf.size(y))).reshape(y.shape))
        return dense(tape.gradient(y, x))

    x = tf.constant(value)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
            y = tf.reduce_sum(y * 2.0 * np.arange(1.0, 1.0 + int(tf.size(y))).reshape(y.shape))
        g = tf.convert_to_tensor(inner.gradient(y, x))
        directional = tf.reduce_sum(g * [1.0, -2.0, 0.5])
    second = dense(outer.gradient(directional, x))
    h = 1e-5
    numeric = [(first(value + h * e) - first(value - h * e)) @ [1.0, -2.0, 0.5] / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(second, numeric, rtol=1e-5, atol=1e-6)


# ------------------------------------------------------------------ integers, warnings

def test_integers_have_no_gradient_and_say_so(caplog):
    x = tf.constant(3)
    with noticed(caplog) as said, tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert any("int32" in s for s in said)
    caplog.clear()
    with noticed(caplog) as said:
        assert tape.gradient(y, x) is None
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.cast(v, tf.int32)
    with noticed(caplog):
        assert tape.gradient(y, v) is None
    with tf.GradientTape() as tape:
        y = v > 1.0
    with noticed(caplog):
        assert tape.gradient(y, v) is None


# --------------------------------------------------------------- variables that change

def test_assignment_after_recording_does_not_change_the_gradient():
    v, w = tf.Variable([2.0, 3.0]), tf.Variable([5.0, 7.0])
    with tf.GradientTape() as tape:
        y = v * w * v
    v.assign([100.0, 100.0]), w.assign_add([1.0, 1.0]), v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
    gv, gw = tape.gradient(y, [v, w])
    assert gv.numpy().tolist() == [20, 42] and gw.numpy().tolist() == [4, 9]


@pytest.mark.parametrize("update", [lambda v: v.assign_add([1.0, 1.0]), lambda v: v.assign_sub([1.0, 1.0]), lambda v: v.assign([9.0, 9.0]),
                                    lambda v: v.scatter_update(tf.IndexedSlices(tf.constant([9.0]), tf.constant([0]))),
                                    lambda v: v.scatter_nd_add([[0]], [1.0])])
def test_assignment_while_recording(update):
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = v * v
        update(v)
        now = v.numpy()
        z = y + v * v
    np.testing.assert_allclose(tape.gradient(z, v).numpy(), 2 * np.array([2.0, 3.0]) + 2 * now)


def test_the_loop_of_a_training_step():
    v = tf.Variable([1.0, 1.0])
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        v.assign_sub(0.25 * tape.gradient(loss, v))
    np.testing.assert_allclose(v.numpy(), [0.5 ** 5] * 2)


# ------------------------------------------------------------------- keywords, broadcasting

def test_tensors_given_by_keyword_get_gradients():
    a, b = np.array([[0.2, 0.8]]), np.array([[1.0, -1.0]])
    for name in ("softmax_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits"):
        f = getattr(tf.nn, name)
        by_position, by_keyword = gradients(lambda x, y, f=f: f(x, y), a, b), gradients(lambda x, y, f=f: f(logits=y, labels=x), a, b)
        for p, k in zip(by_position, by_keyword, strict=True):
            assert p is not None and k is not None
            np.testing.assert_array_equal(p, k)
    for f, n in ((lambda x, y: tf.multiply(y=y, x=x), 2), (lambda x, y: tf.matmul(a=x, b=y, transpose_b=True), 2),
                 (lambda x, y: tf.where(condition=[True, False], x=x, y=y), 2),
                 (lambda x: tf.reduce_sum(input_tensor=x, axis=1), 1), (lambda x: tf.nn.softmax(logits=x), 1),
                 (lambda x: tf.reshape(tensor=x, shape=[-1]), 1),
                 (lambda x: tf.gather(params=x, indices=[0]), 1), (lambda x: tf.stack(values=[x, x]), 1),
                 (lambda x: tf.concat(values=[x, x], axis=0), 1), (lambda x: tf.nn.relu(features=x), 1),
                 (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=[1]), 1),
                 (lambda x: tf.clip_by_value(t=x, clip_value_min=-5.0, clip_value_max=5.0), 1)):
        assert all(g is not None for g in gradients(f, *(a, b)[:n]))


@pytest.mark.parametrize("op", [tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.pow, tf.math.squared_difference])
def test_broadcast_gradients_have_the_inputs_shape(op):
    for a, b in (((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2, 2)), ((2, 2), ()), ((1, 1, 3), (2, 1)), ((0, 3), (3,)), ((1,), (0,))):
        x, y = np.full(a, 1.5), np.full(b, 2.5)
        gx, gy = gradients(op, x, y)
        assert gx.shape == a and gy.shape == b
    full, scalar = gradients(lambda x, y: x * y, np.arange(6.0).reshape(2, 3), np.array(2.0))
    assert full.tolist() == [[2] * 3] * 2 and scalar == 15


def test_ties_kinks_and_edges():
    assert gradients(tf.reduce_max, [1.0, 3.0, 3.0])[0].tolist() == [0, 0.5, 0.5]
    assert gradients(tf.reduce_min, [1.0, 1.0, 3.0])[0].tolist() == [0.5, 0.5, 0]
    assert [g.tolist() for g in gradients(tf.maximum, [1.0, 2.0], [1.0, 3.0])] == [[1, 0], [0, 1]]
    assert [g.tolist() for g in gradients(tf.minimum, [1.0, 2.0], [1.0, 3.0])] == [[1, 1], [0, 0]]
    assert gradients(tf.abs, [0.0, -1.0, 2.0])[0].tolist() == [0, -1, 1]
    assert gradients(tf.nn.relu, [0.0, -1.0, 2.0])[0].tolist() == [0, 0, 1]
    assert gradients(lambda x: tf.clip_by_value(x, 1.0, 3.0), [0.0, 1.0, 2.0, 3.0, 4.0])[0].tolist() == [0, 1, 1, 1, 0]
    assert gradients(tf.reduce_prod, [0.0, 2.0, 3.0])[0].tolist() == [6, 0, 0]
    assert gradients(tf.reduce_prod, [0.0, 0.0, 3.0])[0].tolist() == [0, 0, 0]
    assert [g.tolist() for g in gradients(tf.math.divide_no_nan, [1.0, 2.0], [0.0, 2.0])] == [[0, 0.5], [0, -0.5]]
    assert [g.tolist() for g in gradients(lambda x, y: x ** y, [0.0, 0.0], [2.0, 1.0])] == [[0, 1], [0, 0]]       # no NaN from log(0)
    assert gradients(tf.reduce_mean, np.zeros(0))[0].shape == (0,) and gradients(tf.reduce_sum, np.float32(3))[0] == 1
    assert [g.tolist() for g in gradients(lambda x, y: x % y, [5.0, 2.0], [2.0, 3.0])] == [[1, 1], [-2, 0]]
    assert np.isfinite(gradients(tf.sigmoid, [-1e4, 1e4])[0]).all() and gradients(tf.sqrt, [0.0])[0].tolist() == [INF]


def test_complex_gradients_are_conjugated_as_in_tf():
    z = np.array(3 + 4j)
    np.testing.assert_allclose(gradients(tf.abs, z)[0], 0.6 + 0.8j)
    np.testing.assert_allclose(gradients(lambda z: z * z, z)[0], 6 - 8j)
    np.testing.assert_allclose(gradients(lambda x: tf.cast(x, tf.complex128) * z, 2.0)[0], 3)


def test_gradient_dtypes_follow_the_sources():
    for dtype in (tf.float16, tf.bfloat16, tf.float32, tf.float64):
        x, y = tf.ones([2], dtype), tf.Variable(tf.ones([], dtype))
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.cast(tf.reduce_sum(tf.tanh(x * y) * 0.5 + 1.5), tf.float32)
        assert [g.dtype for g in tape.gradient(z, [x, y])] == [dtype, dtype]


# -------------------------------------------------------- every op against finite differences

A, B, S = (np.random.RandomState(i).uniform(0.3, 1.7, (2, 3)) for i in (0, 1, 2))
ROW, COLUMN, CUBE = B[0], B[:, :1], np.random.RandomState(3).uniform(0.3, 1.7, (2, 3, 4))
BINARY = [tf.add, tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum, tf.minimum, tf.math.squared_difference, tf.math.divide_no_nan,
          tf.math.floormod]
UNARY = [tf.negative, tf.abs, tf.square, tf.sqrt, tf.exp, tf.math.log, tf.tanh, tf.sigmoid, tf.nn.relu, tf.math.reciprocal, tf.math.rsqrt,
         tf.identity]
REDUCE = [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod, tf.reduce_logsumexp]
CHECKED = [(f"{f.__name__}{i}", f, xs) for f in BINARY for i, xs in enumerate([(A, S), (A, ROW), (COLUMN, A), (A, np.float64(0.77)),
    (CUBE, CUBE[0, :, :1] * 0.97)])]
CHECKED += [(f.__name__, f, (A - (1.0 if f in (tf.tanh, tf.abs, tf.nn.relu, tf.exp) else 0.0),)) for f in UNARY]
CHECKED += [(f"{f.__name__}-{axis}", lambda x, f=f, axis=axis, keep=keep: f(x, axis, keep), (CUBE,)) for f in REDUCE
            for axis, keep in ((None, False), (0, True), (-1, False), ([0, 2], False), ([], False), ([1, 0], True))]
CHECKED += [(n, f, xs) for n, f, xs in [
    ("reshape", lambda x: tf.reshape(x, [3, -1]), (A,)), ("transpose", lambda x: tf.transpose(x, [2, 0, 1]), (CUBE,)),
    ("transpose0", tf.transpose, (A,)),
    ("concat", lambda x, y: tf.concat([x, y, x], 1), (A, COLUMN)), ("stack", lambda x, y: tf.stack([x, y], -1), (A, B)),
    ("unstack", lambda x: tf.unstack(x, axis=1)[1], (A,)),
    ("split", lambda x: tf.split(x, [1, 2], 1)[1], (A,)), ("gather", lambda x: tf.gather(x, [0, 2, 2], axis=1), (A,)),
    ("gather0", lambda x: tf.gather(x, [[1, 1], [0, 1]]), (A,)),
    ("gather_batch", lambda x: tf.gather(x, [[2, 0], [1, 1]], axis=1, batch_dims=1), (CUBE,)),
    ("slice", lambda x: x[:, ::-1, 1:3], (CUBE,)), ("index", lambda x: x[1, ..., tf.newaxis, 0], (CUBE,)),
    ("slice_step", lambda x: x[..., ::2] * x[..., 1::2], (CUBE,)), ("expand", lambda x: tf.expand_dims(x, 1), (A,)),
    ("squeeze", lambda x: tf.squeeze(x, 1), (COLUMN,)),
    ("tile", lambda x: tf.tile(x, [2, 2]), (A,)), ("pad", lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=3), (A,)),
    ("reflect", lambda x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT"), (A,)),
    ("symmetric", lambda x: tf.pad(x, [[1, 0], [2, 1]], "SYMMETRIC"), (A,)),
    ("broadcast_to", lambda x: tf.broadcast_to(x, [4, 2, 3]), (A,)), ("add_n", lambda x, y: tf.add_n([x, y, x]), (A, B)),
    ("matmul", tf.matmul, (A, B.T)), ("matmul_t", lambda x, y: tf.matmul(x, y, transpose_a=True), (A, B)),
    ("matmul_tt", lambda x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True), (A, B[:, :2].T)),
    ("matmul_nt", lambda x, y: tf.matmul(x, y, transpose_b=True), (A, B)), ("matmul_batch", tf.matmul, (CUBE, CUBE.transpose(0, 2, 1))),
    ("matmul_broadcast", tf.matmul, (CUBE, CUBE[0].T)),
    ("matmul_broadcast2", lambda x, y: tf.matmul(x, y, adjoint_b=True), (CUBE[:1, None], CUBE)),
    ("softmax", lambda x: tf.nn.softmax(x, 0), (A,)), ("log_softmax", tf.nn.log_softmax, (A,)),
    ("sparse_xent", lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=x), (A,)),
    ("xent", lambda x, y: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x), (A, B / B.sum(1, keepdims=True))),
    ("xent_axis", lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=B / B.sum(0), logits=x, axis=0), (A,)),
    ("sigmoid_xent", lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x), (A - 1, B)),
    ("where", lambda x, y: tf.where(A > 1, x, y), (A, ROW)), ("clip", lambda x: tf.clip_by_value(x, 0.5, 1.2), (A,)),
    ("cast", lambda x: tf.cast(x, tf.float64), (A,)), ("reverse_operators", lambda x: 2 / x + (1 - x) * 3 + 2 ** x, (A,)),
    ("linspace", lambda x: x * tf.linspace(np.float64(0), np.float64(1), 3), (A,)),
    ("fill_like", lambda x: tf.fill([2, 2], x[0, 0]), (A,)), ("shared", lambda x: x * x + x * tf.reduce_sum(x), (A,)),
]]


@pytest.mark.parametrize("f, xs", [c[1:] for c in CHECKED], ids=[c[0] for c in CHECKED])
def test_against_finite_differences(f, xs):
    weight = np.cos(np.arange(np.asarray(f(*map(tf.constant, xs))).size)).reshape(np.asarray(f(*map(tf.constant, xs))).shape)

    def value(*arrays):
        return float(np.sum(np.asarray(f(*map(tf.constant, arrays))) * weight))

    h = 1e-6
    for i, got in enumerate(gradients(f, *xs, output_gradients=tf.constant(weight))):
        numeric = np.zeros(np.shape(xs[i]))
        for place in np.ndindex(numeric.shape):
            step = np.zeros_like(numeric)
            step[place] = h
            numeric[place] = (value(*xs[:i], xs[i] + step, *xs[i + 1:]) - value(*xs[:i], xs[i] - step, *xs[i + 1:])) / (2 * h)
        assert got.shape == numeric.shape and got.dtype == np.float64
        np.testing.assert_allclose(got, numeric, rtol=1e-5, atol=1e-7)


# --------------------------------------------------------------- depth, sharing, threads, memory

def test_a_chain_of_100000_ops():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(100_000):
            y = y + 1.0
    assert float(y) == 100_001.0 and float(tape.gradient(y, x)) == 1.0
    with tf.GradientTape() as tape:                                            # to throw it away must not recurse either
        tape.watch(x)
        y = x
        for _ in range(100_000):
            y = y * 1.0
    del tape, y
    gc.collect()


def test_sharing_is_linear():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(64):
            y = y + y
    assert float(tape.gradient(y, x)) == 2.0 ** 64


def test_tapes_of_different_threads_do_not_see_each_other():
    shared, failures, barrier = tf.Variable(3.0), [], threading.Barrier(8)

    def work(k):
        try:
            for turn in range(20):
                x = tf.constant(float(k))
                barrier.wait()
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    barrier.wait()                                             # all eight tapes are open now
                    y = x * x * shared if (k + turn) % 2 else x * x
                    barrier.wait()
                assert [v is shared for v in tape.watched_variables()] == ([True] if (k + turn) % 2 else [])
                gx, gs = tape.gradient(y, [x, shared])
                assert float(gx) == 2.0 * k * (3.0 if (k + turn) % 2 else 1.0)
                assert (float(gs) if gs is not None else None) == (float(k * k) if (k + turn) % 2 else None)
        except BaseException as error:
            failures.append((k, error))
            barrier.abort()

    with tf.GradientTape() as outer:                                           # a tape of this thread sees nothing of theirs
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        y = shared * 2.0
    assert failures == [] and float(outer.gradient(y, shared)) == 2.0 and len(outer.watched_variables()) == 1


MB = 1 << 20


@contextlib.contextmanager
def traced():
    "NumPy tells tracemalloc what it holds; the garbage collector is off, so only reference counts free anything."
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[0] / MB
    finally:
        tracemalloc.stop()
        gc.enable()


def test_a_tape_keeps_only_what_its_rules_need():
    with traced() as held:
        x = tf.constant(np.ones(MB // 8))                                      # 1 MB
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(20):
                y = y + 1.0
                y = -y
                y = tf.reshape(y, [2, -1])
                y = tf.reshape(y, [-1])
        del x
        assert held() < 3.5                                                    # add, negate, reshape: no input, no output is kept
        del y, tape
        assert held() < 1


def test_memory_is_freed_with_the_tape_and_after_gradient():
    x = tf.constant(np.ones(MB // 8))
    with traced() as held:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(20):
                y = tf.exp(-y * y)
            y = tf.reduce_sum(y)
        del tape
        assert held() < 1                                                      # though y is alive
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(20):
                y = tf.exp(-y * y)
            y = tf.reduce_sum(y)
        gradient = tape.gradient(y, x)
        assert held() < 2.5                                                    # a used, non-persistent tape is empty
        del gradient
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.exp(tf.exp(x)))
            tape.reset()
        assert held() < 1


def test_unwatched_work_is_not_kept():
    with traced() as held:
        x = tf.constant(np.ones(MB // 8))
        with tf.GradientTape() as tape:
            y = x
            for _ in range(20):
                y = tf.exp(-y * y)
        assert held() < 3
        assert tape.watched_variables() == ()


def test_a_variable_is_its_own_derivative_even_if_it_was_never_read():
    u, v = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = u * u
    assert [float(g) for g in tape.gradient([v, y], [v, u])] == [1.0, 6.0]
