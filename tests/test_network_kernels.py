"""The kernels of layers, losses and optimizers: any layout, what is not finite, what does not fit, and what is empty."""
import numpy as np
import pytest

from tfedu.kernels import cross_entropy, dropout, embedding, fused_optimizers, layer_norm, quantise, softmax
from tfedu.ops import nn
from tfedu.ops.cross_entropy import sparse_softmax_cross_entropy_with_logits as cross_entropy_op
from tfedu.ops.gather import add_rows as add_rows_op
from tfedu.ops.gather import gather as gather_op

CLOSE = {"f4": dict(rtol=1e-4, atol=1e-5), "f2": dict(rtol=3e-3, atol=3e-3)}


def normal(seed, shape, dtype="f4"): return np.random.default_rng(seed).normal(size=shape).astype(dtype)


SHAPES = [((5,), None), ((3, 1), 1), ((2, 3, 40), 0), ((2, 129, 3), 1), ((3, 1100), -1), ((1025, 2), 0), ((1030, 1040), 1)]


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("shape,axis", SHAPES)
def test_softmax_along_any_axis(shape, axis, dtype):
    x, g = normal(0, shape, dtype), normal(1, shape, dtype)
    for kernel, op, log in ((softmax.softmax, nn.softmax, False), (softmax.log_softmax, nn.log_softmax, True)):
        y = kernel(np, x, axis)
        np.testing.assert_allclose(y.astype("f4"), op.at(np)(x.astype("f4"), axis), **CLOSE[dtype])
        out, last = y.astype("f8"), -1 if axis is None else axis
        want = g - np.exp(out) * g.sum(last, keepdims=True, dtype="f8") if log else (g - (g * out).sum(last, keepdims=True)) * out
        wider = {name: value * (10 if log else 1) for name, value in CLOSE[dtype].items()}
        np.testing.assert_allclose(softmax.softmax_gradient(np, g, y, axis, log).astype("f8"), want, **wider)


def test_softmax_of_layouts_and_of_what_is_not_finite():
    x = normal(0, (40, 6))[::2].T
    np.testing.assert_allclose(softmax.softmax(np, x), nn.softmax.at(np)(x), rtol=1e-5)
    for n in (2, 33, 2000):
        x = np.zeros((4, n), "f4")
        x[0], x[1, 0], x[2, -1], x[3, 0] = -np.inf, -np.inf, np.nan, np.inf
        for kernel, op in ((softmax.softmax, nn.softmax), (softmax.log_softmax, nn.log_softmax)):
            with np.errstate(invalid="ignore"): want = op.at(np)(x)
            np.testing.assert_allclose(kernel(np, x), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("shape,axis", [((3, 1), -1), ((2, 33, 3), 1), ((700, 31), -1), ((2, 1025), 1)])
def test_layer_norm_and_its_gradients(shape, axis, dtype):
    n = shape[axis]
    x, g, gamma, beta = normal(0, shape, dtype), normal(1, shape, dtype), normal(2, n), normal(3, n)
    y, mean, inverse = layer_norm.layer_norm(np, x, gamma, beta, 1e-3, axis)
    a, h = (np.moveaxis(v, axis, -1).reshape(-1, n).astype("f8") for v in (x, g))
    want = layer_norm.reference(a, gamma, beta, "f8")[0]
    np.testing.assert_allclose(np.moveaxis(y, axis, -1).reshape(-1, n), want, **CLOSE[dtype])
    dx, dgamma, dbeta = layer_norm.layer_norm_gradient(np, g, x, gamma, mean, inverse, axis)
    wanted = layer_norm.slopes(h, a, gamma)
    np.testing.assert_allclose(np.moveaxis(dx, axis, -1).reshape(-1, n), wanted[0], rtol=1e-2, atol=2e-2 if dtype == "f2" else 1e-4)
    for got, right in ((dgamma, wanted[1]), (dbeta, wanted[2])): np.testing.assert_allclose(got, right, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("classes", [1, 7, 2000, 17000])
def test_cross_entropy_of_rows_of_any_length(classes):
    x, labels = normal(0, (2, 3, classes)), np.random.default_rng(1).integers(0, classes, (2, 3))
    want = cross_entropy_op.at(np)(labels, x)
    loss, dx = cross_entropy.cross_entropy_with_gradient(np, labels, x, 2.)
    again, kept = cross_entropy.cross_entropy_loss(np, labels.astype("i4"), x)
    back = cross_entropy.cross_entropy_gradient(np, np.full((2, 3), 2), labels, x, kept)
    for got in (loss, again): np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    slope = 2 * (nn.softmax.at(np)(x) - (np.arange(classes) == labels[..., None]))
    for got in (dx, back): np.testing.assert_allclose(got, slope, rtol=1e-4, atol=1e-6)


def test_a_label_that_is_no_class_gives_nan_in_its_row_only():
    labels = np.array([0, -1, 5, 4])
    loss, dx = cross_entropy.cross_entropy_with_gradient(np, labels, normal(0, (4, 5), "f2"))
    assert np.isnan(loss).tolist() == np.isnan(dx).all(1).tolist() == np.isnan(dx).any(1).tolist() == [False, True, True, False]


@pytest.mark.parametrize("dtype", ["f4", "f2", "f8", "i1", "i8", "?"])
def test_gather_copies_the_bits_of_any_type(dtype):
    table, index = np.random.default_rng(0).integers(0, 2, (9, 2, 17)).astype(dtype)[:, ::-1], np.array([[8, 0], [3, 8]])
    np.testing.assert_array_equal(embedding.gather(np, table, index), gather_op.at(np)(table, index))
    assert not embedding.gather(np, table, np.array([9, -1])).any()


@pytest.mark.parametrize("dtype", CLOSE)
def test_added_rows_have_the_same_bits_whatever_the_layout(dtype):
    g, index = normal(0, (300, 3, 5), dtype), np.random.default_rng(1).integers(0, 4, 300)
    sums = [embedding.add_rows(np, v, index, 6) for v in (g, np.asfortranarray(g))]
    np.testing.assert_array_equal(*sums)
    want = add_rows_op(np, g.reshape(300, 15).astype("f4"), index, 6).reshape(6, 3, 5)
    for got in (sums[0], embedding.add_rows(np, g, index, 6, False)):
        np.testing.assert_allclose(got.astype("f4"), want, rtol=3e-3, atol=3e-2)


def test_a_step_of_adam_is_taken_for_all_or_for_none():
    state, values = fused_optimizers.adam_state(np), [normal(0, 700), normal(1, 3)]
    slots = [[np.zeros_like(v) for v in values] for _ in range(2)]
    copies, before = [np.zeros(v.shape, "f2") for v in values], [v.copy() for v in values]
    gradients = [normal(2, 700, "f2"), np.array([1, np.inf, 0], "f2")]
    fused_optimizers.adam_step(np, state, values, *slots, gradients, copies=copies)
    assert all((v == b).all() for v, b in zip(values, before)) and state.step[0] == 0 and not copies[0].any()
    gradients[1][1] = 2
    fused_optimizers.adam_step(np, state, values, *slots, gradients, copies=copies)
    for v, b, g, c in zip(values, before, gradients, copies):
        np.testing.assert_allclose(v, b - 1e-3 * np.sign(g), atol=2e-5)   # the first step has the size of the rate
        np.testing.assert_array_equal(c, v.astype("f2"))
    assert state.step[0] == 1


def test_gradient_descent_of_any_number_of_arrays():
    values = [normal(i, n) for i, n in enumerate([1, 600, 0, 33, 2, 7, 100, 255, 256, 257])]
    speeds, gradients, before = [np.ones_like(v) for v in values], [np.full_like(v, 2) for v in values], [v.copy() for v in values]
    assert fused_optimizers.sgd_step(np, values, speeds, gradients, 0.5, 0.25) == 2
    for v, b, a in zip(values, before, speeds):
        np.testing.assert_allclose(v, b - .75, atol=1e-6)
        np.testing.assert_array_equal(a, np.full_like(a, -.75))


@pytest.mark.parametrize("dtype", CLOSE)
def test_dropout_has_the_bits_of_the_op(dtype):
    x = normal(0, (3, 137), dtype)
    for rate in (0, .1, .5, .99):
        np.testing.assert_array_equal(dropout.dropout(np, x, rate, 5, 2**64 - 9), dropout.by_numpy(x, rate, 5, 2**64 - 9))


@pytest.mark.parametrize("rows", [False, True])
def test_quantised_numbers_are_off_by_half_a_step_at_most(rows):
    x = normal(0, (3, 50)) * np.array([[0], [1], [1000]], "f4")
    q, largest = quantise.quantise(np, x, rows)
    assert (np.abs(quantise.dequantise(np, q, largest) - x) <= largest.reshape(-1, 1) / 253.9).all()
    assert np.abs(q).max() == 127 and not q[0].any()


def test_products_of_bytes_are_exact():
    a, b = (np.random.default_rng(i).integers(-127, 128, (n, 1001)).astype("i1") for i, n in enumerate((5, 18)))
    got = quantise.multiply(np, a, np.full(5, 127, "f4"), b, np.full(18, 127, "f4"))
    np.testing.assert_array_equal(got, a.astype("i8") @ b.astype("i8").T)


def test_scalars_and_single_rows():
    x = np.array(3, "f4")
    assert dropout.dropout(np, x, 0, 1, 2) == 3 and quantise.dequantise(np, *quantise.quantise(np, x)) == 3
    q, largest = quantise.quantise(np, np.array([1, -2], "f4"), True)
    assert largest.shape == () and quantise.dequantise(np, q, largest)[1] == -2
    loss, _ = cross_entropy.cross_entropy_with_gradient(np, np.array(1), np.zeros(4, "f4"))
    assert loss.shape == () and np.isclose(loss, np.log(4))


def test_indices_of_64_bits_are_not_cut_off():
    assert not embedding.gather(np, np.ones((2, 4)), np.array([2**32])).any()
    assert np.isnan(cross_entropy.cross_entropy_loss(np, np.array([2**32]), np.zeros((1, 4), "f4"))[0])
    assert not embedding.add_rows(np, np.ones((1, 4), "f4"), np.array([2**32 + 1]), 3).any()


def test_empty_arrays():
    none = np.zeros((0, 4), "f4")
    assert softmax.softmax(np, none).shape == softmax.softmax(np, none.T).T.shape == (0, 4)
    assert dropout.dropout(np, none, .5, 1, 2).shape == (0, 4)
    assert [v.shape for v in layer_norm.layer_norm(np, none)] == [(0, 4), (0,), (0,)]
    assert embedding.gather(np, np.ones((2, 4)), np.zeros(0, int)).shape == (0, 4)
    assert not embedding.add_rows(np, none, np.zeros(0, int), 3).any()
    assert quantise.quantise(np, none)[0].shape == (0, 4)


@pytest.mark.parametrize("call", [
    lambda x: softmax.softmax(np, x), lambda x: softmax.log_softmax(np, x), lambda x: softmax.softmax_gradient(np, x, x),
    lambda x: layer_norm.layer_norm(np, x), lambda x: cross_entropy.cross_entropy_loss(np, np.zeros(2, int), x),
    lambda x: embedding.add_rows(np, x, np.zeros(2, int), 3), lambda x: dropout.dropout(np, x, .5, 1, 2),
    lambda x: quantise.quantise(np, x)])
def test_a_type_without_a_kernel_is_named(call):
    with pytest.raises(TypeError, match="float32 or float16, got float64"): call(np.ones((2, 3)))
