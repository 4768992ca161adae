"""The functions that launch the first kernels: odd shapes, views, empty arrays, and what they say about wrong arguments."""
import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tfedu.core.tf32 import round_to_tf32
from tfedu.kernels import tensor_core_matmul
from tfedu.kernels.coalescing import scale
from tfedu.kernels.first_thread import add
from tfedu.kernels.grid_stride import axpy
from tfedu.kernels.matmul import in_strips, matmul, matmul_tiled
from tfedu.kernels.matmul_registers import matmul_fast
from tfedu.kernels.reduction import total, total_atomic
from tfedu.kernels.tensor_core_matmul import matmul_tensor
from tfedu.kernels.transpose import transpose

SHAPES = [(), (0,), (1,), (1027,), (3, 5, 7), (2, 0, 3)]


def normal(*shape, dtype=np.float32, seed=0): return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
def test_elementwise(shape):
    x, y = normal(*shape), normal(*shape, seed=1)
    before = y.copy()
    assert_array_equal(add(np, x, y), x + y)
    assert_allclose(axpy(np, .3, x, y), np.float32(.3) * x + y, rtol=1e-6, atol=1e-6)
    assert_array_equal(scale(np, x, .3), np.float32(.3) * x)
    assert_array_equal(y, before)


@pytest.mark.parametrize("shape", SHAPES)
def test_totals(shape):
    x = normal(*shape)
    for result in (total(np, x), total_atomic(np, x)):
        assert result.shape == () and result.dtype == np.float32
        assert_allclose(result, x.sum(dtype=np.float64), rtol=1e-5, atol=1e-4)


def test_views_are_read_in_their_own_order():
    x = normal(40, 30)
    for view in (x.T, x[::2], x[:, 1:], x[::-1, ::3], x[1:]):
        assert_array_equal(add(np, view, view), view + view)
        assert_array_equal(scale(np, view, 2), 2 * view)
        assert_array_equal(transpose(np, view), view.T)
        assert_allclose(total(np, view), view.sum(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 100), (100, 1), (33, 31), (2, 32769)])
def test_transpose(shape):
    x = normal(*shape)
    assert_array_equal(transpose(np, x), x.T)
    assert transpose(np, x).flags.c_contiguous


PRODUCTS = [(0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1), (33, 31, 17), (65, 129, 8), (8, 132, 64), (129, 4, 260)]   # m, n, k


@pytest.mark.parametrize("m, n, k", PRODUCTS)
@pytest.mark.parametrize("multiply", [matmul, matmul_fast])
def test_products(multiply, m, n, k):
    a, b = normal(m, k), normal(n, k, seed=1).T
    assert_allclose(multiply(np, a, b), a @ b, rtol=1e-4, atol=1e-4)


def test_wide_loads_need_no_aligned_argument():
    a, b = normal(65)[1:].reshape(8, 8), normal(97)[1:].reshape(8, 12)
    assert_allclose(matmul_fast(np, a, b), a @ b, rtol=1e-4, atol=1e-4)
    a = normal(65, dtype=np.float16)[1:].reshape(8, 8)
    assert_allclose(matmul_tensor(np, a, a), a.astype("f4") @ a.astype("f4"), rtol=1e-3, atol=1e-2)


def test_more_rows_than_a_grid_is_tall():
    a, b, c = normal(100, 3), normal(3, 5), np.full((100, 5), np.nan, np.float32)
    in_strips(matmul_tiled, 16, (16, 16), a, b, c, most=2)
    assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


TENSOR = [((3, 4), (4, 5)), ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (7, 4, 5)),
          ((1, 65, 33), (2, 33, 66)), ((0, 3, 4), (4, 5)), ((5, 1, 1), (5, 1, 1)), ((16, 64), (64, 80))]


@pytest.mark.parametrize("dtype, near", [(np.float16, 2e-3), (ml_dtypes.bfloat16, 2e-2), (np.float32, 1e-4)])
@pytest.mark.parametrize("left, right", TENSOR)
def test_tensor_cores(left, right, dtype, near):
    a, b = normal(*left, dtype=dtype), normal(*right, dtype=dtype, seed=1)
    wide = [round_to_tf32(np, x.astype(np.float32)) for x in (a, b)]
    got, want = matmul_tensor(np, a, b), np.matmul(*wide)
    assert got.dtype == dtype and got.shape == want.shape
    assert_allclose(got.astype(np.float32), want, rtol=near, atol=10 * near)


def test_more_matrices_than_a_launch_takes(monkeypatch):
    monkeypatch.setattr(tensor_core_matmul, "MOST", 2)
    for left, right in ((5, 5), (5, 1), (1, 5)):
        a, b = normal(left, 3, 4, dtype=np.float16), normal(right, 4, 2, dtype=np.float16)
        assert_allclose(matmul_tensor(np, a, b), a.astype("f4") @ b.astype("f4"), rtol=2e-3, atol=2e-3)


WRONG = [
    (lambda: add(np, normal(3), normal(3).astype(float)), TypeError, "add: y must be an array of float32, got float64"),
    (lambda: add(np, [1.], normal(1)), TypeError, "add: x must be an array of float32, got list"),
    (lambda: add(np, normal(3), normal(1)), ValueError, r"add: x and y must have one shape, got \(3,\) and \(1,\)"),
    (lambda: axpy(np, 1, normal(3), normal(4)), ValueError, "axpy: x and y"),
    (lambda: scale(np, np.arange(3), 1), TypeError, "scale: x must be an array of float32, got int64"),
    (lambda: total(np, np.arange(3)), TypeError, "total: x must be"),
    (lambda: total_atomic(np, 1.), TypeError, "total_atomic: x must be an array of float32, got float"),
    (lambda: transpose(np, normal(3)), ValueError, r"transpose: x must be a matrix, got shape \(3,\)"),
    (lambda: matmul(np, normal(2, 3), normal(2, 3)), ValueError, r"matmul: .* \(m, k\) and \(k, n\), got \(2, 3\) and \(2, 3\)"),
    (lambda: matmul_fast(np, normal(2, 3), normal(3)), ValueError, "matmul_fast: a and b"),
    (lambda: matmul_tensor(np, normal(2, 3), normal(2, 3)), ValueError, r"\(..., m, k\) and \(..., k, n\), got \(2, 3\) and \(2, 3\)"),
    (lambda: matmul_tensor(np, normal(2, 3, dtype="f2"), normal(3, 2)), TypeError, "b must be an array of float16, got float32"),
    (lambda: matmul_tensor(np, normal(3), normal(3)), ValueError, "matmul_tensor: a and b"),
    (lambda: matmul_tensor(np, [[1.]], normal(1, 1)), TypeError, "float16, bfloat16 or float32, got list"),
    (lambda: matmul_tensor(np, normal(2, 2, 3), normal(3, 3, 2)), ValueError, "matmul_tensor: .* broadcast"),
]


@pytest.mark.parametrize("call, kind, message", WRONG)
def test_wrong_arguments(call, kind, message):
    with pytest.raises(kind, match=message): call()
