"""Records slice.json.gz: what TensorFlow itself gives for the ops of the slice, values and gradients.

usage, in an environment with TensorFlow: python make_slice.py (the format is described in recording.py)
"""
import numpy as np
import tensorflow as tf
from recording import FLOATS, INF, NAN, WIDE, data, record, save


def elementwise():
    for dtype in FLOATS + ["complex64", "complex128"]:
        for name in ("negative", "square", "exp", "tanh", "sigmoid", "abs", "math.reciprocal", "sqrt", "math.log", "math.rsqrt"):
            record(name, data((2, 3), dtype, 0.3 if name in ("sqrt", "math.log", "math.rsqrt", "math.reciprocal") else -2.0))
    for dtype in FLOATS:
        record("nn.relu", data((2, 3), dtype)), record("sign", data((3,), dtype))
    for dtype in ("int32", "int64"):
        for name in ("negative", "square", "abs", "sign", "nn.relu"):
            record(name, data((2, 3), dtype))
    edge = np.array([0.0, -0.0, 1e-30, 1e30, -1e30, INF, -INF, NAN, 88.0, -104.0], np.float32)
    for name in ("exp", "tanh", "sigmoid", "sqrt", "math.log", "math.rsqrt", "math.reciprocal", "nn.relu", "abs", "square"):
        record(name, edge)
    for dtype in FLOATS + ["int32", "complex64"]:
        for name in ("add", "subtract", "multiply", "divide"):
            record(name, data((2, 3), dtype, 0.5), data((3,), dtype, 0.5, seed=1) if dtype != "int32" else np.array([1, 2, -3], np.int32))
    for dtype in [*FLOATS, "int32", "uint8"]:
        for name in ("maximum", "minimum", "math.squared_difference"):
            if (name, dtype) != ("math.squared_difference", "uint8"):
                record(name, data((2, 3), dtype), data((2, 1), dtype, seed=1))
        for name in ("less", "equal", "greater_equal", "not_equal"):
            record(name, data((2, 3), dtype), data((3,), dtype, seed=1))
    for dtype in WIDE:
        record("pow", data((2, 3), dtype, 0.2), data((3,), dtype, seed=1))
        for name in ("math.floordiv", "math.mod"):
            record(name, np.array([7.5, -7.5, 7.5, -7.5, 0.0], dtype), np.array([2, 2, -2, -2, 3], dtype))
        record("math.divide_no_nan", data((4,), dtype), np.array([0, 1, -2, 0], dtype))
        record("clip_by_value", data((2, 3), dtype), data((), dtype, -1, -0.5), data((), dtype, 0.5, 1))
    for name in ("math.floordiv", "math.mod", "truediv"):
        record(name, np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32))
    record("pow", np.array([2, -3, 0], np.int64), np.array([10, 3, 0], np.int64))


def reductions():
    for dtype in FLOATS + ["int32", "int64", "complex64"]:
        for name in ("sum", "mean", "prod", "max", "min"):
            if dtype != "complex64" or name in ("sum", "mean", "prod"):
                record("reduce_" + name, data((2, 3, 2), dtype, 0.5), axis=[0, -1], keepdims=name == "sum")
    for dtype in WIDE:
        record("reduce_logsumexp", data((2, 3), dtype, -50, 50), axis=1)
        for name in ("sum", "mean", "prod", "max", "min"):
            record("reduce_" + name, data((2, 3), dtype))
            record("reduce_" + name, np.array([1.0, NAN, INF], dtype)), record("reduce_" + name, np.zeros((0, 2), dtype), axis=0)
    record("reduce_max", np.array([[1, 3, 3], [2, 2, 2]], np.float32), axis=1), record("reduce_prod", np.array([0, 2, 3, 0.5], np.float32))
    for name in ("any", "all"):
        record("reduce_" + name, np.array([[True, False], [True, True]]), axis=1)
    for name in ("argmax", "argmin"):
        for dtype in [*FLOATS, "int32", "uint8"]:
            record(name, np.array([[1, 3, 3], [2, 0, 0]], tf.as_dtype(dtype).as_numpy_dtype), axis=1, output_type=tf.int32)


def shapes():
    for dtype in ("float32", "float64", "int32", "bool", "complex64", "bfloat16"):
        a, b = (data((2, 3), dtype, seed=s) if dtype != "bool" else data((2, 3), "int32", seed=s) > 0 for s in (0, 1))
        record("reshape", a, [3, -1]), record("transpose", a, [1, 0]), record("concat", [a, b], 1), record("stack", [a, b], axis=-1)
        record("split", a, [1, 2], axis=1), record("unstack", a, axis=1), record("gather", a, [[2, 0], [1, 1]], axis=1, batch_dims=1)
        record("gather", a, [1, 0, 1]), record("tile", a, [1, 2]), record("pad", a, [[1, 0], [0, 2]]) if dtype != "bool" else None
        record("where", np.array([[True], [False]]), a, b), record("expand_dims", a, 1), record("squeeze", a[:1], [0])
        record("broadcast_to", a[:1], [3, 3])
    record("pad", data((3,), "float32"), [[2, 1]], mode="REFLECT"), record("pad", data((3,), "float32"), [[2, 1]], mode="SYMMETRIC")
    record("pad", data((3,), "float32"), [[2, 1]], constant_values=-1.5), record("where", np.array([[True, False], [True, True]]))
    record("gather", np.array([b"a", b"b"], object), [1, 0]), record("one_hot", [0, 2, -1, 3], 3)
    record("one_hot", [[1, 0]], 2, on_value=5, off_value=-1, axis=0)
    record("one_hot", [1], 3, dtype=tf.float64, axis=-1), record("range", 2, 10, 3), record("range", 0.0, 1.0, 0.25)
    record("range", 5, 0, -2, dtype=tf.int64)
    record("linspace", 0.0, 1.0, 5), record("fill", [2, 2], 1.5), record("zeros", [2], tf.bfloat16), record("ones", [2], tf.complex64)
    record("zeros_like", data((2,), "int64")), record("ones_like", data((2,), "float32"), dtype=tf.uint8)
    record("add_n", [data((2,), "float32"), data((2,), "float32", seed=1)])
    cube = data((2, 3, 4), "float32")
    for index in (0, (slice(None), -1), (slice(None), slice(None, None, -2), slice(1, 3)), (..., 2), (None, ..., 1, None),
                  (slice(1, None), 2, 3), (slice(5, 1, -1),)):
        record("getitem", cube, index)


def casts():
    values = {"float32": [-3.7, -0.5, 0.0, 1.5, 2.5, 100.9], "float64": [-3.7, 0.0, 1e-50, 2.5], "int32": [-300, -1, 0, 1, 300],
              "int64": [-2 ** 40 + 5, 0, 7], "uint8": [0, 1, 255], "bool": [True, False],
              "bfloat16": [-3.0, 0.0, 1.5], "float16": [-3.7, 0.0, 2.5], "complex64": [1 + 2j, -3.7, 0]}
    for source, v in values.items():
        for target in ("bool", "int32", "int64", "uint8", "int8", "float16", "bfloat16", "float32", "float64", "complex64"):
            if not (source.startswith("complex") and not target.startswith("complex")) and not (source.startswith("float")
                and target == "uint8"):
                record("cast", np.array(v, tf.as_dtype(source).as_numpy_dtype), tf.as_dtype(target))
    record("saturate_cast", np.array([-5.0, 300.0, 7.9], np.float32), tf.uint8), record("saturate_cast", np.array([-500, 500]), tf.int8)


def networks():
    for dtype in [*FLOATS, "int32", "complex64"]:
        a, b = data((2, 3), dtype), data((3, 2), dtype, seed=1)
        record("matmul", a, b), record("matmul", a, b, transpose_a=True, transpose_b=True)
        record("matmul", data((2, 1, 2, 3), dtype), data((2, 3, 1), dtype, seed=1))
        if dtype not in ("int32",):
            record("matmul", a, a, adjoint_b=True)
    for dtype in FLOATS:
        x, y = data((2, 3), dtype), np.array([[0.25, 0.25, 0.5], [1, 0, 0]], tf.as_dtype(dtype).as_numpy_dtype)
        record("nn.softmax", x), record("nn.softmax", x, axis=0), record("nn.log_softmax", x)
        record("nn.softmax_cross_entropy_with_logits", y, x), record("nn.sigmoid_cross_entropy_with_logits", y, x)
        record("nn.sparse_softmax_cross_entropy_with_logits", [2, 0], x)
    big = np.array([[1e3, -1e3, 0.0], [-1e3, 0.0, 1e3], [50.0, 50.0, 50.0]], np.float32)
    record("nn.softmax", big), record("nn.log_softmax", big), record("nn.sparse_softmax_cross_entropy_with_logits", [1, 2, 0], big)
    record("nn.softmax_cross_entropy_with_logits", np.eye(3, dtype=np.float32), big)
    record("nn.sigmoid_cross_entropy_with_logits", np.eye(3, dtype=np.float32), big)


if __name__ == "__main__": save("slice.json.gz", elementwise, reductions, shapes, casts, networks)
