"""Threads that stop together, an optimizer with a scaled loss, and the options of checkpoints."""
import sys
import threading
import time

import numpy as np
import pytest

import tfedu as tf
from tfedu.core import config


@pytest.fixture(autouse=True)
def options():
    "The options of graphs are afterwards what they were."
    before = dict(config.OPTIONS)
    yield
    config.OPTIONS.clear()
    config.OPTIONS.update(before)


def stopped_by(coordinator, error):
    "Report `error` as a thread does, from where it is caught."
    try: raise error
    except BaseException as caught: coordinator.request_stop(caught)


def started(*functions):
    "A running thread for each function."
    threads = [threading.Thread(target=f, name=getattr(f, "__name__", "thread"), daemon=True) for f in functions]
    for t in threads: t.start()
    return threads


def test_one_thread_stops_all():
    coordinator, counts = tf.train.Coordinator(), [0, 0, 0]
    def work(i):
        with coordinator.stop_on_exception():
            while not coordinator.should_stop():
                counts[i] += 1
                if counts[i] == 100 and i == 1: raise ValueError("a hundred")
    assert not coordinator.should_stop()
    threads = started(lambda: work(0), lambda: work(1), lambda: work(2))
    with pytest.raises(ValueError, match="a hundred"): coordinator.join(threads, stop_grace_period_secs=30)
    assert coordinator.should_stop() and counts[1] == 100 and not any(t.is_alive() for t in threads)


def test_threads_may_just_end():
    coordinator, done = tf.train.Coordinator(), []
    for t in started(lambda: done.append(1), lambda: done.append(2)): coordinator.register_thread(t)
    coordinator.join()
    assert sorted(done) == [1, 2] and not coordinator.should_stop()   # nobody asked for a stop


def test_waiting_for_a_stop():
    coordinator = tf.train.Coordinator()
    begin = time.monotonic()
    assert coordinator.wait_for_stop(0.05) is False and time.monotonic() - begin >= 0.04
    seen = []
    threads = started(lambda: seen.append(coordinator.wait_for_stop(30)))
    coordinator.request_stop()
    coordinator.join(threads)
    assert seen == [True] and coordinator.wait_for_stop() is True


def test_the_first_error_is_raised_where_threads_are_joined():
    coordinator = tf.train.Coordinator()
    assert coordinator.raise_requested_exception() is None
    stopped_by(coordinator, ValueError("first"))
    stopped_by(coordinator, KeyError("second"))
    for again in (coordinator.raise_requested_exception, coordinator.join, coordinator.raise_requested_exception):
        with pytest.raises(ValueError, match="first"): again()
    coordinator.clear_stop()
    assert not coordinator.should_stop() and coordinator.raise_requested_exception() is None and coordinator.join() is None


def test_an_error_after_a_stop_is_not_reported_but_one_after_joining_is_raised_at_once():
    coordinator = tf.train.Coordinator()
    coordinator.request_stop()
    stopped_by(coordinator, ValueError("too late"))
    coordinator.join()
    with pytest.raises(ValueError, match="nobody joins any more"): stopped_by(coordinator, ValueError("nobody joins any more"))
    coordinator.request_stop()   # without an error there is nothing to raise


def test_what_is_no_error():
    coordinator = tf.train.Coordinator()
    stopped_by(coordinator, tf.errors.OutOfRangeError(None, None, "the end of the data"))
    coordinator.join()
    coordinator = tf.train.Coordinator(clean_stop_exception_types=[StopIteration])
    stopped_by(coordinator, StopIteration())
    coordinator.join()
    for kinds in ([StopIteration], ()):
        coordinator = tf.train.Coordinator(clean_stop_exception_types=kinds)
        stopped_by(coordinator, tf.errors.OutOfRangeError(None, None, "the end of the data"))
        with pytest.raises(tf.errors.OutOfRangeError): coordinator.join()


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_every_exception_of_the_body_is_kept_for_the_join(kind):
    coordinator = tf.train.Coordinator()
    with coordinator.stop_on_exception(): raise kind("inside")
    assert coordinator.should_stop()
    with pytest.raises(kind, match="inside"): coordinator.join()


def test_exc_info_is_taken_too():
    coordinator = tf.train.Coordinator()
    try: 1 / 0
    except ZeroDivisionError: coordinator.request_stop(sys.exc_info())
    with pytest.raises(ZeroDivisionError): coordinator.join()


def test_a_thread_that_does_not_stop():
    coordinator, end = tf.train.Coordinator(), threading.Event()
    def stubborn(): end.wait(30)
    threads = started(stubborn)
    try:
        coordinator.request_stop()
        with pytest.raises(RuntimeError, match="still running: stubborn"): coordinator.join(threads, stop_grace_period_secs=0.05)
        assert coordinator.join(threads, stop_grace_period_secs=0.05, ignore_live_threads=True) is None
        coordinator.clear_stop()
        coordinator.register_thread(threads[0])
        stopped_by(coordinator, ValueError("why"))   # the reason of the stop comes first
        with pytest.raises(ValueError, match="why"): coordinator.join(stop_grace_period_secs=0.05)
    finally: end.set()


@pytest.fixture
def rewriting():
    "`enable_mixed_precision_graph_rewrite`, switched off after the test."
    yield tf.train.experimental.enable_mixed_precision_graph_rewrite
    tf.train.experimental.disable_mixed_precision_graph_rewrite()


def test_the_option_is_on_and_off():
    tf.train.experimental.enable_mixed_precision_graph_rewrite(tf.keras.optimizers.SGD(0.1))
    assert tf.config.optimizer.get_experimental_options()["auto_mixed_precision"] is True
    tf.train.experimental.disable_mixed_precision_graph_rewrite()
    assert tf.config.optimizer.get_experimental_options()["auto_mixed_precision"] is False


def test_a_factor_that_adapts(rewriting):
    w = tf.Variable([1., 2.])
    optimizer = rewriting(tf.keras.optimizers.SGD(0.5))
    assert (optimizer.dynamic, optimizer.initial_scale, optimizer.dynamic_growth_steps) == (True, 2.**15, 2000)
    assert optimizer.loss_scale.numpy() == 2.**15 and optimizer.loss_scale.dtype is tf.float32
    optimizer.apply_gradients([(tf.constant([1., np.inf]), w)])
    np.testing.assert_array_equal(w, [1., 2.])
    assert (optimizer.loss_scale.numpy(), int(optimizer.iterations), int(optimizer.dynamic_counter)) == (2.**14, 1, 0)
    optimizer.apply_gradients([(tf.constant([1., 2.]), w)])
    np.testing.assert_array_equal(w, [0.5, 1.])   # taken as they are: whoever multiplied the loss has divided them
    assert (optimizer.loss_scale.numpy(), int(optimizer.iterations), int(optimizer.dynamic_counter)) == (2.**14, 2, 1)


@pytest.mark.parametrize("traced", [False, True])
def test_a_loop_with_a_tape_and_minimize_do_the_same(rewriting, traced):
    steps = []
    for scale in (None, 1024, "dynamic"):
        w, x = tf.Variable([[1.], [2.]]), tf.constant([[3., -1.], [0.5, 2.]])
        optimizer = tf.keras.optimizers.SGD(0.1) if scale is None else rewriting(tf.keras.optimizers.SGD(0.1), scale)
        def step(w=w, x=x, optimizer=optimizer, scale=scale):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((x @ w) ** 2)
                if scale is not None: loss = optimizer.get_scaled_loss(loss)
            grads = tape.gradient(loss, [w])
            if scale is not None: grads = optimizer.get_unscaled_gradients(grads)
            optimizer.apply_gradients(zip(grads, [w], strict=True))
            optimizer.minimize(lambda: tf.reduce_sum((x @ w) ** 2), [w])
            with tf.GradientTape() as tape: loss = tf.reduce_sum((x @ w) ** 2)
            optimizer.minimize(loss, [w], tape=tape)
        (tf.function(step) if traced else step)()
        steps.append(w.numpy())
        assert int(optimizer.iterations) == 3
    np.testing.assert_array_equal(steps[0], steps[1])   # powers of two: not a bit is lost
    np.testing.assert_array_equal(steps[0], steps[2])


def test_small_gradients_survive(rewriting):
    def gradient(optimizer):
        w = tf.Variable(np.float16(1))
        with tf.GradientTape() as tape:
            loss = tf.cast(w, tf.float32) * 1e-8
            if optimizer is not None: loss = optimizer.get_scaled_loss(loss)
        return tape.gradient(loss, w)
    optimizer = rewriting(tf.keras.optimizers.SGD(1.), 2.**15)
    assert gradient(None).numpy() == 0
    scaled = tf.cast(gradient(optimizer), tf.float32)
    np.testing.assert_allclose(optimizer.get_unscaled_gradients([scaled, None])[0], 1e-8, rtol=1e-2)
    assert optimizer.get_unscaled_gradients([scaled, None])[1] is None
    rows = optimizer.get_unscaled_gradients([tf.IndexedSlices(tf.constant([[2.**15]]), tf.constant([1]), tf.constant([3, 1]))])[0]
    assert isinstance(rows, tf.IndexedSlices) and rows.values.numpy() == 1 and rows.indices.numpy() == 1
    assert optimizer.get_scaled_loss(lambda: tf.constant(2.))().numpy() == 2.**16


def test_settings_belong_to_the_optimizer_inside(rewriting):
    inner, w = tf.keras.optimizers.SGD(0.5), tf.Variable(1.)
    optimizer = rewriting(inner, 8)
    assert optimizer.inner_optimizer is inner and float(optimizer.learning_rate) == 0.5
    assert not optimizer.dynamic and optimizer.initial_scale == 8 and optimizer.dynamic_growth_steps is optimizer.dynamic_counter is None
    optimizer.lr = 0.25
    optimizer.apply_gradients([(tf.constant(1.), w)])
    assert w.numpy() == 0.75 and float(inner.learning_rate) == 0.25
    optimizer.apply_gradients([(tf.constant(np.inf), w)])   # a fixed factor applies all there is
    assert w.numpy() == -np.inf


def test_loss_scales_are_copied(rewriting):
    given = tf.train.experimental.DynamicLossScale(4, increment_period=2)
    optimizer, w = rewriting(tf.keras.optimizers.SGD(1.), given), tf.Variable(0.)
    assert (optimizer.initial_scale, optimizer.dynamic_growth_steps) == (4., 2)
    for _ in range(2): optimizer.apply_gradients([(tf.constant(1.), w)])
    assert optimizer.loss_scale.numpy() == 8 and given().numpy() == 4 and w.numpy() == -2
    assert rewriting(tf.keras.optimizers.SGD(1.), tf.train.experimental.FixedLossScale(16)).loss_scale.numpy() == 16


def test_what_cannot_be_scaled(rewriting):
    optimizer = rewriting(tf.keras.optimizers.SGD(1.))
    with pytest.raises(ValueError, match="must not already be"): rewriting(optimizer)
    with pytest.raises(ValueError, match="tf.keras.optimizers.Optimizer"): rewriting("sgd")
    for bad in ("static", None, True, [1]):
        with pytest.raises(ValueError, match="loss_scale must be"): rewriting(tf.keras.optimizers.SGD(1.), bad)
    four = tf.train.experimental.DynamicLossScale(multiplier=4)
    with pytest.raises(ValueError, match="multiplier 2"): rewriting(tf.keras.optimizers.SGD(1.), four)
    with pytest.raises(ValueError, match="tape"): optimizer.minimize(tf.constant(1.), [tf.Variable(1.)])
    with pytest.raises(ValueError, match="No gradients provided"): optimizer.apply_gradients([(None, tf.Variable(1.))])


def test_options_of_a_checkpoint(tmp_path):
    assert tf.train.CheckpointOptions().experimental_io_device is None
    options = tf.train.CheckpointOptions(experimental_io_device="/job:localhost")
    assert options.experimental_io_device == "/job:localhost"
    v = tf.Variable([1., 2.])
    saved = tf.train.Checkpoint(v=v)
    path, exact = saved.save(str(tmp_path / "a"), options=options), saved.write(str(tmp_path / "b"), options)
    for restore, where in ((saved.restore, path), (saved.read, exact)):
        v.assign([0., 0.])
        restore(where, options=options).assert_consumed()
        np.testing.assert_array_equal(v, [1., 2.])
