"""Scalar and special functions: against SciPy over wide ranges, edges, errors, identities."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import tfedu as tf

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
RNG = np.random.default_rng(0)
WIDE = np.concatenate([np.exp(RNG.uniform(-700, 700, 3000)), RNG.uniform(0, 20, 3000)])
LEFT = np.concatenate([-np.exp(RNG.uniform(-700, 20, 2000)), -RNG.uniform(0, 50, 2000)])
SHARE = np.concatenate([np.exp(RNG.uniform(-700, 0, 3000)), RNG.uniform(0, 1, 3000)])
SIGNED = np.concatenate([RNG.uniform(-1, 1, 3000), RNG.uniform(-1, 1, 500) * np.exp(RNG.uniform(-700, 0, 500))])
OURS = {   # name -> arguments, what SciPy gives, absolute error near zeros of the function
    "lgamma": ((WIDE,), special.gammaln, 1e-14), "digamma": ((WIDE,), special.digamma, 1e-14),
    "lgamma left": ((LEFT,), special.gammaln, 1e-13), "digamma left": ((LEFT,), special.digamma, 1e-11),
    "erfinv": ((SIGNED,), special.erfinv, 0), "ndtri": ((SHARE,), special.ndtri, 1e-15), "erfcinv": ((2 * SHARE,), special.erfcinv, 1e-15),
    "zeta": ((1 + np.exp(RNG.uniform(-5, 5, 3000)), np.exp(RNG.uniform(-5, 12, 3000))), special.zeta, 1e-306),
    "polygamma": ((RNG.integers(0, 12, 3000) * 1.0, np.exp(RNG.uniform(-3, 8, 3000))), special.polygamma, 1e-14)}


@pytest.mark.parametrize("name", OURS)
def test_our_own_against_scipy(name):
    inputs, f, near = OURS[name]
    if name == "polygamma": f = lambda n, x: special.polygamma(n.astype(int), x)
    call = getattr(tf.math, name.split()[0])
    np.testing.assert_allclose(call(*map(tf.constant, inputs)).numpy(), f(*inputs), rtol=1e-11 if "left" in name else 1e-13, atol=near)
    narrow = [x.astype(np.float32) for x in inputs]
    want, got = f(*[x.astype(np.float64) for x in narrow]).astype(np.float32), call(*map(tf.constant, narrow)).numpy()
    there = narrow[-1] != 0
    np.testing.assert_allclose(got[there], want[there], rtol=2.4e-7, atol=1e-44)          # two units of the last place


SCIPY = {"bessel_i0": "i0", "bessel_i0e": "i0e", "bessel_i1": "i1", "bessel_i1e": "i1e", "bessel_j0": "j0", "bessel_j1": "j1",
        "bessel_y0": "y0",
         "bessel_y1": "y1", "bessel_k0": "k0", "bessel_k0e": "k0e", "bessel_k1": "k1", "bessel_k1e": "k1e", "dawsn": "dawsn",
         "expint": "expi",
         "spence": "spence"}


@pytest.mark.parametrize("name", SCIPY)
def test_borrowed_functions(name):
    x = np.array([0, .3, 1, 4.5, 30, np.inf, np.nan, -1.5])
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        v = tf.cast(x, dtype)
        want = getattr(special, SCIPY[name])(v.numpy().astype(np.float64)).astype(v.numpy().dtype)
        np.testing.assert_array_equal(getattr(tf.math.special, name)(v).numpy().astype(np.float64), want.astype(np.float64))


def test_public_names_of_the_rest():
    x = tf.constant([.5, 2.0], tf.float64)
    for f in (tf.math.bessel_i0, tf.math.bessel_i0e, tf.math.bessel_i1, tf.math.bessel_i1e):
        np.testing.assert_array_equal(f(x, name="b").numpy(), getattr(tf.math.special, f.__name__)(x).numpy())
    sine, cosine = special.fresnel(x.numpy())
    np.testing.assert_array_equal(tf.math.special.fresnel_sin(x).numpy(), sine)
    np.testing.assert_array_equal(tf.math.special.fresnel_cos(x).numpy(), cosine)
    assert tf.scalar_mul is tf.math.scalar_mul and float(tf.math.special.bessel_j0(0.0)) == 1
    for f in (tf.math.special.bessel_j1, tf.math.special.bessel_y0, tf.math.special.bessel_y1, tf.math.special.bessel_k0,
            tf.math.special.bessel_k1,
              tf.math.special.bessel_k0e, tf.math.special.bessel_k1e, tf.math.special.dawsn, tf.math.special.expint, tf.math.special.spence,
              tf.math.special.bessel_i0, tf.math.special.bessel_i0e, tf.math.special.bessel_i1, tf.math.special.bessel_i1e):
        assert np.isfinite(f(x).numpy()).all()


def test_edges():
    inf, nan = np.inf, np.nan
    v = lambda f, *x: f(*[tf.constant(i, tf.float64) for i in x]).numpy().tolist()
    assert v(tf.math.lgamma, [0, -0.0, -1, -2, inf, -inf]) == [inf] * 6 and np.isnan(v(tf.math.lgamma, nan))
    assert np.isnan(v(tf.math.digamma, [0, -0.0, -1, -2, -inf, nan])).all() and v(tf.math.digamma, inf) == inf
    assert v(tf.math.erfinv, [1, -1, 0]) == [inf, -inf, 0] and np.isnan(v(tf.math.erfinv, [2, -2, nan])).all()
    assert v(tf.math.ndtri, [0, 1, .5]) == [-inf, inf, 0] and np.isnan(v(tf.math.ndtri, [-1, 2, nan])).all()
    assert v(tf.math.erfcinv, [0, 2, 1]) == [inf, -inf, 0] and np.isnan(v(tf.math.erfcinv, [-1, 3])).all()
    assert v(tf.math.zeta, [1, 2, 3, 2], [2, 0, -1, inf]) == [inf, inf, inf,
            0] and np.isnan(v(tf.math.zeta, [.5, 2.5, 2], [2, -.5, nan])).all()
    assert np.isnan(v(tf.math.polygamma, [1.5, -1], [2, 2])).all() and v(tf.math.polygamma, 1, 0) == inf
    assert v(tf.math.igamma, [1, 2, 1], [0, inf, -1])[:2] == [0, 1] and v(tf.math.igammac, [1, 2], [0, inf]) == [1, 0]
    assert v(tf.math.betainc, [1, 2], [1, 3], [.5, 1]) == [.5, 1] and np.isnan(v(tf.math.betainc, 1, 1, -1))
    assert tf.math.lbeta(tf.ones([2, 1])).numpy().tolist() == [0, 0] and tf.math.lbeta(tf.ones([0, 3])).shape == [0]


@given(st.floats(-30, 30), st.floats(-1e6, 1e6), st.floats(1e-3, 1 - 1e-3))
def test_identities(x, wide, share):
    c = lambda v: tf.constant(v, tf.float64)
    if abs(x - round(x)) > 1e-3:
        np.testing.assert_allclose(float(tf.math.lgamma(c(x + 1)) - tf.math.lgamma(c(x))), math.log(abs(x)), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(float(tf.math.digamma(c(x + 1)) - tf.math.digamma(c(x))), 1 / x, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(float(tf.math.erf(tf.math.erfinv(c(share)))), share, rtol=1e-14)
    np.testing.assert_allclose(float(tf.math.ndtri(c(share))), -float(tf.math.ndtri(c(1 - share))), rtol=1e-12, atol=1e-14)
    after = float(tf.math.nextafter(c(wide), c(np.inf)))
    assert after > wide and float(tf.math.nextafter(c(after), c(-np.inf))) == wide


# ------------------------------------------------------------------ scalars

def slopes(f, *xs):
    xs = [tf.constant(x, tf.float64) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [None if g is None else g.numpy().tolist() for g in tape.gradient(y, xs)]


def test_zero_times_anything():
    inf, nan = np.inf, np.nan
    for f in (tf.math.xlogy, tf.math.xlog1py, tf.math.xdivy):
        assert f([0.0] * 5, [0.0, -1.0, nan, inf, -inf]).numpy().tolist() == [0] * 5
        assert np.isfinite(slopes(f, [0.0] * 5, [0.0, -1.0, nan, inf, 3.0])).all()
    assert slopes(tf.math.xlogy, 0.0, 2.0) == [math.log(2), 0] and slopes(tf.math.xdivy, 0.0, 2.0) == [.5, 0]
    assert tf.math.xlogy(1.0, 0.0).numpy() == -inf
    assert slopes(tf.math.xlog1py, 3.0, 1.0) == [math.log(2), 1.5]
    z = tf.constant([0j, 1 + 1j])
    np.testing.assert_allclose(tf.math.xlogy(z, [0j, 2j]).numpy(), [0, (1 + 1j) * np.log(2j)], rtol=1e-6)


def test_power_of_zero():
    assert float(tf.pow(0.0, 0.0)) == 1 and slopes(tf.pow, 0.0, 0.0) == [0, 0] and slopes(tf.pow, 0.0, 2.0) == [0, 0] and slopes(tf.pow,
            0.0, 1.0) == [1, 0]


@given(st.integers(-128, 127), st.integers(-128, 127))
def test_quotients_and_shifts_of_small_integers(x, y):
    a, b = tf.constant(x, tf.int8), tf.constant(y, tf.int8)
    wrap = lambda v: (v + 128) % 256 - 128
    if y:
        assert int(tf.truncatediv(a, b)) == wrap(int(x / y)) and int(tf.truncatemod(a, b)) == math.fmod(x, y)
    shift = min(max(y, 0), 7)
    assert int(tf.bitwise.left_shift(a, b)) == wrap(x << shift) and int(tf.bitwise.right_shift(a, b)) == x >> shift


def test_quotients():
    assert tf.truncatediv([7.5, -7.5], 2.0).numpy().tolist() == [3, -3] and tf.truncatemod([7.5, -7.5], 2.0).numpy().tolist() == [1.5, -1.5]
    assert tf.realdiv(1.0, 4.0, name="q").numpy() == .25
    for f in (tf.truncatediv, tf.truncatemod):
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"): f([1], [0])
    with pytest.raises(tf.errors.InvalidArgumentError): tf.realdiv(1, 2)


def test_bitcast():
    assert tf.bitcast([1.0, 2.0], tf.uint8).numpy().tolist() == [[0, 0, 128, 63], [0, 0, 0, 64]]
    assert tf.bitcast(tf.constant([[0, 0, 128, 63]], tf.uint8), tf.float32).numpy().tolist() == [1]
    assert tf.bitcast(tf.transpose(tf.constant([[1.0, 2.0], [3.0, 4.0]])), tf.int32).shape == [2, 2]
    assert tf.bitcast(tf.constant(1 + 2j), tf.float64).numpy().tolist() == [1, 2] and tf.bitcast(tf.zeros([0]), tf.int16).shape == [0, 2]
    for x, wanted in ((tf.zeros([2, 3], tf.uint8), tf.float32), (tf.constant([1]), tf.bool), (tf.constant([True]), tf.uint8),
            (tf.constant(1.0), tf.float64)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="bitcast"): tf.bitcast(x, wanted)


def test_scalar_mul_and_polyval():
    rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([4, 2]))
    scaled = tf.scalar_mul(2, rows)
    assert isinstance(scaled, tf.IndexedSlices) and scaled.values.numpy().tolist() == [[2, 4]] and scaled.indices.numpy().tolist() == [3]
    assert tf.math.scalar_mul(tf.constant(3.0), [1.0, 2.0]).numpy().tolist() == [3, 6]
    with pytest.raises(ValueError, match="single number"): tf.scalar_mul([1.0], tf.constant([2.0]))
    assert float(tf.math.polyval([], 2.0)) == 0 and tf.math.polyval([2.0, 1.0], [1.0, 2.0]).numpy().tolist() == [3, 5]
    assert slopes(lambda x: tf.math.polyval([3.0, 2.0, 1.0], x), 2.0) == [14]
    with pytest.raises(ValueError, match="coeffs must be a list"): tf.math.polyval(tf.constant([1.0]), 2.0)


def test_cumulative_logsumexp():
    x = RNG.normal(size=(5, 4)) * 3
    for axis in (0, 1, -1):
        for exclusive in (False, True):
            for reverse in (False, True):
                y = tf.math.cumulative_logsumexp(tf.constant(x), axis, exclusive, reverse).numpy()
                np.testing.assert_allclose(np.exp(y), tf.cumsum(tf.constant(np.exp(x)), axis, exclusive, reverse).numpy(), rtol=1e-12)
                f = lambda v, k=(axis, exclusive, reverse): tf.reduce_sum(tf.math.sin(tf.exp(tf.math.cumulative_logsumexp(v, *k))))
                g = lambda v, k=(axis, exclusive, reverse): tf.reduce_sum(tf.math.sin(tf.cumsum(tf.exp(v), *k)))
                np.testing.assert_allclose(slopes(f, x), slopes(g, x), rtol=1e-9, atol=1e-9)
    low = [-np.inf, -np.inf, 3.0]
    assert tf.math.cumulative_logsumexp(low).numpy().tolist() == low and slopes(lambda v: tf.math.cumulative_logsumexp(v)[2],
            low) == [[0, 0, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="axis"): tf.math.cumulative_logsumexp([1.0], axis=1)


def test_sobol():
    from scipy.stats import qmc
    np.testing.assert_array_equal(tf.math.sobol_sample(5, 31, dtype=tf.float64).numpy(),
            qmc.Sobol(5, scramble=False, bits=32).random(32)[1:])
    for bad in (dict(dim=0, num_results=1), dict(dim=1, num_results=0), dict(dim=1, num_results=1, skip=-1),
            dict(dim=1, num_results=1, dtype=tf.float16)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="sobol_sample"): tf.math.sobol_sample(**bad)


def test_shares_move_with_their_shape():
    "The slope of igamma towards a, which TensorFlow has, and the second, which it has not; against differences of high order."
    a = np.exp(RNG.uniform(-2, 5, 200))
    x = RNG.gamma(a) + 1e-9
    h = 2e-3 * a
    points = [special.gammainc(a + k * h, x) for k in (-2, -1, 1, 2)]
    np.testing.assert_allclose(slopes(tf.math.igamma, a, x)[0], (points[0] - 8 * points[1] + 8 * points[2] - points[3]) / (12 * h),
            atol=1e-7, rtol=1e-5)
    np.testing.assert_allclose(slopes(tf.math.igammac, a, x)[0], -np.array(slopes(tf.math.igamma, a, x)[0]))
    assert slopes(tf.math.betainc, 1.0, 2.0, .5)[:2] == [None, None] and slopes(tf.math.zeta, 2.0, 1.0)[0] is None


def test_without_scipy_the_error_says_what_to_install(monkeypatch):
    def missing(name): raise ModuleNotFoundError(f"No module named {name!r}", name="scipy")
    monkeypatch.setattr("tfedu.core.optional.import_module", missing)
    for f in (lambda: tf.math.igamma(1.0, 1.0), lambda: tf.math.special.bessel_j0(1.0), lambda: tf.math.sobol_sample(1, 1)):
        with pytest.raises(ImportError, match=r"tf\.math.*pip install"): f()
    np.testing.assert_allclose(float(tf.math.lgamma(3.0)), math.log(2), rtol=1e-7)
