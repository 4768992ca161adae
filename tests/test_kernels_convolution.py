"""Convolution kernels, launched on arrays of many shapes, against the ops that they stand in for."""
import numpy as np
import pytest

from tfedu.core.errors import InvalidArgumentError
from tfedu.kernels import convolution, im2col, implicit_gemm
from tfedu.ops.convolution import convolve, convolve_input, convolve_kernel
from tfedu.ops.window import slide

WAYS = {"direct": (convolution.direct, convolution.direct_input, convolution.direct_kernel),
        "lowered": (im2col.lowered, im2col.lowered_input, im2col.lowered_kernel),
        "implicit": (implicit_gemm.implicit, implicit_gemm.implicit_input, implicit_gemm.implicit_kernel)}
SETTINGS = [((2, 7, 6, 4), (3, 2, 4, 5), 1, "SAME", 1), ((3, 8, 9, 6), (2, 3, 2, 9), (2, 3), "VALID", (2, 1)),
            ((1, 5, 5, 3), (4, 4, 1, 6), 2, [[0, 0], [2, 1], [0, 3], [0, 0]], 1), ((2, 3, 3, 70), (1, 1, 70, 66), 1, "VALID", 1)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("x, w, strides, padding, dilations", SETTINGS)
def test_all_ways_agree_with_the_ops(way, x, w, strides, padding, dilations):
    rng = np.random.default_rng(0)
    s, groups = convolution.sliding(x, w, strides, padding, dilations)
    x, w, y = (rng.normal(size=shape).astype("f4") for shape in (x, w, (x[0], *s.count, w[-1])))
    forward, to_input, to_kernel = WAYS[way]
    near = dict(rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(forward(np, x, w, s, groups), convolve.at(np)(x, w, s, groups), **near)
    np.testing.assert_allclose(to_input(np, y, w, s, groups), convolve_input.at(np)(y, w, s, groups), **near)
    np.testing.assert_allclose(to_kernel(np, x, y, s, groups), convolve_kernel.at(np)(x, y, s, groups), **near)


@pytest.mark.parametrize("way", WAYS)
def test_sequences_views_and_nothing(way):
    rng, (forward, to_input, to_kernel) = np.random.default_rng(1), WAYS[way]
    s = slide(way, (11,), (3,), (2,), (2,), "SAME")
    x, w = rng.normal(size=(11, 3, 2)).astype("f4").transpose(1, 0, 2), rng.normal(size=(4, 2, 3)).astype("f4").T   # neither in one piece
    y = forward(np, x, w, s)
    np.testing.assert_allclose(y, convolve.at(np)(x, w, s), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(to_kernel(np, x, y, s), convolve_kernel.at(np)(x, y, s), rtol=1e-4, atol=1e-4)
    none = forward(np, x[:0], w, s)
    assert none.shape == (0, *y.shape[1:]) and to_input(np, none, w, s).shape == (0, 11, 2)
    np.testing.assert_array_equal(to_kernel(np, x[:0], none, s), np.zeros_like(w))


def test_deep_sums_are_dealt_out():
    rng = np.random.default_rng(2)
    s, _ = convolution.sliding((2, 40, 41, 3), (1, 1, 3, 4))
    x, y = rng.normal(size=(2, 40, 41, 3)).astype("f4"), rng.normal(size=(2, 40, 41, 4)).astype("f4")
    assert implicit_gemm.shares(*implicit_gemm.product("KernelGradient", s, 2, 3, 4, 1), 1) > 1
    want = convolve_kernel.at(np)(x, y, s)
    np.testing.assert_allclose(implicit_gemm.implicit_kernel(np, x, y, s), want, rtol=1e-3, atol=1e-3)
    half = implicit_gemm.implicit_kernel(np, x.astype("f2"), y.astype("f2"), s)
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, want, rtol=.02, atol=.5)
    np.testing.assert_allclose(implicit_gemm.implicit_kernel(np, x, y, s, tf32=True), want, rtol=.02, atol=.2)


def test_what_does_not_fit_is_named():
    s, x, w = slide("s", (5, 5), (2, 2), (1, 1), (1, 1)), np.zeros((1, 5, 5, 4), "f4"), np.zeros((2, 2, 4, 3), "f4")
    with pytest.raises(InvalidArgumentError, match=r"direct.*float32.*float64"): convolution.direct(np, x.astype("f8"), w, s)
    with pytest.raises(InvalidArgumentError, match=r"implicit.*float16"): implicit_gemm.implicit(np, x.astype("f2"), w, s)
    with pytest.raises(InvalidArgumentError, match=r"lowered: w must have shape \(2, 2, 4, 3\)"): im2col.lowered(np, x, w[:1], s)
    with pytest.raises(InvalidArgumentError, match="2 groups"): convolution.direct(np, x, w, s, 2)
    volume = slide("s", (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1))
    with pytest.raises(InvalidArgumentError, match="1 or 2 spatial axes"):
        convolution.direct(np, np.zeros((1, 3, 3, 3, 1), "f4"), np.zeros((1, 1, 1, 1, 1), "f4"), volume)
