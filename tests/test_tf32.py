"""TF32: the rounding bit by bit, the switch, and who obeys it."""
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.core import trace
from tfedu.core.memory import DEVICES
from tfedu.core.tf32 import Rounding, round_to_tf32, simulate

enable = tf.config.experimental.enable_tensor_float_32_execution
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def as_before():
    yield
    enable(True)
    assert DEVICES["CPU"] is np and trace.UNUSUAL == []


def reference(value):
    "The nearest multiple of the last place that TF32 keeps, in exact fractions; ties away from zero."
    value = float(np.float32(value))
    if value != value or value in (np.inf, -np.inf) or value == 0: return np.float32(value)
    exact = abs(Fraction(value))
    power = max(floor(np.log2(float(abs(value)))) if value else 0, -126)
    while Fraction(2) ** power > exact and power > -126: power -= 1
    while Fraction(2) ** (power + 1) <= exact: power += 1
    step = Fraction(2) ** (power - 10)
    rounded = floor(exact / step + Fraction(1, 2)) * step
    return np.float32(np.copysign(np.inf if rounded >= Fraction(2) ** 128 else float(rounded), value))


def same(a, b): assert np.array_equal(np.asarray(a).view(np.uint32), np.asarray(b).view(np.uint32)), (a, b)


def rounded(x): return round_to_tf32(np, np.asarray(x, np.float32))


@pytest.mark.parametrize("x, y", [
    (1024.5, 1025), (-1024.5, -1025), (1025.5, 1026), (1024.4999, 1024), (2047.9, 2048), (4095.9, 4096), (0., 0.), (-0., -0.),
    (np.inf, np.inf), (-np.inf, -np.inf), (3.4028235e38, np.inf), (-3.4028235e38, -np.inf), (3.4011e38, 3.4011621342146535e38),
    (1e-45, 0.), (-1e-45, -0.), (1.1754942e-38, 1.1754944e-38), (5.74e-42, 2 ** -137 + 0.)])
def test_single_numbers(x, y):
    if y == 2 ** -137: y = reference(x)
    same(rounded(x), np.float32(y))


def test_nan_stays_nan_with_its_bits():
    bits = np.array([0x7fc00000, 0xffffffff, 0x7f800001, 0xff801000], np.uint32)
    same(rounded(bits.view(np.float32)), bits.view(np.float32))


@given(st.integers(0, 2 ** 32 - 1))
def test_every_bit_pattern(bits):
    x = np.array(bits, np.uint32).view(np.float32)
    if x == x: same(rounded(x), reference(x))


def test_a_million_patterns_keep_order_and_are_fixed_points():
    x = np.sort(RNG.integers(0, 2 ** 32, 10 ** 6, dtype=np.uint32).view(np.float32))
    x = x[np.isfinite(x)]
    y = rounded(x)
    assert (np.diff(y[np.isfinite(y)]) >= 0).all() and not (y.view(np.uint32) & 0x1fff).any()
    same(rounded(y), y)


def test_shapes_strides_and_types():
    x = RNG.normal(size=(3, 4, 5)).astype(np.float32)
    for view in (x, x.T, x[::2, :, ::-1], x[:0], x[0, 0, 0], np.asfortranarray(x)):
        y = round_to_tf32(np, view)
        assert y.shape == np.shape(view) and y.dtype == np.float32
        same(np.ravel(y), [reference(v) for v in np.ravel(view)] if np.size(view) else np.zeros(0, np.float32))
    z = (x + 1j * x[::-1]).astype(np.complex64)
    for view in (z, z.T, z[0, 0, 0]):
        same(round_to_tf32(np, view).real.copy(), rounded(np.real(view)))
        same(round_to_tf32(np, view).imag.copy(), rounded(np.imag(view)))
    for dtype in (np.float64, np.float16, np.int32, np.complex128, bool):
        assert round_to_tf32(np, a := x.astype(dtype)) is a


def exact_product(a, b): return (a.astype(np.float64) @ b.astype(np.float64))


A, B = RNG.normal(size=(5, 7)).astype(np.float32), RNG.normal(size=(7, 3)).astype(np.float32)
IMAGES, KERNELS = RNG.normal(size=(2, 6, 6, 3)).astype(np.float32), RNG.normal(size=(3, 3, 3, 4)).astype(np.float32)
CALLS = {
    "matmul": (lambda a, b: tf.matmul(a, b), A, B),
    "matmul_transposed": (lambda a, b: tf.matmul(b, a, transpose_a=True, transpose_b=True), A, B),
    "operator": (lambda a, b: a @ b, A, B),
    "matvec": (lambda a, b: tf.linalg.matvec(a, b), A, B[:, 0]),
    "tensordot": (lambda a, b: tf.tensordot(a, b, 1), A, B),
    "einsum": (lambda a, b: tf.einsum("ij,jk->ki", a, b), A, B),
    "einsum_batched": (lambda a, b: tf.einsum("nij,jk->nik", a, b), np.stack([A, 2 * A + 1]), B),
    "conv2d": (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), IMAGES, KERNELS),
    "conv2d_strided": (lambda x, w: tf.nn.conv2d(x, w, 2, "VALID"), IMAGES, KERNELS),
    "conv1d": (lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"), IMAGES[:, 0], KERNELS[0]),
    "conv2d_transpose": (lambda x, w: tf.nn.conv2d_transpose(x, w, (2, 6, 6, 4), 1, "SAME"), IMAGES, np.swapaxes(KERNELS, 2, 3).copy()),
}


def with_gradients(f, *arrays):
    xs = [tf.Variable(a) for a in arrays]
    with tf.GradientTape() as tape: y = f(*xs)
    g = np.random.default_rng(1).normal(size=y.shape).astype(y.dtype.as_numpy_dtype)
    return [y.numpy()] + [v.numpy() for v in tape.gradient(y, xs, output_gradients=tf.constant(g))]


@pytest.mark.parametrize("name", CALLS)
def test_who_obeys(name):
    "Rounding the operands first gives the same as simulating; not simulating, or switching off, gives the exact product."
    f, a, b = CALLS[name]
    exact = with_gradients(f, a, b)
    with simulate(): found = with_gradients(f, a, b)
    with simulate():
        enable(False)
        off = with_gradients(f, a, b)
        enable(True)
    g = np.random.default_rng(1).normal(size=exact[0].shape).astype(np.float32)
    ra, rb, rg = rounded(a), rounded(b), rounded(g)
    xs = [tf.Variable(ra), tf.Variable(rb)]
    with tf.GradientTape() as tape: y = f(*xs)
    wanted = [y.numpy()] + [v.numpy() for v in tape.gradient(y, xs, output_gradients=tf.constant(rg))]
    for one, two, plain, unchanged in zip(found, wanted, exact, off, strict=True):
        np.testing.assert_allclose(one, two, rtol=2e-5, atol=2e-5)
        assert np.abs(one - plain).max() > 1e-5 and np.abs(one - plain).max() < 2e-2
        np.testing.assert_allclose(unchanged, plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cell", ["lstm", "gru", "simple_rnn"])
def test_recurrent_networks_obey(cell):
    from tfedu.ops.rnn import CELLS, rnn
    wide, n = CELLS[cell].width, 4
    a, u = RNG.normal(size=(3, 2, wide * n)).astype(np.float32), RNG.normal(size=(n, wide * n)).astype(np.float32)
    states = [tf.constant(np.full((2, n), .3, np.float32))] * CELLS[cell].states
    f = lambda a, u: rnn(a, u, states, cell=cell)[0]
    exact = with_gradients(f, a, u)
    with simulate(): found = with_gradients(f, a, u)
    for one, two in zip(found, exact, strict=True): assert 1e-7 < np.abs(one - two).max() < 2e-2


@pytest.mark.parametrize("f, arrays", [
    (lambda x, w: tf.nn.depthwise_conv2d(x, w, (1, 1, 1, 1), "SAME"), (IMAGES, KERNELS)), (lambda x, y: x * y, (A, A + 1)),
    (lambda x, y: tf.reduce_sum(x * y, 1), (A, A - 1)), (lambda x, y: tf.nn.softmax(x + y), (A, A))])
def test_what_no_tensor_core_computes_stays_exact(f, arrays):
    exact = with_gradients(f, *arrays)
    with simulate(): found = with_gradients(f, *arrays)
    for one, two in zip(found, exact, strict=True): np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32])
def test_other_types_stay_exact(dtype):
    a, b = (10 * A).astype(dtype), (10 * B).astype(dtype)
    exact = tf.matmul(a, b).numpy()
    with simulate(): assert np.array_equal(tf.matmul(a, b).numpy(), exact)


def test_complex_products_round_both_halves():
    a, b = (A[:, :3] + 1j * A[:, 3:6]).astype(np.complex64), (B[:3] - 1j * B[3:6]).astype(np.complex64)
    with simulate(): found = tf.matmul(a, b).numpy()
    ra, rb = (rounded(v.real) + 1j * rounded(v.imag) for v in (a, b))
    np.testing.assert_allclose(found, ra @ rb, rtol=1e-5, atol=1e-5)


def test_huge_and_odd_operands():
    big, tiny = np.float32(3.4028235e38), np.float32(1e-45)
    with simulate():
        assert np.isinf(tf.matmul([[big]], [[1.]]).numpy()) and tf.matmul([[tiny]], [[1.]]).numpy() == 0
        assert np.isnan(tf.matmul([[np.inf]], [[0.]]).numpy()) and np.isnan(tf.matmul([[np.nan]], [[1.]]).numpy())
    assert tf.matmul([[big]], [[1.]]).numpy() == big


def test_second_derivatives_round():
    x = tf.Variable([[1024.5]])
    with simulate():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner: y = tf.matmul(x, x)
            slope = inner.gradient(y, x)
        assert slope.numpy() == 2050. and outer.gradient(slope, x).numpy() == 2.


def test_nesting_and_start_stop():
    def value(): return tf.matmul([[1024.5]], [[1.]]).numpy().item()
    with simulate():
        with simulate(): assert value() == 1025
        assert value() == 1025
    assert value() == 1024.5
    switch = simulate().start()
    assert value() == 1025 and isinstance(DEVICES["CPU"], Rounding)
    switch.stop()
    assert value() == 1024.5
    with pytest.raises(KeyError):
        with simulate(): raise KeyError
    assert value() == 1024.5
