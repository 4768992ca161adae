"""What the sweep must know about scalar and special functions."""
import numpy as np

from tables.inputs import A, B, draw

HALF = draw(2, 3, low=.1, high=.9)


def still(x):
    "Numbers of float64 that the sweep does not move."
    return tuple(np.float64(v) for v in x)


CASES = {
    "zeta": [((still([3, 2, 4]), B), {})], "polygamma": [((still([1, 2, 0]), A), {})],
    "betainc": [((still([1, 2, 3]), still([2, 1, .5]), HALF), {})],
    "gamma_quantile": [((A, HALF), {})],
    "lbeta": [((A,), {}), ((draw(2, 3, 2),), {})],
    "share_slope": [((A, B), {}), ((A, B), dict(order=2))],
    "cumulative_logsumexp": [((A,), dict(axis=1)), ((A,), dict(axis=0, reverse=True))],
}
NO_GRADIENT = "bitcast left_shift right_shift truncatediv"
TYPES = {
    "FLOATING": """bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0
        bessel_y1 betainc cumulative_logsumexp dawsn digamma erfcinv
        erfinv expint fresnel_cos fresnel_sin gamma_quantile
        igamma igammac lbeta
        lgamma ndtri polygamma share_slope spence
        zeta""",
    "INEXACT": "xdivy xlog1py xlogy",
    "INTEGER": "left_shift right_shift",
    "NUMBER": "bitcast",
    "REAL": "truncatediv truncatemod",
    "float32 float64": "nextafter",
}
NARROW = dict.fromkeys(("erfcinv", "erfinv", "ndtri"), (HALF,))
KINKED = {"truncatemod"}
NOT_MOVING = {"zeta": ["x"], "polygamma": ["a"], "betainc": ["a", "b"]}

