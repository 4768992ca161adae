"""Records ops_array.json.gz: shapes and views, gathering and scattering, sorting, unique,
    linear algebra without factors. See recording.py."""
import numpy as np
import tensorflow as tf
from recording import COMPLEX, FLOATS, INF, NAN, WIDE, array, data, record, refused, save, text

ANY = ["float32", "float16", "bfloat16", "int32", "bool", "complex64"]


def shapes():
    for dtype in ANY:
        a = data((2, 3), dtype)
        record("reverse", a, [1]), record("roll", a, 1, 1), record("repeat", a, 2, axis=1), record("meshgrid", a[0], a[1])
        record("reverse_sequence", data((2, 4), dtype), [3, 2], seq_axis=1, batch_axis=0), record("slice", a, [0, 1], [2, -1])
        record("boolean_mask", a, np.array([[True, False, True], [False, False, True]]))
        record("strided_slice", a, [0, 2], [2, 0], [1, -1])
        record("space_to_batch_nd", data((1, 4, 2), dtype), [2], [[0, 0]]) if dtype not in ("bool", "complex64") else None
        record("linalg.band_part", a, 0, 1) if dtype != "bool" else None
    cube = data((2, 3, 4), "float32")
    record("repeat", cube, [1, 0, 2], axis=1), record("repeat", cube[0], 3), record("repeat", cube[0], [2, 1, 0], axis=-2)
    record("reverse", cube, [0, -1]), record("roll", cube, [1, -2], [0, 2]), record("roll", cube, 5, 1)
    record("reverse_sequence", cube, [4, 1, 2], seq_axis=2, batch_axis=1)
    record("meshgrid", cube[0, 0], cube[0, :, 0], indexing="ij"), record("meshgrid", array([1, 2]), array([3, 4, 5]), array([6.0]))
    record("boolean_mask", cube, np.array([True, False, True]), axis=1), record("boolean_mask", cube, np.array([False, True]))
    record("strided_slice", cube, [0, 1, 1], [2, 3, 4], [1, 1, 2], begin_mask=1, end_mask=4, shrink_axis_mask=2)
    record("strided_slice", cube, [0, 0], [0, 2], ellipsis_mask=1), record("strided_slice", cube, [0, 0, 1], [0, 1, 2], new_axis_mask=1)
    record("strided_slice", cube, [-1], [-3], [-1]), record("slice", cube, array([1, 0, 2], "int64"), array([1, -1, 2], "int64"))
    for block, pads in (([2, 2], [[0, 0], [0, 0]]), ([2, 3], [[1, 1], [2, 1]])):
        record("space_to_batch", data((1, 4, 6, 1), "float32"), block, pads)
        record("batch_to_space", data((6, 2, 2, 1), "float32"), [2, 3] if block[1] == 3 else [3, 2], [[0, 1], [1, 0]])
    for name, shape in (("space_to_depth", (1, 4, 2, 2)), ("depth_to_space", (1, 2, 1, 8))):
        record("nn." + name, data(shape, "float32"), 2), record("nn." + name, data(shape, "int32"), block_size=2, data_format="NHWC")
    record("transpose", data((2, 3), "complex64"), conjugate=True), record("transpose", cube, perm=[1, 2, 0]), record("transpose", cube)
    record("squeeze", data((1, 2, 1), "float32")), record("squeeze", data((1, 2, 1), "float32"), axis=[-1]), record("expand_dims", cube, -2)
    record("split", cube, 2, axis=-1), record("split", cube, [1, 3], 2), record("split", cube, [-1, 1], axis=2)
    record("stack", [array(1.0), array(2.0)]), record("unstack", cube, num=3, axis=1), record("concat", [cube, cube[:, :, :1]], axis=-1)
    record("tile", cube[0], array([2, 1], "int64")), record("tile", array(3.0), [])
    record("reshape", np.zeros((0, 3), np.float32), [3, -1])
    for mode in ("REFLECT", "SYMMETRIC"):
        record("pad", cube[0], [[1, 2], [0, 3]], mode=mode), record("pad", array([1, 2, 3], "int32"), [[2, 2]], mode)
    record("pad", cube[0], array([[1, 0], [0, 1]], "int64"), constant_values=7), record("fill", [0, 2], 1)
    record("fill", [2], text("a")[0])
    record("sequence_mask", array([1, 3, 0], "int32")), record("sequence_mask", array([[1], [4]], "int64"), maxlen=3, dtype=tf.float32)
    record("one_hot", array([[0, 2]], "int64"), 3, axis=1), record("one_hot", 1, 3), record("eye", 2)
    record("eye", 2, 3, batch_shape=[2], dtype=tf.int32)
    record("linspace", array([0.0, 1.0]), array([1.0, 3.0]), 3, axis=1), record("linspace", array(1.0, "float64"), 2.0, 1)
    record("range", 3), record("range", 3, delta=2, limit=9, dtype=tf.float32), record("range", 1.5, 0, -.5)
    refused("range", "InvalidArgumentError", 3, 1)
    record("bitcast", array([1.0, -2.0]), tf.int32), record("bitcast", array([[1, 2, 3, 4]], "uint8"), tf.int32)
    record("bitcast", array([258], "int32"), tf.uint8)
    record("shape", cube), record("shape", cube, out_type=tf.int64), record("size", cube), record("rank", cube)
    record("size", array(1), tf.int64)
    record("shape_n", [cube, array(1.0)]), record("broadcast_static_shape", tf.TensorShape([3, 1]), tf.TensorShape([2, 1, 4]))
    record("broadcast_dynamic_shape", array([3, 1], "int32"), array([2, 1, 4], "int32"))
    record("broadcast_to", array([[1], [2]], "int32"), [2, 2, 3]), record("broadcast_to", array(2.0), [2, 0])
    record("broadcast_to", cube[:, :1], [2, 3, 4])
    record("unravel_index", array([5, 0, 11], "int32"), array([3, 4], "int32")), record("zeros_like", cube[0], dtype=tf.bool)
    record("ones_like", array([1, 2], "int64")), record("zeros", [2, 0]), record("ones", [1], dtype=tf.bool)
    record("where", np.array([[True, False], [False, True]])), record("where", array([0, 3, 0, 4]))
    record("where", np.array([True, False]), 1.0, array([5, 6]))
    record("where", np.array([True, False, True]), cube[0, :, :3], array(0.0)), record("where", np.zeros((2, 0), bool))
    record("saturate_cast", array([300, -300, 1e20, 3.7]), tf.int16), record("dtypes.saturate_cast", array([-1, 5], "int64"), tf.uint16)
    record("cast", array([NAN, 0, -0.0]), tf.bool), record("cast", array([1 + 2j], "complex128"), tf.complex64)
    record("cast", array([65504, 1e6, -1e6]), tf.float16)
    record("cast", array([1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 3.3895e38]), tf.bfloat16), record("convert_to_tensor", [1, 2], dtype=tf.float64)
    for name, x in (("reshape", [4, 2]), ("tile", [2]), ("broadcast_to", [2, 2]), ("transpose", [0, 0])):
        refused(name, "InvalidArgumentError", cube[0], x)
    refused("concat", "InvalidArgumentError", [cube, cube[:, :2, :2]], 1), refused("stack", "InvalidArgumentError", [cube, cube[0]])
    refused("squeeze", "InvalidArgumentError", cube, [0]), refused("split", "InvalidArgumentError", cube, 3, axis=0)
    refused("expand_dims", "InvalidArgumentError", cube, 5), refused("slice", "InvalidArgumentError", cube[0], [0, 3], [2, 3])
    refused("pad", "InvalidArgumentError", cube[0], [[1, 1]]), refused("pad", "InvalidArgumentError", cube[0, 0], [[4, 0]], mode="REFLECT")
    refused("reverse", "InvalidArgumentError", cube, [3])
    refused("unravel_index", "InvalidArgumentError", array([12], "int32"), array([3, 4], "int32"))


def indexing():
    cube = data((2, 3, 4), "float64")
    for index in ((slice(None), 0, slice(None, None, 2)), (slice(-1, None), ..., slice(None, None, -1)), (1, 2, 3), (..., None), (None, 1),
                  (slice(0, 0),), (slice(-100, 100),), (slice(2, 0, -1), slice(None, 2)), (0, ..., 0)):
        record("getitem", cube, index)
    refused("getitem", "InvalidArgumentError", cube, (2,)), refused("getitem", "InvalidArgumentError", cube, (0, 0, 0, 0), gradient=False)
    for dtype in ANY:
        record("gather", data((3, 2), dtype), array([2, 0, 2], "int32"))
        record("gather_nd", data((3, 2), dtype), array([[2, 1], [0, 0]], "int32"))
        record("scatter_nd", array([[1], [3], [1]], "int32"), data((3, 2), dtype), [5, 2]) if dtype != "bool" else None
        record("tensor_scatter_nd_update", data((4,), dtype), array([[3], [0]], "int32"), data((2,), dtype, seed=1))
        record("dynamic_partition", data((4, 2), dtype), array([1, 0, 1, 1], "int32"), 3)
        record("dynamic_stitch", [array([0, 3], "int32"), array([1, 2], "int32")], [data((2, 2), dtype), data((2, 2), dtype, seed=1)])
    record("gather", cube, array([[1, 0], [2, 2]], "int32"), axis=1)
    record("gather", cube, array([[1, 0], [2, 2]], "int64"), axis=2, batch_dims=1)
    record("gather", cube, array(1, "int32"), axis=-1)
    record("gather", cube, array([], "int32"), axis=1), record("gather", text("a", "b"), array([1], "int32"))
    record("gather_nd", cube, array([[0, 1], [1, 2]], "int32")), record("gather_nd", cube, array([[1], [0]], "int64"), batch_dims=1)
    record("gather_nd", cube, array([[[0, 0, 0]], [[1, 2, 3]]], "int32"))
    record("gather_nd", cube, np.zeros((2, 0), np.int32), gradient=False)
    record("scatter_nd", array([[0, 1], [1, 1]], "int64"), data((2, 2), "float64"), array([2, 3, 2], "int64"))
    for op in ("add", "sub", "min", "max", "update"):
        for dtype in [*WIDE, "int32"]:
            record(f"tensor_scatter_nd_{op}", data((4, 2), dtype), array([[1], [3]], "int32"), data((2, 2), dtype, seed=1))
        record(f"tensor_scatter_nd_{op}", data((2, 2), "float32"), array([[0, 1], [1, 0]], "int64"), data((2,), "float32", seed=1))
        refused(f"tensor_scatter_nd_{op}", "InvalidArgumentError", data((2,), "float32"), array([[5]], "int32"), data((1,), "float32"))
    record("tensor_scatter_nd_add", array([0, 0, 0]), array([[1], [1], [0]], "int32"), array([1, 2, 4]))
    record("dynamic_stitch", [array(1, "int32"), array([[0, 1]], "int32")], [array([5.0, 6.0]), array([[[1, 2], [3, 4]]])],
           gradient=False)         # TensorFlow gives the overwritten row a gradient
    refused("dynamic_partition", "InvalidArgumentError", data((2,), "float32"), array([0, 3], "int32"), 2)
    refused("gather", "InvalidArgumentError", cube, array([3], "int32"), axis=1)
    refused("gather_nd", "InvalidArgumentError", cube, array([[0, 3]], "int32"))
    refused("scatter_nd", "InvalidArgumentError", array([[5]], "int32"), array([1.0]), [3])
    refused("gather", "InvalidArgumentError", cube, array([0], "int32"), axis=3)


def sorting():
    for dtype in [*FLOATS, "int32", "int64", "uint8"]:
        x = array([[3, 1, 2, 1], [0, 9, 9, 4]], dtype)
        record("sort", x, direction="DESCENDING"), record("sort", x, axis=0), record("argsort", x, axis=-1, stable=True)
        record("argsort", x, direction="DESCENDING", stable=True)
    record("sort", data((2, 3, 2), "float32"), axis=1), record("argsort", data((2, 3, 2), "float32"), axis=1)
    record("sort", array([]), gradient=False)
    refused("sort", "ValueError", array([1, 2]), direction="UP"), record("sort", array([2, -INF, INF, 0]))
    for dtype in ("float32", "int64", "string"):
        x = text("b", "a", "b") if dtype == "string" else array([4, 1, 4, 0, 1], dtype)
        record("unique", x), record("unique_with_counts", x, out_idx=tf.int64), record("unique_with_counts", x)
    record("unique", array([], "int32")), record("unique", array([2, 2], "int8"), out_idx=tf.int64)
    for dtype in ("float32", "int32"):
        for side in ("left", "right"):
            record("searchsorted", array([[1, 3, 3, 5], [0, 2, 4, 6]], dtype), array([[3, 9], [-1, 4]], dtype), side=side)
    record("searchsorted", array([1, 3, 5], "float64"), array([3, 4], "float64"), out_type=tf.int64)
    record("nn.isotonic_regression", array([[3, 1, 2, 4], [1, 2, 3, 0]]))
    record("nn.isotonic_regression", array([1, 4, 2], "float64"), decreasing=False, gradient=False)


def products():
    for dtype in [*FLOATS, *COMPLEX]:
        a, b = data((2, 3), dtype), data((3, 2), dtype, seed=1)
        record("linalg.matvec", a, data((3,), dtype, seed=2)), record("tensordot", a, b, 1), record("einsum", "ij,jk->ik", a, b)
        record("linalg.trace", data((2, 3, 3), dtype)), record("linalg.diag", a), record("linalg.diag_part", data((2, 3, 3), dtype))
        record("linalg.set_diag", data((3, 3), dtype), data((3,), dtype, seed=1)), record("linalg.matrix_transpose", data((2, 2, 3), dtype))
        if dtype != "bfloat16": record("linalg.tensor_diag", a[0]), record("linalg.tensor_diag_part", data((2, 3, 2, 3), dtype))
        record("linalg.adjoint", a), record("linalg.band_part", data((4, 4), dtype), 1, -1)
    a, b = data((2, 3, 4), "float32"), data((4, 3, 5), "float32", seed=1)
    record("tensordot", a, b, axes=[[1, 2], [1, 0]]), record("tensordot", a[0], b[:, 0], axes=[[1], [0]])
    record("tensordot", a[0, 0], b[0, 0], 0)
    for equation, *shapes in (
            ("ijk,kjl->il", (2, 3, 4), (4, 3, 5)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("ij->ji", (2, 3)),
            ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
            ("...ij,...jk->...ik", (2, 1, 2, 3), (2, 3, 2)), ("i,j->ij", (2,), (3,)), ("ij,ij->", (2, 3), (2, 3)), ("...->...", (2, 3)),
            ("ij,j,k->ik", (2, 3), (3,), (2,)), ("ij->j", (2, 3)), ("ij...,i...->j...i", (2, 3, 2), (2, 2)), ("ab,cb", (2, 3), (4, 3))):
        record("einsum", equation, *(data(s, "float32", seed=i) for i, s in enumerate(shapes)))
    refused("einsum", "InvalidArgumentError", "ij,jk->ik", a[0], a[0])
    for flags in (dict(transpose_a=True), dict(adjoint_b=True), dict(transpose_a=True, adjoint_b=True), dict(adjoint_a=True,
        transpose_b=True)):
        n = [k.split("_")[1] for k in flags]
        record("linalg.matmul", data((2, 3, 2) if "a" in n else (2, 2, 3), "complex64"), data((2, 3) if "b" in n else (3, 2), "complex64",
            seed=1), **flags)
    record("matmul", data((2, 0), "float32"), data((0, 3), "float32"))
    record("matmul", data((2, 3), "int64"), data((3, 2), "int64", seed=1))
    record("matmul", data((2, 3), "float32"), data((3, 2), "float32", seed=1), a_is_sparse=True)
    record("linalg.matvec", data((2, 3, 2), "float32"), data((2, 3), "float32"), transpose_a=True)
    refused("matmul", "InvalidArgumentError", a[0], a[0]), refused("matmul", "InvalidArgumentError", a[0, 0], b[0])
    refused("linalg.matvec", "InvalidArgumentError", a[0], a[0, 0, :3])
    for dtype in ("float32", "int32", "float64"):
        record("linalg.cross", array([[1, 2, 3], [4, 5, 6]], dtype), array([[0, 1, 0], [-1, 2, 2]], dtype))
    record("linalg.diag", data((2, 2), "float32"), k=1)
    record("linalg.diag", data((2, 2), "float32"), k=-1, num_rows=3, num_cols=4, padding_value=9)
    band = data((2, 3, 3), "float32")
    for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        record("linalg.diag", band[0], k=(-1, 1), align=align)
        record("linalg.diag_part", data((2, 3, 4), "float32"), k=(-1, 2), align=align, padding_value=7)
        record("linalg.set_diag", data((3, 3), "float32", seed=3), band[0], k=(-1, 1), align=align)
    record("linalg.diag_part", band, k=1), record("linalg.diag_part", data((3, 4), "int32"), k=-2)
    record("linalg.set_diag", band, data((2, 2), "float32", seed=1), k=-1)
    record("linalg.band_part", data((2, 3, 4), "int32"), 0, 0), record("linalg.trace", data((2, 3), "int32"))
    record("linalg.diag", array([], "float32"))
    for dtype in [*WIDE, *COMPLEX]:
        a = data((2, 3, 3), dtype) + 3 * np.eye(3, dtype=dtype)
        record("linalg.solve", a, data((2, 3, 2), dtype, seed=1), tolerance=1e-5 if dtype in ("float32", "complex64") else 1e-10)
        record("linalg.inv", a, tolerance=1e-5 if dtype in ("float32", "complex64") else 1e-10)
        record("linalg.det", a, tolerance=1e-5 if dtype in ("float32", "complex64") else 1e-10,
            gradient=dtype in WIDE)   # conjugates too little
        record("linalg.triangular_solve", np.tril(a), data((2, 3, 1), dtype, seed=1), tolerance=1e-5 if dtype in ("float32",
            "complex64") else 1e-10)
    square = data((3, 3), "float64") + 3 * np.eye(3)
    record("linalg.solve", square, data((3, 1), "float64"), adjoint=True), record("linalg.inv", square, adjoint=True)
    record("linalg.det", np.zeros((0, 0)))
    record("linalg.triangular_solve", np.triu(square), data((3, 2), "float64"), lower=False)
    record("linalg.triangular_solve", np.tril(square), data((3, 2), "float64"), adjoint=True)
    record("linalg.cholesky", square @ square.T)
    record("linalg.cholesky_solve", np.linalg.cholesky(square @ square.T), data((3, 2), "float64"), gradient=False)
    record("linalg.slogdet", square), record("linalg.logdet", square @ square.T), record("linalg.expm", square / 4)
    record("linalg.tridiagonal_matmul", data((3, 4), "float64"), data((4, 2), "float64", seed=1))
    record("linalg.tridiagonal_solve", data((3, 4), "float64") + array([[0], [5], [0]], "float64"), data((4, 2), "float64", seed=1))
    record("linalg.tridiagonal_solve", 4 * np.eye(3) + np.ones((3, 3)), data((3,), "float64"), diagonals_format="matrix")
    record("linalg.normalize", data((2, 3), "float64"), ord=2, axis=1), record("linalg.normalize", data((3,), "float32"), ord=1)
    record("linalg.norm", square, ord=INF, axis=[0, 1])
    record("linalg.norm", data((2, 3), "float32"), ord="euclidean", axis=-1, keepdims=True)
    refused("linalg.inv", "InvalidArgumentError", np.zeros((2, 2)))
    refused("linalg.solve", "InvalidArgumentError", np.zeros((2, 2)), np.ones((2, 1)))
    refused("linalg.inv", "InvalidArgumentError", np.ones((2, 3)))
    refused("linalg.diag_part", "InvalidArgumentError", data((2, 2), "float32"), k=3)
    refused("linalg.cross", "FailedPreconditionError", data((2,), "float32"), data((2,), "float32"))


def factors():
    "Functions of factors that have no sign or order to choose."
    for dtype in (*WIDE, "complex128"):
        near = 2e-5 if dtype == "float32" else 1e-9
        a = data((2, 3, 3), dtype) + 3 * np.eye(3, dtype=dtype)
        record("linalg.lu", a, tolerance=near, gradient=False), record("linalg.sqrtm", a, tolerance=near, gradient=False)
        lower_upper, perm = (np.asarray(x) for x in tf.linalg.lu(a))
        record("linalg.lu_reconstruct", lower_upper, perm, tolerance=near, gradient=False)
        record("linalg.lu_matrix_inverse", lower_upper, perm, validate_args=True, tolerance=near, gradient=False)
        record("linalg.lu_solve", lower_upper, perm, data((2, 3, 2), dtype, seed=1), tolerance=near, gradient=False)
        record("linalg.eigvalsh", a + np.conj(np.swapaxes(a, -1, -2)), tolerance=near, gradient=dtype in WIDE)
    tall, wide = data((5, 3), "float64"), data((2, 3, 4), "float64", seed=1)
    for a in (tall, wide):
        record("linalg.pinv", a, tolerance=1e-9, gradient=False), record("linalg.matrix_rank", a)
        for fast in (True, False): record("linalg.lstsq", a, data((*a.shape[:-1], 2), "float64"), fast=fast, tolerance=1e-9, gradient=fast)
        record("linalg.lstsq", a, data((*a.shape[:-1], 1), "float64"), l2_regularizer=.5, tolerance=1e-9, gradient=False)
    record("linalg.matrix_rank", np.outer([1.0, 2, 3], [1.0, 0, 2])), record("linalg.matrix_rank", tall, tol=2.0)
    record("linalg.pinv", np.outer([1.0, 2, 3], [1.0, 0, 2]), rcond=array(1e-6, "float64"), tolerance=1e-9, gradient=False)
    record("linalg.logm", data((3, 3), "complex128") / 4 + 2 * np.eye(3), tolerance=1e-9)
    bands = data((2, 4), "float64") + array([[5], [0]], "float64")
    record("linalg.banded_triangular_solve", bands, data((4, 2), "float64"), gradient=False)
    record("linalg.banded_triangular_solve", bands[::-1].copy(), data((4, 2), "float64"), lower=False, adjoint=True, gradient=False)
    record("linalg.lu", data((2, 3, 3), "float64"), output_idx_type=tf.int64, gradient=False)


def structures():
    record("nest.flatten", [array(1), [array(2), (array(3),)]]), record("nest.is_nested", [1]), record("nest.is_nested", array([1]))
    record("tuple", [array(1), array([2.0])]), record("dtypes.as_dtype", "float32")
    record("nest.pack_sequence_as", [1, (2, [3])], [7, 8, 9]), record("nest.flatten", sparse_pair(), expand_composites=True)
    refused("nest.assert_same_structure", "ValueError", [1, [2]], [1, 2]), record("nest.assert_same_structure", [1, [2]], [3, [4]])


def sparse_pair(): return [tf.SparseTensor([[0]], array([1]), [2]), array(5)]


if __name__ == "__main__": save("ops_array.json.gz", shapes, indexing, sorting, products, factors, structures)
