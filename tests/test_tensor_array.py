"""TensorArray: what its slots hold, refuse and remember."""
import numpy as np
import pytest

import tfedu as tf

InvalidArgument, OutOfRange = tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError


def test_slots():
    ta = tf.TensorArray(tf.float32, size=3, clear_after_read=False)
    assert ta.write(2, 3.0) is ta and ta.identity() is ta
    assert [float(ta.read(i)) for i in (2, 2, 0)] == [3, 3, 0]
    assert ta.stack().numpy().tolist() == [0, 0, 3] and int(ta.size()) == 3
    assert ta.element_shape == [] and ta.dtype is tf.float32 and ta.handle is None and not ta.dynamic_size
    ta.write(2, 5.0)
    assert ta.gather([2, 1]).numpy().tolist() == [5, 0]
    ta.close()
    assert int(ta.size()) == 0 and tf.TensorArray(tf.int32, 0, element_shape=[2]).stack().shape == [0, 2]


def test_growing_and_parts():
    ta = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    ta.unstack([[1, 2], [3, 4]]).write(3, [5, 6])
    assert ta.stack().numpy().tolist() == [[1, 2], [3, 4], [0, 0], [5, 6]]
    assert ta.concat().numpy().tolist() == [1, 2, 3, 4, 0, 0, 5, 6]
    ta.scatter([0, 1], [[7, 7], [8, 8]])
    assert ta.read(1).numpy().tolist() == [8, 8]
    pieces = tf.TensorArray(tf.int32, 3, infer_shape=False).split([1, 2, 3], [2, 0, 1])
    assert [pieces.read(i).numpy().tolist() for i in range(3)] == [[1, 2], [], [3]]


def test_gradients_pass():
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant([1.0, 2.0, 3.0]))
        ta, out = tf.TensorArray(tf.float32, 3).unstack(x), tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in range(3): out = out.write(2 - i, ta.read(i) ** 2)
        y = out.stack() * [1.0, 10.0, 100.0] + out.gather([0])
    np.testing.assert_allclose(tape.gradient(y, x), [200, 40, 24])


def full(): return tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])


def twice():
    ta = full()
    ta.read(0)
    return ta


@pytest.mark.parametrize("call, error, words", [
    (lambda: tf.TensorArray(tf.float32), ValueError, "size is needed"),
    (lambda: tf.TensorArray(tf.float32, -1), ValueError, ">= 0"),
    (lambda: twice().read(0), InvalidArgument, "clear_after_read=False"),
    (lambda: twice().stack(), InvalidArgument, "cleared"),
    (lambda: full().read(2), OutOfRange, "index 2"),
    (lambda: full().read(-1), OutOfRange, "index -1"),
    (lambda: full().write(5, 1.0), OutOfRange, "index 5"),
    (lambda: full().write(0, [1.0]), ValueError, "shape (1,)"),
    (lambda: full().write(0, tf.constant(1)), InvalidArgument, "int32"),
    (lambda: tf.TensorArray(tf.float32, 1, element_shape=[2]).write(0, [1.0]), ValueError, "(2,)"),
    (lambda: tf.TensorArray(tf.float32, 1).read(0), ValueError, "never written"),
    (lambda: full().unstack([1.0, 2.0, 3.0]), ValueError, "3 rows"),
    (lambda: full().scatter([0], [1.0, 2.0]), ValueError, "1 indices"),
    (lambda: full().split([[1.0], [2.0]], [1, 2]), InvalidArgument, "add up"),
    (lambda: full().split([[1.0], [2.0]], [2]), ValueError, "1 lengths"),
    (lambda: full().grad("x"), NotImplementedError, "tape"),
])
def test_errors(call, error, words):
    with pytest.raises(error) as caught: call()
    assert words in str(caught.value)


def test_spec():
    spec, three = tf.TensorArraySpec([None, 2], tf.int32), tf.TensorArraySpec([3, 2], tf.int32)
    assert spec.is_compatible_with(three) and spec.is_compatible_with(tf.TensorArray(tf.int32, 4, element_shape=[3, 2]))
    others = [tf.TensorArraySpec([3, 2]), tf.TensorArraySpec([3], tf.int32), tf.constant([1]),
              tf.TensorArraySpec([3, 2], tf.int32, True), tf.TensorArraySpec([3, 2], tf.int32, False, False)]
    assert not any(map(spec.is_compatible_with, others))
    assert spec.most_specific_compatible_type(three) == spec and spec.value_type is tf.TensorArray
    assert tf.TensorArraySpec() == tf.TensorArraySpec.from_value(tf.TensorArray(tf.float32, 1))
    assert len({spec, tf.TensorArraySpec([None, 2], tf.int32)}) == 1
    inside = tf.function(lambda: tf.constant(tf.TensorArraySpec([2]).is_compatible_with(tf.TensorArray(tf.float32, 1, element_shape=[2]))))
    assert bool(inside())
    with pytest.raises(TypeError, match="expected a TensorArray, got int"): tf.TensorArraySpec.from_value(1)
    with pytest.raises(ValueError): spec.most_specific_compatible_type(tf.TensorArraySpec([3, 2]))


def test_arrays_that_cross_the_border_of_a_function_say_what_to_do():
    fill = tf.function(lambda ta, n: tf.while_loop(lambda i, ta: i < n, lambda i, ta: (i + 1, ta.write(i, 1.0)), (0, ta))[1])
    @tf.function
    def by_for(ta, n):
        for i in tf.range(n): ta = ta.write(i, 1.0)
        return ta.stack()
    with pytest.raises(TypeError, match="'ta' cannot go round a loop of the graph: it is a TensorArray; .* make it inside"):
        by_for(tf.TensorArray(tf.float32, 3), tf.constant(3))
    with pytest.raises(TypeError, match="TensorArray of the graph that is being written cannot be an argument of another tf.function"):
        tf.function(lambda n: fill(tf.TensorArray(tf.float32, n), n).stack())(tf.constant(3))
    with pytest.raises(TypeError, match="returns a TensorArray, which lives only while the graph"):
        tf.function(lambda n: tf.TensorArray(tf.float32, n))(tf.constant(3))
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:   # one with numbers may be read
        tape.watch(x)
        ta = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
        y = tf.function(lambda ta: ta.read(0) * ta.read(1))(ta)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 1.0]


def test_second_derivatives_of_a_loop_that_grows():
    def grown(x):
        y = x
        for _ in tf.range(3):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
            y = tf.concat([y, y[-1:] * x[:1]], 0)
        return tf.reduce_sum(y ** 3)
    def both(f, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
            s = tf.reduce_sum(g * g)
        return [g, outer.gradient(s, x)]
    x, traced = tf.constant([1.0, 2.0]), tf.function(grown)
    def plain(x):
        y = x
        for _ in range(3): y = tf.concat([y, y[-1:] * x[:1]], 0)
        return tf.reduce_sum(y ** 3)
    wanted = both(plain, x)
    for found in (both(traced, x), tf.function(lambda x: both(traced, x))(x)):
        for a, b in zip(found, wanted, strict=True): np.testing.assert_allclose(a, b, rtol=1e-6)
