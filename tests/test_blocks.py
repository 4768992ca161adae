"""Large arrays are computed in pieces by several threads: nobody must notice, except by the clock."""
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.core import blocks, threads
from tfedu.core.blocks import BLOCK, LINE, ROW, Job, aligned, flat_sum, in_blocks, owner, share_out, strips
from tfedu.core.tensor import CPU, LARGE, Large

RNG = np.random.default_rng(0)
BIG = RNG.standard_normal((LARGE // 256, 257))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=3), st.integers(1, 500))
def test_strips_cover_the_first_axis_once(shape, block):
    whole = blocks.BLOCK
    blocks.BLOCK = block
    try: cuts = strips(tuple(shape))
    finally: blocks.BLOCK = whole
    assert [i for cut in cuts for i in range(shape[0])[cut]] == list(range(shape[0]))


@pytest.mark.parametrize("other", [(), (1,), (257,), (1, 257), (len(BIG), 1), BIG.shape])
def test_pieces_broadcast_like_the_whole(other):
    y = RNG.standard_normal(other)
    np.testing.assert_array_equal(in_blocks(np.multiply, BIG, y), BIG * y)
    np.testing.assert_array_equal(in_blocks(np.subtract, y, BIG), y - BIG)


def test_one_thread_does_the_same(monkeypatch):
    monkeypatch.setitem(blocks.THREADS, "Intra", 1)
    np.testing.assert_array_equal(in_blocks(np.exp, BIG), np.exp(BIG))


def test_a_large_tensor_looks_like_any_other():
    x, small = tf.constant(BIG), tf.constant([1.0])
    assert type(x) is Large and type(small) is CPU and isinstance(x, tf.Tensor)
    assert type(x).__name__ == type(small).__name__ and x.device == small.device
    assert type(tf.reduce_sum(x)) is CPU and type(tf.exp(x)) is Large and type(tf.matmul(x, x, transpose_b=True)) is Large
    with tf.device("CPU:0"): np.testing.assert_array_equal((x + small.numpy()[0]).numpy(), BIG + 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_values_and_gradients_are_those_of_small_tensors(dtype):
    kind = tf.as_dtype(dtype).as_numpy_dtype
    rows = BIG.astype(kind)
    def f(x, y): return tf.reduce_sum(tf.exp(x * 0.25) * x + y * x - tf.sigmoid(x), -1)
    def run(part):
        x, y = tf.constant(part), tf.constant(rows[:1])
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        return z.numpy(), *[g.numpy() for g in tape.gradient(z, [x, y])]
    z, gx, gy = run(rows)
    pieces = [run(rows[i:i + 200]) for i in range(0, len(rows), 200)]
    np.testing.assert_array_equal(z, np.concatenate([p[0] for p in pieces]))
    np.testing.assert_array_equal(gx, np.concatenate([p[1] for p in pieces]))
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    exact = sum(p[2].astype(wide) for p in pieces)
    scale = {"float16": 2e-2, "bfloat16": 1e-1}.get(dtype, 1e-4)
    np.testing.assert_allclose(gy.astype(wide), exact, rtol=scale, atol=scale * np.abs(exact).max())


def test_errors_are_those_of_small_tensors():
    x = tf.constant(BIG)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"multiply.*\(1024, 257\).*\(5,\)"): x * tf.ones(5, tf.float64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="float64.*float32|float32.*float64"): x + tf.ones(257)


def test_infinities_make_no_noise_in_the_helpers():
    zero = tf.zeros(2 * BLOCK + 1)
    assert np.isnan((zero / zero).numpy()).all() and np.isinf(tf.math.log(zero).numpy()).all()


def test_second_derivatives():
    x = tf.constant(np.abs(BIG))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        g = tape.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(g, x).numpy(), 6 * np.abs(BIG))


def test_several_threads_may_ask_at_once():
    found = [None] * 4
    def ask(i): found[i] = tf.tanh(tf.constant(BIG + i)).numpy()
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    for i in range(4): np.testing.assert_array_equal(found[i], np.tanh(BIG + i))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_makes_its_own_threads():
    in_blocks(np.exp, BIG)
    if (child := os.fork()) == 0: os._exit(0 if np.array_equal(in_blocks(np.exp, BIG), np.exp(BIG)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("f", [
    lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), lambda x: tf.nn.bias_add(x, [1., 2., 3., 4.]), lambda x: tf.nn.softmax(x),
    lambda x: tf.nn.softmax(x, 1), lambda x: tf.nn.gelu(x, True), lambda x: tf.nn.conv2d(x, KERNEL, 1, "SAME")])
def test_ops_on_large_images_are_those_on_each_image(f):
    images = np.random.default_rng(1).standard_normal((24, 61, 60, 4))
    def run(part):
        x = tf.constant(part)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y.numpy(), tape.gradient(y, x, y).numpy()
    one_by_one = [run(images[i:i + 1]) for i in range(len(images))]
    for whole, parts in zip(run(images), zip(*one_by_one, strict=True), strict=True):
        np.testing.assert_allclose(whole, np.concatenate(parts), rtol=1e-12, atol=1e-12)


KERNEL = np.random.default_rng(2).standard_normal((3, 3, 4, 2))


@pytest.mark.parametrize("axis", [None, 0, 1, [0, 2], [-3, 1], 2, []])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "complex64"])
def test_large_sums_are_those_of_their_parts(axis, dtype):
    x = np.random.default_rng(3).integers(-3, 4, (70, 64, 65)).astype(dtype)
    for keepdims in (False, True):
        wide = x.astype(complex if dtype == "complex64" else float)
        want = wide.sum(tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)
        got = tf.reduce_sum(x, axis, keepdims)
        assert got.dtype.name == dtype and got.shape == want.shape
        np.testing.assert_array_equal(got.numpy(), want.astype(dtype))


def test_the_mean_of_a_million_tenths_is_a_tenth():
    rows = np.full((1_000_000, 2), .1, np.float32)
    np.testing.assert_allclose(tf.reduce_mean(rows, 0), .1, rtol=1e-3)
    np.testing.assert_allclose(tf.reduce_mean(rows), .1, rtol=1e-5)


@pytest.mark.parametrize("shapes", [((70, 30), (30, 50)), ((3, 30), (30, 500)), ((6, 2, 9, 5), (2, 5, 7)), ((5, 4), (6, 4, 3)),
                                    ((0, 4), (4, 3)), ((4, 0), (0, 3)), ((2, 3, 1, 4), (1, 1, 4, 2)), ((1, 9, 4), (7, 4, 2))])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "float16"])
def test_products_in_parts(monkeypatch, shapes, dtype):
    a, b = (np.random.default_rng(i).normal(size=shape).astype(dtype) for i, shape in enumerate(shapes))
    for name, value in (("MANY", 0), ("LITTLE", -1), ("workers", lambda: 3)): monkeypatch.setattr(threads, name, value)
    rtol, atol = (2e-3, 1e-2) if dtype == "float16" else (1e-5, 1e-5)
    close = lambda x, y: np.testing.assert_allclose(x, y, rtol, atol)
    close(tf.matmul(a, b).numpy(), a @ b)
    close(tf.matmul(a.swapaxes(-1, -2).copy(), b, transpose_a=True).numpy(), a @ b)   # views
    close(tf.function(tf.matmul)(tf.constant(a), tf.constant(b)).numpy(), a @ b)


def test_products_of_many_threads_leave_blas_as_it_was():
    a, before = np.random.default_rng(0).normal(size=(400, 300)), threads.workers()
    wanted = a @ a.T
    with ThreadPoolExecutor(8) as pool: found = list(pool.map(lambda _: tf.matmul(a, a, transpose_b=True).numpy(), range(40)))
    for x in found: np.testing.assert_allclose(x, wanted)
    assert threads.workers() == before and threads.INSIDE[0] == 0


def test_sizes_of_a_product_that_do_not_fit(monkeypatch):
    for name, value in (("MANY", 0), ("LITTLE", -1), ("workers", lambda: 3)): monkeypatch.setattr(threads, name, value)
    for a, b in (((4, 5), (6, 7)), ((2, 4, 5), (3, 5, 6))):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="matmul"): tf.matmul(np.zeros(a), np.zeros(b))
    assert threads.INSIDE[0] == 0


def test_a_helper_that_asks_for_help_does_the_work_itself():
    def outer(k): share_out(lambda i: found.append((k, i)), list(range(3)))
    found = []
    share_out(outer, list(range(8)))
    assert sorted(found) == [(k, i) for k in range(8) for i in range(3)]


def test_a_job_forgets_its_work_and_raises_each_time():
    job = Job(lambda: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError): job.result()
    assert job.work is None


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex128", "bool"])
@pytest.mark.parametrize("shape", [(5, 7), (0, 3), ()])
def test_arrays_begin_with_a_line(shape, dtype):
    array = aligned(shape, np.dtype(dtype))
    assert array.ctypes.data % LINE == 0 and array.shape == shape and array.dtype == dtype and owner(array)
    assert array.flags.c_contiguous and array.flags.writeable and not owner(array[...])


@pytest.mark.parametrize("n", [0, 1, ROW, 3 * ROW, 3 * ROW + 1])
def test_flat_sums(n):
    x = np.random.default_rng(n).normal(size=n)
    np.testing.assert_allclose(flat_sum(x), x.sum(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(flat_sum(x.astype("f4")), x.sum(), rtol=1e-5, atol=1e-4)


def test_a_variable_takes_a_large_result_without_a_copy():
    y = tf.constant(np.ones((1 << 10, 1 << 9), np.float32)) + 1.
    v = tf.Variable(tf.zeros((1 << 10, 1 << 9)))
    v.assign(y)
    assert v.array is y.array
    v.assign_add(y)
    assert (y.numpy() == 2).all() and (v.numpy() == 4).all()
