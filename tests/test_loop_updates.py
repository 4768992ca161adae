"""Loops that change one place at a time: the same results however they run, and nobody else's array is touched."""
import numpy as np
import pytest

import tfedu as tf

X, N = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0], 4


def prefix_sums(x, n):
    for i in tf.range(1, n): x = tf.tensor_scatter_nd_update(x, [[i]], [x[i] + x[i - 1]])
    return x

def old_value_used(x, n):
    total = tf.zeros_like(x)
    for i in tf.range(n):
        before = x
        x = tf.tensor_scatter_nd_add(x, [[i]], [1.0])
        total += before * x   # the old one is still what it was
    return x, total

def swaps(x, n):
    for i in tf.range(n):
        a, b = x[i], x[i + 1]
        if a > b: x = tf.tensor_scatter_nd_update(x, [[i], [i + 1]], [b, a])
    return x

def several(x, n):
    for i in tf.range(n):
        x = tf.tensor_scatter_nd_sub(x, [[i], [i], [5]], [1.0, 2.0, 0.5])   # one place twice
        x = tf.tensor_scatter_nd_update(x, [[0]], [tf.gather_nd(x, [i])])
    return x

def nested(x, n):
    table = tf.zeros([6, 6])
    for i in tf.range(n):
        for j in tf.range(n):
            table = tf.tensor_scatter_nd_update(table, [[i, j]], [x[i] * x[j]])
            table = tf.tensor_scatter_nd_add(table, [[j]], tf.gather_nd(table, [[i]]))   # whole rows
    return table

def two_names(x, n):
    y = x
    for i in tf.range(n):
        y = tf.tensor_scatter_nd_update(y, [[i]], [0.0])
        if i == 1: x = y
    return x, y

def rows_of_a_list(x, n):
    ta = tf.TensorArray(tf.float32, 6, clear_after_read=False).unstack(x)
    for i in tf.range(1, n):
        older = ta
        ta = ta.write(i, ta.read(i - 1) + older.read(i))
    return ta.stack(), ta.gather([0, n])

PROGRAMS = [prefix_sums, old_value_used, swaps, several, nested, two_names, rows_of_a_list]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_loop_that_updates_places(program):
    x = tf.constant(X)

    def results(f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            ys = tf.nest.flatten(f(x, N))
            loss = tf.add_n([tf.reduce_sum(y * y) for y in ys])
        return [*ys, tf.convert_to_tensor(tape.gradient(loss, x)), *tf.nest.flatten(f(x, N))]   # with a tape, its gradient, without
    wanted = results(program)
    for options in ({}, {"disable_meta_optimizer": True}):
        tf.config.optimizer.set_experimental_options(options)
        try:
            traced = tf.function(program)
            for f in (lambda x, n, g=traced: g(x, tf.constant(n)), traced, tf.function(lambda x, n, g=traced: g(x, n))):
                for _ in range(2):
                    for found, y in zip(results(f), wanted, strict=True): np.testing.assert_allclose(found, y, rtol=1e-5)
        finally: tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
    assert x.numpy().tolist() == X


def test_a_variable_that_is_written_place_by_place_leaves_what_was_read():
    v, w = tf.Variable(X), tf.Variable(tf.zeros([3, 4]))

    @tf.function
    def run(n):
        before, part = v.read_value(), v[1:3]
        for i in tf.range(n):
            old = v.read_value()
            v[i].assign(old[i] * 10.0)
            w[i % 3, 1:3].assign_add([old[i], v[i]])
            v.scatter_nd_update([[5]], [v[i] - old[i]])
        return before, part, v.read_value(), w.read_value()
    kept = v.read_value()
    before, part, after, table = run(tf.constant(3))
    assert kept.numpy().tolist() == before.numpy().tolist() == X and part.numpy().tolist() == X[1:3]
    assert after.numpy().tolist() == v.numpy().tolist() == [30.0, 10.0, 40.0, 1.0, 5.0, 36.0]
    assert table.numpy()[:, 1:3].tolist() == [[3.0, 30.0], [1.0, 10.0], [4.0, 40.0]]


@pytest.mark.parametrize("call, words", [
    (lambda x, i: tf.tensor_scatter_nd_update(x, [[i]], [1.0]), "tensor_scatter_nd_update: indices holds 9"),
    (lambda x, i: tf.tensor_scatter_nd_add(x, [[i]], [1.0]), "tensor_scatter_nd_add: indices holds 9"),
    (lambda x, i: tf.gather_nd(x, [i]), "gather_nd: indices holds 9"),
    (lambda x, i: tf.gather_nd(x, [-1 - i]), "gather_nd: indices holds -10")])
def test_a_place_outside_is_told_by_the_function(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words): tf.function(call)(tf.constant(X), tf.constant(9))


def test_a_part_of_a_variable_that_is_not_there_or_does_not_fit():
    v = tf.Variable(X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 9 is out of bounds"):
        tf.function(lambda i: v[i].assign(1.0).read_value())(tf.constant(9))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"value of shape \(3,\) was given for \(2,\)"):
        tf.function(lambda i: v[i:i + 2].assign([1.0, 2.0, 3.0]).read_value())(tf.constant(1))
    assert v.numpy().tolist() == X
