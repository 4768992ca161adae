"""Flash attention on arrays of many shapes, against attention in float64 and against tfedu's own tape."""
import numpy as np
import pytest

from tfedu.autodiff.tape import GradientTape
from tfedu.core.convert import constant
from tfedu.core.errors import InvalidArgumentError
from tfedu.kernels.flash_attention import attended, attention, flash, plain_attention
from tfedu.kernels.flash_backward import attended_backward, flash_backward
from tfedu.ops.linalg import matmul
from tfedu.ops.nn import softmax


def inputs(*shapes, dtype="f4"): return [np.random.default_rng(0).normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("n, m, d, causal", [
    (1, 1, 1, False), (33, 70, 20, False), (70, 33, 64, True), (40, 40, 65, True), (2, 129, 128, False)])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_forth_and_back(n, m, d, causal, dtype):
    q, k, v, g = inputs((2, 3, n, d), (2, 3, m, d), (2, 3, m, d), (2, 3, n, d), dtype=dtype)
    lengths = np.array([[m], [m // 2]])
    out, lse = flash(np, q, k, v, causal, lengths)
    gradients = flash_backward(np, q, k, v, out, lse, g, causal, lengths)
    flat, each = [a.reshape(6, *a.shape[2:]) for a in (q, k, v, g)], np.repeat(lengths, 3)
    near = dict(rtol=1e-3, atol=2e-4) if dtype == "f4" else dict(rtol=1e-2, atol=1e-2)
    truth, sums = attended(*flat[:3], d**-.5, causal, each)
    np.testing.assert_allclose(out.reshape(truth.shape), truth, **near)
    np.testing.assert_allclose(lse.reshape(sums.shape), sums, **near)
    for ours, theirs in zip(gradients, attended_backward(*flat, d**-.5, causal, each), strict=True):
        assert ours.dtype == q.dtype
        np.testing.assert_allclose(ours.reshape(theirs.shape), theirs, **near)


def test_the_tape_agrees():
    q, k, v, g = inputs((9, 6), (7, 6), (7, 6), (9, 6))
    with GradientTape() as tape:
        watched = [constant(a) for a in (q, k, v)]
        for a in watched: tape.watch(a)
        y = matmul(softmax(matmul(watched[0], watched[1], transpose_b=True) * 3.), watched[2])
    out, lse = flash(np, q, k, v, scale=3)
    np.testing.assert_allclose(out, y.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(plain_attention(np, q, k, v, scale=3), out, rtol=1e-4, atol=1e-5)
    gradients = tape.gradient(y, watched, output_gradients=constant(g))
    for ours, theirs in zip(flash_backward(np, q, k, v, out, lse, g, scale=3), gradients, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-3, atol=1e-4)


def test_nothing_to_see():
    q, k = inputs((2, 5, 8), (2, 3, 8))
    for keys, lengths in ((k, 0), (k[:, :0], None)):
        out, lse = flash(np, q, keys, keys, lengths=lengths)
        assert (out == 0).all() and np.isneginf(lse).all() and (plain_attention(np, q, keys, keys, lengths=lengths) == 0).all()
        assert not any(a.any() for a in flash_backward(np, q, keys, keys, out, lse, q, lengths=lengths))
    assert attention(np, q[:, :0], k, k).shape == (2, 0, 8) and attention(np, q[:0], k[:0], k[:0]).shape == (0, 5, 8)


def test_what_does_not_fit_is_named():
    q, k = inputs((2, 5, 8), (2, 3, 8))
    with pytest.raises(InvalidArgumentError, match=r"flash: q, k, v must be .*\(2, 3, 7\)"): flash(np, q, k[..., :7], k)
    with pytest.raises(InvalidArgumentError, match="float64"): flash(np, *(a.astype("f8") for a in (q, k, k)))
    with pytest.raises(InvalidArgumentError, match="1 to 128 numbers, got 129"): attention(np, *inputs(*[(1, 1, 129)] * 3))
    with pytest.raises(InvalidArgumentError, match=r"lengths \(3,\) do not broadcast"): flash(np, q, k, k, lengths=[1, 2, 3])
    out, lse = flash(np, q, k, k)
    with pytest.raises(InvalidArgumentError, match="flash_backward: out and g"): flash_backward(np, q, k, k, out, lse, q[:1])
