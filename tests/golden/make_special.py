"""Records special.json.gz: values and gradients of scalar and special functions, as recording.py describes.

usage, in an environment with TensorFlow: python make_special.py
"""
import numpy as np
import tensorflow as tf
from recording import INF, NAN, record, save

WIDE = [np.float32, np.float64]
EVERYWHERE = [0.0, -0.5, -1.5, -2.0, 1e-3, 0.3, 0.9, 1.0, 1.5, 2.0, 2.7, 5.0, 9.9, 10.1, 33.0, 500.0, INF, NAN]
POSITIVE = [1e-3, 0.3, 0.9, 1.0, 1.5, 2.7, 5.0, 9.9, 20.0]
ALONG = [[1.0, -2.0, 0.5], [3.0, 1e3, 0.0]]
NEAR = {np.float32: 4e-5, np.float64: 1e-9}     # for TensorFlow's own kernels that are off by more than rounding


def unary():
    for t in WIDE:
        record("math.lgamma", np.array(EVERYWHERE, t)), record("math.digamma", np.array(EVERYWHERE[4:], t))
        record("math.erfinv", np.array([-1.5, -1, -.999, -.4, 0, 1e-6, .3, .75, .99999, 1, NAN], t), tolerance=NEAR[t])
        record("math.ndtri", np.array([-.1, 0, 1e-6, .02425, .3, .5, .75, .99, 1, 1.1, NAN], t))
        record("math.erfcinv", np.array([0, 1e-6, .3, 1, 1.7, 1.9999, 2], t))
        for name in ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e"):
            record(f"math.{name}", np.array([-20, -2.5, -.3, .1, 1, 3.7, 20], t))
            record(f"math.special.{name}", np.array([.5, 8], t))
        for name in ("j0", "j1", "y0", "y1", "k0", "k1", "k0e", "k1e"):
            record(f"math.special.bessel_{name}", np.array(POSITIVE, t))
        for name in ("dawsn", "expint", "fresnel_cos", "fresnel_sin"):
            record(f"math.special.{name}", np.array([.1, .7, 1.5, 3.2, 7.5], t))
        record("math.special.spence", np.array([.1, .7, 1.5, 3.2, 7.5], t))
        record("math.lbeta", np.array([[1, 2.5, .3], [4, 4, 40]], t)), record("math.lbeta", np.array([3, .2], t))


def several():
    for t in WIDE:
        a, x = np.array([.3, 1, 2.5, 7, 40], t), np.array([[.1], [1.3], [6], [38]], t)
        record("math.igamma", a, x), record("math.igammac", a, x), record("math.igamma", np.array([1, -1, 2], t), np.array([0, 1, INF], t))
        record("math.betainc", np.array([.5, 2, 7], t), np.array([3, 2, .4], t), np.array([.1, .5, .93], t))
        record("math.zeta", np.array([1.5, 2, 3, 2.5, 4], t), np.array([1, .3, 12, 100, -1.5], t))
        record("math.polygamma", np.array([0, 1, 2, 3, 1.5], t), np.array([1.3, .2, 7, 30, 1], t))
        u, v = np.array([0, 0, 1.5, -2, 3], t), np.array([0, NAN, 2, .5, INF], t)
        record("math.xlogy", u[1:4], np.array([NAN, 2, .5], t)), record("math.xdivy", u[2:], v[2:]), record("math.xlog1py", u[2:], v[2:])
        record("math.nextafter", np.array([0, 1, -1, 3], t), np.array([1, 0, -2, 3], t))
        record("realdiv", np.array([7, -7], t), np.array([2, 3], t))
        record("math.polyval", [np.array(c, t) for c in (3, -2, 1)], np.array([0, .5, -2], t))
        record("math.scalar_mul", np.array(2.5, t), np.array([1, -2], t)), record("scalar_mul", np.array(2.5, t), np.array([[1]], t))
        for axis, exclusive, reverse in ((0, False, False), (1, False, False), (1, False, True), (-1, True, False), (0, True, True)):
            record("math.cumulative_logsumexp", np.array(ALONG, t), axis=axis, exclusive=exclusive, reverse=reverse, tolerance=NEAR[t])
    for t in (np.complex64, np.complex128):
        # without gradients, which TensorFlow forgets to conjugate
        record("math.xlogy", np.array([0, 1 + 2j], t), np.array([0, 2 - 1j], t), gradient=False)
        record("math.xdivy", np.array([0, 1 + 2j], t), np.array([0, 2j], t), gradient=False)
    for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16):
        x, y = np.array([7, 100, 1, 90], t), np.array([2, 1, 40, 3], t)
        record("bitwise.left_shift", x, y), record("bitwise.right_shift", x, y), record("truncatediv", x, y)
        if t in (np.int8, np.int32, np.int64):
            record("bitwise.left_shift", -x, -y), record("bitwise.right_shift", -x, y), record("truncatediv", -x, y)
    for t in (np.int32, np.int64): record("truncatemod", np.array([-7, 7], t), np.array([2, -2], t))
    for old, new in (("float32", "int32"), ("float32", "uint8"), ("float64", "int32"), ("float16", "uint16"), ("int64", "float64")):
        record("bitcast", np.array([[1, -2.5, 3]]).astype(old), tf.as_dtype(new))
    record("bitcast", np.arange(8, dtype=np.uint8).reshape(2, 4), tf.int32)
    for dim, count, skip in ((1, 7, 0), (3, 20, 0), (7, 5, 100), (40, 3, 2)):
        record("math.sobol_sample", dim, count, skip), record("math.sobol_sample", dim, count, skip=skip, dtype=tf.float64)


if __name__ == "__main__": save("special.json.gz", unary, several)
