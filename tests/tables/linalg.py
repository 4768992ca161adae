"""What the sweep must know about linear algebra: square, triangular, positive definite and banded matrices, away from equal eigenvalues."""
import numpy as np

from tables.inputs import A, draw

SQUARE = np.array([[3., 1., .4], [.7, 4., 1.1], [.3, .6, 6.]])
SQUARES = np.stack([SQUARE, SQUARE[::-1, ::-1] + .3])
COMPLEX = SQUARE + 1j * np.array([[.2, -.4, .1], [.3, .1, .5], [-.2, .6, .2]])
RIGHT, TALL, WIDE = draw(3, 2), np.array([[1., 2.], [3., .5], [.3, 1.7], [2., .1]]), np.array([[1., 2., .3], [3., .5, 1.]])
BANDS, THREE = np.array([[2., 3, 4, 5], [.1, 1, 2, 1], [.2, .3, 1, 2]]), np.array([[1., 2, 1, .5], [.5, 4, 5, 6], [.3, 1, 2, 1]])

CASES = {
    "take_diagonals": [((draw(2, 3, 4),), dict(low=-1, high=2, align="RIGHT_LEFT", padding=1)),
                       ((A,), dict(low=1, high=1, align="LEFT_LEFT"))],
    "put_diagonals": [((draw(2, 3),), dict(rows=4, columns=3, low=-1, high=0, align="RIGHT_LEFT"))],
    "replace_diagonals": [((draw(3, 3), draw(2, 3)), dict(low=0, high=1, align="LEFT_RIGHT"))],
    "band_part": [((draw(2, 3, 4),), dict(num_lower=1, num_upper=0)), ((A,), dict(num_lower=0, num_upper=-1))],
    "reduce_euclidean_norm": [((A,), {}), ((A,), dict(axis=1, keepdims=True)), ((A + 1j,), dict(axis=[0]))],
    "solve": [((SQUARE, RIGHT), {}), ((SQUARES, RIGHT), dict(adjoint=True)), ((COMPLEX, RIGHT + 1j), dict(adjoint=True))],
    "inv": [((SQUARES,), {}), ((COMPLEX,), dict(adjoint=True))],
    "triangular_solve": [((SQUARE, RIGHT), {}), ((SQUARE, draw(2, 3, 1)), dict(lower=False, adjoint=True)), ((COMPLEX, RIGHT + 1j), {})],
    "cholesky_factor": [((SQUARES,), {}), ((COMPLEX,), {})],
    "from_lower": [((np.array([[1, 2], [3, 4]]),), {})],   # its rule is a convention, tested in test_linalg_solve.py
    "det": [((SQUARES,), {}), ((COMPLEX,), {})], "adjugate": [((SQUARES,), {}), ((COMPLEX,), {})],
    "slogdet_parts": [((SQUARES,), {}), ((COMPLEX,), {})],
    "eigh_parts": [((SQUARES,), {})], "eigvalsh": [((SQUARES,), {}), ((COMPLEX,), {})],
    "svd_parts": [((SQUARES,), {}), ((TALL,), {}), ((WIDE,), {}), ((SQUARE,), dict(full_matrices=True))],
    "singular_values": [((SQUARES,), {}), ((COMPLEX[:, :2],), {})],
    "qr_parts": [((SQUARES,), {}), ((TALL,), {}), ((WIDE,), dict(full_matrices=True)), ((COMPLEX[:, :2],), {})],
    "eig_parts": [((SQUARES,), {})], "eigvals": [((SQUARES,), {}), ((COMPLEX,), {})],
    "lu_parts": [((SQUARES,), {}), ((COMPLEX,), {})],
    "band_solve": [((BANDS, draw(4, 2)), {}), ((BANDS + 1j, draw(2, 4, 1) + 1j), {})],
    "tridiagonal": [((THREE, draw(4, 2)), {}), ((THREE + 1j, draw(2, 4, 1) + 1j), {}), ((1 / THREE, draw(4, 1)), dict(pivot=False))],
    "expm": [((SQUARES / 4,), {}), ((COMPLEX / 3,), {})], "sqrtm": [((SQUARES,), {}), ((COMPLEX,), {})], "logm": [((COMPLEX,), {})],
    "pinv_parts": [((SQUARES,), {}), ((TALL,), {}), ((WIDE + 1j,), {})],
}
TYPES = {
    "NUMBER | BOOL": "take_diagonals put_diagonals replace_diagonals band_part",
    "NUMBER": "reduce_euclidean_norm from_lower",
    "COMPLEX | float32 | float64": """solve inv triangular_solve cholesky_factor det adjugate slogdet_parts eigh_parts eigvalsh svd_parts
        singular_values qr_parts eig_parts eigvals lu_parts band_solve tridiagonal expm sqrtm pinv_parts""",
    "COMPLEX": "logm",
}
