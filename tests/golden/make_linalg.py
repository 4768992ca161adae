"""Records linalg.json.gz: what TensorFlow itself gives for linear algebra, values and gradients.

usage, in an environment with TensorFlow: python make_linalg.py (the format is described in recording.py)
"""
import numpy as np
from recording import data, record, save

NEAR = {"float32": 2e-5, "complex64": 2e-5}


def square(dtype, *batch, n=3, seed=0):
    return data((*batch, n, n), dtype, seed=seed) + (2.5 * np.eye(n)).astype(dtype)


def positive(dtype, *batch, n=3):
    a = square(dtype, *batch, n=n).astype("complex128" if dtype.startswith("c") else "float64")
    return (np.round(a @ a.conj().swapaxes(-1, -2), 2) + np.eye(n)).astype(dtype)


def parts():
    for dtype in ("float32", "complex64", "int32", "bool"):
        a = data((2, 3, 4), dtype) if dtype != "bool" else data((2, 3, 4), "int32") > 0
        slope = dtype in ("float32", "complex64")
        record("linalg.diag_part", a, gradient=slope), record("linalg.diag_part", a, k=(-1, 2), align="LEFT_RIGHT", gradient=slope)
        record("linalg.band_part", a, 1, 0, gradient=slope), record("linalg.band_part", a, -1, 1, gradient=slope)
        record("linalg.diag", a[..., :2], k=-1, gradient=slope), record("linalg.set_diag", a, a[:, :, 0], gradient=slope)
        record("linalg.set_diag", a, a[:, :3, :3], k=(-1, 1), align="RIGHT_RIGHT", gradient=slope)
    for align in ("LEFT_LEFT", "RIGHT_LEFT", "LEFT_RIGHT", "RIGHT_RIGHT"):
        record("linalg.diag_part", data((4, 3), "float64"), k=(-2, 1), align=align, padding_value=9.0)
        record("linalg.diag", data((3, 3), "float64"), k=(-1, 1), align=align, num_cols=4, num_rows=3)
    a = data((2, 3, 3), "complex64")
    record("linalg.adjoint", a), record("linalg.matrix_transpose", a), record("linalg.trace", a)
    record("linalg.cross", data((2, 3), "float32"), data((2, 3), "float32", seed=1))
    record("linalg.tensor_diag", data((2, 2), "float32")), record("linalg.tensor_diag_part", data((2, 3, 2, 3), "float32"))


def lengths():
    for dtype in ("float32", "float64"):
        a = data((2, 3, 4), dtype)
        for order in ("euclidean", 1, 2, np.inf, 3.0):
            record("norm", a, order), record("norm", a, order, axis=-1, keepdims=True)
        for order in ("fro", 1, 2, np.inf):
            record("norm", a, order, axis=[0, 2])
        record("linalg.normalize", a, axis=1), record("math.reduce_euclidean_norm", a, [0, 1])
        record("clip_by_norm", a, 1.5), record("clip_by_norm", a, 1.5, axes=[1]), record("clip_by_norm", a, 100.0)
        record("clip_by_norm", np.zeros(3, dtype), 1.0)
        record("linalg.global_norm", [a, a[0]], gradient=False)
    record("norm", data((2, 3), "complex64")), record("norm", data((2, 3), "complex64"), 1, axis=0)
    record("norm", np.zeros((2, 2), np.float32), axis=0)


def solutions():
    for dtype in ("float32", "float64", "complex64", "complex128"):
        straight = not dtype.startswith("complex")     # otherwise TensorFlow forgets to conjugate some gradients
        a, b, p = square(dtype, 2), data((2, 3, 2), dtype, seed=1), positive(dtype, 2)
        record("linalg.solve", a, b), record("linalg.solve", a, b, adjoint=True)
        record("linalg.inv", a), record("linalg.inv", a, adjoint=True), record("linalg.det", a, gradient=straight)
        record("linalg.triangular_solve", a, b), record("linalg.triangular_solve", a, b, lower=False, adjoint=True)
        record("linalg.cholesky", p), record("linalg.cholesky_solve", np.tril(a), b), record("linalg.logdet", p)
        record("linalg.slogdet", a, gradient=straight)
        record("linalg.svd", a, how="svd"), record("linalg.svd", b, compute_uv=False)
        record("linalg.svd", b, how="svd", gradient=straight)
        record("linalg.eigh", p, how="eigh", tolerance=NEAR.get(dtype)), record("linalg.eigvalsh", p)
        record("linalg.qr", a, how="qr"), record("linalg.qr", b, how="qr")
        record("linalg.eig", a, how="eig", gradient=dtype.startswith("complex")), record("linalg.eigvals", a, how="eigvals", gradient=False)
        record("linalg.lu", a, gradient=False)   # TensorFlow has none
        # TensorFlow's exponential is off by that much: tfedu's agrees with its own in float64
        record("linalg.expm", a, gradient=straight, tolerance=2e-3 if dtype in NEAR else None)
        record("linalg.sqrtm", p, gradient=False)
        if straight:
            record("linalg.pinv", b), record("linalg.matrix_rank", b, gradient=False)
        if dtype != "complex128":        # which TensorFlow refuses to regularize
            record("linalg.lstsq", b, data((2, 3, 1), dtype, seed=2), 0.5)
            record("linalg.lstsq", np.swapaxes(b, 1, 2), data((2, 2, 1), dtype, seed=2), 0.1)
        record("linalg.lstsq", b, data((2, 3, 1), dtype, seed=2), fast=False, gradient=False)
        bands = data((2, 3, 4), dtype, 0.5, 2.0)
        for lower in (True, False):
            record("linalg.banded_triangular_solve", bands, data((2, 4, 2), dtype, seed=1), lower=lower)
            record("linalg.banded_triangular_solve", bands, data((2, 4, 2), dtype, seed=1), lower=lower, adjoint=True)
        record("linalg.tridiagonal_solve", bands + np.array([[0], [3], [0]], dtype), data((2, 4, 2), dtype, seed=1), gradient=straight)
        record("linalg.tridiagonal_solve", bands + np.array([[0], [3], [0]], dtype), data((2, 4), dtype, seed=1), gradient=straight)
        record("linalg.tridiagonal_matmul", bands, data((2, 4, 2), dtype, seed=1))
        if dtype.startswith("complex"):
            record("linalg.logm", p, gradient=False)
    perm = np.array([2, 0, 1], np.int32)
    record("linalg.lu_solve", square("float64"), perm, data((3, 2), "float64")), record("linalg.lu_reconstruct", square("float64"), perm)
    record("linalg.lu_matrix_inverse", square("float64"), perm)
    record("linalg.slogdet", np.ones((2, 2), np.float32), gradient=False)


if __name__ == "__main__": save("linalg.json.gz", parts, lengths, solutions)
