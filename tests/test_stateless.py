"""Stateless numbers, samplers and ThreeFry: distributions with fixed seeds, shapes, types, gradients, errors."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tfedu as tf
from tfedu.ops import threefry

R = tf.random
SEED, N = [20, 24], 20_000
BAD = tf.errors.InvalidArgumentError


def fits(x, law): assert stats.kstest(np.asarray(x, np.float64).ravel(), law.cdf).pvalue > 1e-3


def counts(x, law):
    "Chi-square over the values that are expected at least five times; the rest together."
    values = np.arange(int(x.min()), int(x.max()) + 1)
    expected = law.pmf(values) * len(x)
    usual = expected >= 5
    found = np.array([np.sum(x == v) for v in values])[usual]
    expected, found = np.append(expected[usual], len(x) - expected[usual].sum()), np.append(found, len(x) - found.sum())
    assert stats.chisquare(found[expected > 1e-6], expected[expected > 1e-6] * found.sum() / expected[expected > 1e-6].sum()).pvalue > 1e-3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions(dtype):
    fits(R.stateless_uniform([N], SEED, dtype=dtype), stats.uniform)
    fits(R.stateless_uniform([N], SEED, -2, 6, dtype), stats.uniform(-2, 8))
    fits(R.stateless_normal([N], SEED, 3, 2, dtype), stats.norm(3, 2))
    fits(R.stateless_truncated_normal([N], SEED, dtype=dtype), stats.truncnorm(-2, 2))
    for a in (.05, .5, 1, 1.5, 30):
        fits(R.stateless_gamma([N], SEED, a, dtype="float64"), stats.gamma(a))
        fits(R.gamma([N], tf.constant(a, dtype), 3.0, dtype, seed=4) if a > .1 else R.stateless_gamma([N], SEED, a, 3.0, "float64"),
                stats.gamma(a, scale=1 / 3))


@pytest.mark.parametrize("rate", [.01, .7, 3, 9.99, 10, 25, 1000])
def test_poisson(rate):
    counts(R.stateless_poisson([N], SEED, rate, tf.int64).numpy(), stats.poisson(rate))
    counts(R.poisson([N], rate, tf.float64, seed=3).numpy(), stats.poisson(rate))


@pytest.mark.parametrize("n, p", [(1, .5), (5, .3), (20, .01), (40, .9), (100, .5), (1000, .003), (1000, .7), (10**6, .2)])
def test_binomial(n, p): counts(R.stateless_binomial([N], SEED, float(n), p).numpy(), stats.binom(n, p))


@pytest.mark.parametrize("low, high",
        [(-2, 2), (1, 2), (-1, 8), (4, 4.5), (7, np.inf), (-np.inf, -3), (-np.inf, np.inf), (-.01, .02), (-9, -8)])
def test_parameterized_truncated_normal(low, high):
    x = R.stateless_parameterized_truncated_normal([N], SEED, tf.constant(5.0, tf.float64), 2.0, 5.0 + 2 * low, 5.0 + 2 * high).numpy()
    assert (x >= 5 + 2 * low).all() and (x <= 5 + 2 * high).all()
    fits((x - 5) / 2, stats.truncnorm(low, high))


def test_truncated_normal_far_out_and_its_gradient():
    x = R.stateless_parameterized_truncated_normal([N], SEED, tf.constant(0.0, tf.float64), 1.0, 50.0, np.inf).numpy()
    fits((x * x - 2500) / 2, stats.expon)
    mean, deviation = tf.constant(1.0, tf.float64), tf.constant(2.0, tf.float64)
    low, high = tf.constant(0.0, tf.float64), tf.constant(4.0, tf.float64)
    f = lambda *p: tf.reduce_sum(R.stateless_parameterized_truncated_normal([50], SEED, *p))
    with tf.GradientTape() as tape:
        tape.watch(xs := [mean, deviation, low, high])
        y = f(*xs)
    for i, g in enumerate(tape.gradient(y, xs)):
        moved = [f(*[v + (h if j == i else 0) for j, v in enumerate(xs)]) for h in (-1e-6, 1e-6)]
        np.testing.assert_allclose(float(g), float(moved[1] - moved[0]) / 2e-6, rtol=1e-6)
    for p in ((0.0, -1.0, 0.0, 1.0), (0.0, 1.0, 2.0, 1.0)):
        with pytest.raises(BAD,
                match="stddevs must be positive and minvals below maxvals"): R.stateless_parameterized_truncated_normal([2], SEED, *p)


def test_categorical():
    chances = np.array([[.1, .2, .7, 0], [.25, .25, 0, .5]])
    with np.errstate(divide="ignore"): logits = np.log(chances) + [[3.0], [-800.0]]
    for x in (R.stateless_categorical(logits, N, SEED), R.categorical(logits, N, seed=3)):
        assert x.dtype == tf.int64 and x.shape == [2, N]
        for row, p in zip(x.numpy(), chances, strict=True):
            assert stats.chisquare(np.bincount(row, minlength=4)[p > 0], N * p[p > 0]).pvalue > 1e-3 and not np.bincount(row,
                    minlength=4)[p == 0].any()
    assert R.categorical([[0.0]], 3, dtype=tf.int32).dtype == tf.int32 and R.categorical(tf.zeros([0, 3]), 2).shape == [0, 2]
    assert R.stateless_categorical([[0.0, 1.0]], 0, SEED).shape == [1, 0]
    many = R.stateless_categorical(tf.zeros([50, 1000]), 400, SEED).numpy()
    assert many.min() == 0 and many.max() == 999 and abs(many.mean() - 499.5) < 8
    for bad in (lambda: R.categorical([.1], 2), lambda: R.categorical([[.1]], -1), lambda: R.categorical(tf.zeros([2, 0]), 1)):
        with pytest.raises(BAD, match="categorical"): bad()
    with pytest.raises(ValueError, match="dtype"): R.categorical([[.1]], 2, tf.float32)


@given(st.integers(-2**63, 2**63 - 1), st.integers(-2**63, 2**63 - 1), st.lists(st.integers(0, 4), max_size=3))
def test_functions_of_the_seed(a, b, shape):
    seed = tf.constant([a, b], tf.int64)
    for f in (R.stateless_uniform, R.stateless_normal, R.stateless_truncated_normal):
        x, y = f(shape, seed), f(shape, seed)
        np.testing.assert_array_equal(x.numpy(), y.numpy())
        assert x.shape == shape and np.isfinite(x.numpy()).all()
        assert x.shape.num_elements() < 2 or len(np.unique(x.numpy())) > 1
    keys = R.experimental.stateless_split(seed, 4)
    assert keys.dtype == tf.int64 and len(np.unique(keys.numpy())) == 8
    assert R.experimental.stateless_fold_in(seed, tf.constant(3, tf.int64)).numpy()[1] == 3


def test_shapes_types_and_errors():
    assert R.stateless_gamma([2, 3], SEED, [1.0, 2.0, 3.0], [[1.0], [2.0]]).shape == [2, 3]
    assert R.gamma([5], [[1.0], [2.0]], [1.0, 2.0, 3.0]).shape == [5, 2, 3] and R.gamma([], 1.0).shape == [] and R.gamma([0],
            [1.0]).shape == [0, 1]
    assert R.gamma([2], [1, 2], dtype=tf.float16).dtype == tf.float16
    assert R.poisson([2, 2], [1.0, 2.0], dtype=tf.int32).shape == [2, 2, 2] and R.poisson([2], 5).dtype == tf.float32
    assert R.stateless_poisson([2, 3], SEED, [[5.0], [30.0]]).shape == [2, 3] and R.stateless_poisson([3], SEED,
            [1, 2, 3]).dtype == tf.int32
    assert R.stateless_binomial([4, 2], SEED, 5.0, [.5, .1], tf.float32).dtype == tf.float32
    assert R.stateless_binomial([4], SEED, 5.0, 0.0).numpy().max() == 0 and R.stateless_binomial([4], SEED, 1e3, 1.0).numpy().min() == 1000
    assert np.isnan(R.stateless_gamma([2], SEED, -1.0).numpy()).all() and R.stateless_poisson([2], SEED, np.inf,
            tf.float32).numpy().min() == np.inf
    assert R.stateless_gamma([100], SEED, 1e-3).numpy().min() == np.finfo(np.float32).tiny
    assert R.stateless_uniform([2], [1, 2], dtype=tf.bfloat16).dtype == tf.bfloat16
    for bad in (lambda: R.stateless_uniform([2], [1, 2, 3]), lambda: R.stateless_normal([2], [1.0, 2.0]),
            lambda: R.stateless_uniform([2], SEED, 5, 5, tf.int32),
                lambda: R.stateless_gamma([2, 2], SEED, [1.0, 2.0, 3.0]), lambda: R.stateless_binomial([3], SEED, [5.0, 6.0], .5),
                lambda: R.stateless_poisson([2], SEED, [1.0, 2.0, 3.0]), lambda: R.experimental.stateless_fold_in(SEED, [1, 2])):
        with pytest.raises(BAD): bad()
    for bad in (lambda: R.stateless_uniform([2], SEED, dtype=tf.int32), lambda: R.stateless_uniform([2], SEED, None, 5, tf.int32),
                lambda: R.stateless_uniform([2], SEED, 0, 5, tf.uint32), lambda: R.stateless_normal([2], SEED, dtype=tf.int32),
                lambda: R.gamma([2], 1.0, dtype=tf.int32), lambda: R.gamma([2], tf.constant(1.0, tf.float64)),
                        lambda: R.poisson([2], 1.0, tf.uint8)):
        with pytest.raises(ValueError): bad()


def test_seeds_of_samplers_follow_the_table():
    for f in (lambda **k: R.gamma([4], 2.0, **k), lambda **k: R.poisson([9], 20.0, **k),
            lambda **k: R.categorical(tf.zeros([1, 999]), 9, **k)):
        tf.random.set_seed(5)
        a, b, c = f(seed=1).numpy().tolist(), f(seed=1).numpy().tolist(), f().numpy().tolist()
        tf.random.set_seed(5)
        assert [a, b, c] == [f(seed=1).numpy().tolist(), f(seed=1).numpy().tolist(), f().numpy().tolist()] and a != b != c
        tf.random.set_seed(6)
        assert f(seed=1).numpy().tolist() != a
    tf.random.set_seed(None)


def test_a_gamma_number_moves_with_its_parameters():
    "Against RandomGammaGrad of TensorFlow 2.21 for the same samples; then the expectation, whose slope is known."
    x = tf.constant([.5, 1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = R.stateless_gamma([4, 3], [1, 2], x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [2.9442315, 3.4499497, 3.8419743], rtol=1e-5)
    a, b = tf.constant(2.0, tf.float64), tf.constant(3.0, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch([a, b])
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            mean = tf.reduce_mean(R.gamma([N], a, b, tf.float64, seed=1) ** 2)       # a (a + 1) / b^2
        slopes = tape.gradient(mean, [a, b])
    np.testing.assert_allclose([float(s) for s in slopes], [5 / 9, -12 / 27], rtol=.05)
    np.testing.assert_allclose(float(outer.gradient(slopes[0], a)), 2 / 9, rtol=.1)
    tiny = tf.constant(1e-3)
    with tf.GradientTape() as tape:
        tape.watch(tiny)
        y = R.stateless_gamma([50], SEED, tiny)
    assert math.isfinite(float(tape.gradient(y, tiny)))


# counter, key, rounds, words: kat_vectors of Random123
KNOWN = [((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)), ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
         ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0))]


@pytest.mark.parametrize("counter, key, words", KNOWN)
def test_threefry_known_answers(counter, key, words):
    assert tuple(int(w[0]) for w in threefry.mix([np.array([c], np.uint32) for c in counter], key)) == words


def test_threefry_generator():
    g = R.experimental.Generator.from_seed(5, alg="threefry")
    assert g.state.shape == [2] and g.algorithm == R.Algorithm.THREEFRY
    fits(g.uniform([N]), stats.uniform)
    fits(g.normal([N], 1.0, 2.0, tf.float64), stats.norm(1, 2))
    fits(g.truncated_normal([N]), stats.truncnorm(-2, 2))
    counts(g.uniform([N], 0, 7, tf.int32).numpy(), stats.randint(0, 7))
    counts(g.binomial([N], 9.0, .3).numpy(), stats.binom(9, .3))
    children = g.split(3)
    assert len({tuple(c.normal([3]).numpy().tolist()) for c in children}) == 3 and g.make_seeds(2).shape == [2, 2]
