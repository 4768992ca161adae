"""tf.custom_gradient, tf.grad_pass_through, tf.recompute_grad: TensorFlow's documented examples, errors, nesting."""
import numpy as np
import pytest

import tfedu as tf
from tfedu.autodiff.check import check_grads

X = tf.constant([1.0, 2.0])


def slope(f, x=X, **kw):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, **kw)


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    def grad(upstream): return upstream * (1 - 1 / (1 + e))
    return tf.math.log(1 + e), grad


def test_log1pexp():
    assert np.isnan(slope(lambda x: tf.math.log(1 + tf.exp(x)), tf.constant(100.0)).numpy())
    assert float(slope(log1pexp, tf.constant(100.0))) == 1.0
    check_grads(log1pexp, [np.array([-1.0, 0.0, 2.0])], order=3)


def test_clip_by_norm_on_the_way_back():
    @tf.custom_gradient
    def clip(y):
        def backward(dy): return dy * (0.5 / tf.maximum(tf.sqrt(tf.reduce_sum(dy * dy)), 0.5))
        return y, backward
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape: output = clip(v * v)
    assert float(tape.gradient(output, v)) == 2.0        # 4, shortened to 0.5 before the slope 2 v


def test_nested_with_a_second_derivative_of_its_own():
    @tf.custom_gradient
    def fused(x):
        def first(dy):
            @tf.custom_gradient
            def inner(x):
                def second(ddy): return ddy * 7.0
                return 3.0 * x * x, second
            return dy * inner(x)
        return x * x * x, first
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        g = slope(fused, x)
    assert (float(g), float(outer.gradient(g, x))) == (12.0, 7.0)


def test_several_arguments_and_results():
    @tf.custom_gradient
    def bilinear(x, y):
        def grad(a, b): return a * 10.0 + b, None
        return [x * y, {"k": x + y}], grad
    y = X + 1.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([X, y])
        z = bilinear(X, y)
    assert z[0].numpy().tolist() == [2, 6] and z[1]["k"].numpy().tolist() == [3, 5]
    assert tape.gradient(z[0], X).numpy().tolist() == [10, 10] and tape.gradient(z[1]["k"], X).numpy().tolist() == [1, 1]
    assert tape.gradient(z, X).numpy().tolist() == [11, 11] and tape.gradient(z, y) is None


def test_keyword_arguments_are_passed_on_and_get_no_gradient():
    @tf.custom_gradient
    def f(x, *, y, sign=1.0):
        def grad(u): return u * 5.0 * sign
        return x * y, grad
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        z = f(X, y=X, sign=-1.0)
    assert z.numpy().tolist() == [1, 4] and tape.gradient(z, X).numpy().tolist() == [-5, -5]


def test_variables():
    v, frozen = tf.Variable([3.0, 4.0]), tf.Variable(2.0, trainable=False)
    @tf.custom_gradient
    def f(x):
        def grad(u, variables=None):
            assert [w is v for w in variables] == [True]
            return u * 2.0, [u * 7.0 for _ in variables]
        return x * v * frozen, grad
    with tf.GradientTape() as tape:
        tape.watch(X)
        z = f(X)
    assert [g.numpy().tolist() for g in tape.gradient(z, [X, v])] == [[2, 2], [7, 7]] and tape.watched_variables() == (v,)
    @tf.custom_gradient
    def g(w): return w * 1.0, lambda u: u * 5.0
    with tf.GradientTape() as tape: z = g(v)                              # an argument is no variable that was read
    assert tape.gradient(z, v).numpy().tolist() == [5, 5]


def test_methods_and_the_decorator_with_parentheses():
    class Layer:
        scale = 3.0
        @tf.custom_gradient
        def __call__(self, x): return x * 2.0, lambda u: u * self.scale
        @tf.custom_gradient()
        def other(self, x):
            "Words."
            return x * 2.0, lambda u: u * 4.0
    assert slope(Layer().other).numpy().tolist() == [4, 4] and slope(lambda x: Layer().__call__(x)).numpy().tolist() == [3, 3]
    assert Layer.other.__doc__ == "Words." and log1pexp.__name__ == "log1pexp"


@pytest.mark.parametrize("f, error, words", [
    (lambda x: (x * 1.0, lambda u: (u, u)), ValueError, "1 arguments.*2 gradients"),
    (lambda x: x * 1.0, TypeError, "result and its gradient function"),
    (lambda x: (x * V, lambda u: u), TypeError, "variables"),
    (lambda x: (x * V, lambda u, variables=None: (u, [])), ValueError, "1 variables.*0 gradients"),
])
def test_what_is_refused(f, error, words):
    with pytest.raises(error, match=words): slope(tf.custom_gradient(f))


V = tf.Variable([3.0, 4.0])


def test_upstream_and_forward_mode():
    f = tf.custom_gradient(lambda x: (x * 1.0, lambda u: u * 3.0))
    assert slope(lambda x: f(x) * [10.0, 20.0]).numpy().tolist() == [30, 60]
    with tf.autodiff.ForwardAccumulator(X, tf.constant([1.0, 5.0])) as accumulator: y = f(X)
    assert accumulator.jvp(y).numpy().tolist() == [3, 15]
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    assert tape.jacobian(y, X).numpy().tolist() == [[3, 0], [0, 3]]


def test_sparse_gradients_from_custom_ones():
    w = tf.Variable(np.ones((4, 2), np.float32))
    @tf.custom_gradient
    def lookup(w): return tf.gather(w, [2]), lambda u: tf.IndexedSlices(u * 9.0, tf.constant([2]), tf.constant([4, 2]))
    g = slope(lookup, w)
    assert isinstance(g, tf.IndexedSlices) and g.values.numpy().tolist() == [[9, 9]]
    assert slope(lambda w: lookup(w * 2.0), w).numpy().tolist() == [[0, 0], [0, 0], [18, 18], [0, 0]]


def test_pass_through():
    v = tf.Variable(2.0)
    f = tf.grad_pass_through(lambda x: tf.round(x * v))
    with tf.GradientTape() as tape:
        tape.watch(X)
        z = f(X)
    g, of_v = tape.gradient(z, [X, v])
    assert z.numpy().tolist() == [2, 4] and g.numpy().tolist() == [1, 1] and of_v is None


# --------------------------------------------------------------------- tf.recompute_grad

def test_recomputed_gradients_are_the_same_in_every_mode():
    w = tf.Variable([[.3, -.2], [.5, .1]])
    def f(x, scale=1.0): return tf.tanh(x[None] @ w)[0] * scale, tf.reduce_sum(w * w)
    g = tf.recompute_grad(f)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(X)
        with tf.GradientTape() as a, tf.GradientTape() as b:
            a.watch(X), b.watch(X)
            plain, again = f(X, scale=2.0), g(X, scale=2.0)
        first, second = a.gradient(plain, [X, w]), b.gradient(again, [X, w])
    for p, q in zip(first, second, strict=True): np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-6)
    for source in (X, w):
        np.testing.assert_allclose(outer.gradient(first[0], source).numpy(), outer.gradient(second[0], source).numpy(), rtol=1e-5)
    with tf.autodiff.ForwardAccumulator(X, tf.constant([1.0, 2.0])) as accumulator: plain, again = f(X), g(X)
    np.testing.assert_allclose(accumulator.jvp(plain[0]).numpy(), accumulator.jvp(again[0]).numpy(), rtol=1e-6)
    check_grads(tf.recompute_grad(lambda x: tf.sin(x) * x), [np.array([.5, 2.0])], order=2)


def test_recomputing_records_nothing_and_runs_twice():
    runs = []
    @tf.recompute_grad
    def f(x):
        runs.append(1)
        for _ in range(10): x = tf.sin(x)
        return x
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    assert (len(tape.calls), len(runs)) == (2, 1)          # the call, and the place of its result
    tape.gradient(y, X)
    assert len(runs) == 2


def test_recomputing_inside_recomputing():
    v = tf.Variable(1.5)
    inner = tf.recompute_grad(lambda x: tf.sin(x * v))
    outer = tf.recompute_grad(lambda x: inner(inner(x)) * v)
    with tf.GradientTape() as a, tf.GradientTape() as b:
        a.watch(X), b.watch(X)
        y, z = outer(X), tf.sin(tf.sin(X * v) * v) * v
    for p, q in zip(a.gradient(y, [X, v]), b.gradient(z, [X, v]), strict=True): np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-6)


def test_recomputing_after_an_error_records_again():
    @tf.recompute_grad
    def bad(x): raise KeyError
    with tf.GradientTape() as tape:
        tape.watch(X)
        with pytest.raises(KeyError): bad(X)
        y = X * X
    assert tape.gradient(y, X).numpy().tolist() == [2, 4]


def test_integer_arguments_are_allowed():
    f = tf.recompute_grad(lambda x, i: tf.gather(x, i) * 2.0)
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X, tf.constant([1, 1]))
    assert tf.convert_to_tensor(tape.gradient(y, X)).numpy().tolist() == [0, 4]


@tf.custom_gradient
def eleven(x):
    "A result, and a slope that is not its own: 11 + x."
    return tf.exp(x), lambda g: g * (11 + x)

@pytest.mark.parametrize("f", [lambda x: eleven(x) * x, lambda x: eleven(eleven(x) * 0.1), lambda x: tf.grad_pass_through(tf.round)(x) * x,
                               lambda x: (eleven(x), x, eleven(x) * x)], ids=["plain", "twice", "passed through", "several results"])
def test_a_function_keeps_gradients_of_ones_own_when_it_is_differentiated_twice(f):
    def slopes(f, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)
    x = tf.constant([0.3, -1.])
    want = slopes(f, x)
    traced = tf.function(f)
    ways = [lambda x: slopes(traced, x), lambda x: tf.function(slopes)(f, x), lambda x: tf.function(slopes)(traced, x),
            lambda x: slopes(tf.function(lambda x: traced(x)), x)]
    for way in ways: np.testing.assert_allclose(way(x), want, rtol=1e-5)


@pytest.mark.parametrize("f", [
    lambda x: tf.cond(x[0] > 0, lambda: eleven(x), lambda: x * x),
    lambda x: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, eleven(x) * 0.1), (0, x))[1]], ids=["cond", "loop"])
def test_in_a_condition_or_a_loop_a_second_derivative_is_refused(f):
    x = tf.constant([0.3, -1.])
    def slope(f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)
    np.testing.assert_allclose(slope(tf.function(f)), slope(f), rtol=1e-6)
    with tf.GradientTape() as outer, pytest.raises(NotImplementedError, match="custom gradient"):
        outer.watch(x)
        outer.gradient(slope(tf.function(f)), x)
    with pytest.raises(NotImplementedError, match="custom gradient"): tf.function(lambda: slope(tf.function(f)))()
