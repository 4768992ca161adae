"""Records ops_math.json.gz: arithmetic, reductions, comparisons, running and segment sums, counting, bits. See recording.py."""
import numpy as np
import tensorflow as tf
from recording import COMPLEX, FLOATS, INF, NAN, WIDE, array, data, record, refused, save

EDGES = array([0.0, -0.0, 1.0, -1.0, 0.5, INF, -INF, NAN, 2.5, -2.5, 1e-30, 3e38])
IDS = np.array([0, 0, 2, 2, 2, 5], np.int32)


def one_argument():
    everywhere = "sin cos tan sinh cosh asinh atan math.expm1 math.softplus nn.softsign nn.elu nn.selu nn.silu math.log_sigmoid nn.relu6"
    bounded, positive, above_one = "asin acos atanh", "math.log1p math.reciprocal_no_nan", "acosh"
    for names, low, high in ((everywhere, -2, 2), (bounded, -.9, .9), (positive, .2, 3), (above_one, 1.2, 3)):
        for name in names.split():
            for dtype in FLOATS: record(name, data((2, 3), dtype, low, high))
    for name in "sin cos tan sinh cosh asin acos atan asinh acosh atanh math.expm1 math.log1p exp math.log sqrt".split():
        record(name, array([.3 + .4j, -1.2 + .5j, 2 - 1.5j], "complex128"))
    for name in (f"{everywhere} {bounded} {positive} {above_one} floor math.ceil math.rint round sign math.is_nan math.is_inf "
                 "math.is_finite nn.gelu nn.leaky_relu").split():
        record(name, EDGES, gradient=name in ("nn.relu6", "nn.leaky_relu", "sign", "floor"))
    for dtype in FLOATS:
        for name in ("floor", "math.ceil", "math.rint", "round"):
            if name != "math.rint" or dtype in WIDE: record(name, array([-2.5, -1.5, -.5, .5, 1.5, 2.5, 2.6], dtype))
        record("nn.gelu", data((5,), dtype), approximate=True, tolerance={"float64": 1e-8,
            "float16": 8e-3}.get(dtype))   # TensorFlow has ten digits of sqrt(2 / pi),
        record("nn.leaky_relu", data((5,), dtype), alpha=.3, tolerance=1e-7 if dtype == "float64" else None)   # and alpha in float32
        record("nn.crelu", data((2, 3), dtype), axis=0)
        record("nn.l2_loss", data((2, 3), dtype))
    for dtype in COMPLEX:
        for name in "math.conj math.real math.imag math.angle abs negative square sign math.reciprocal".split():
            record(name, data((2, 2), dtype))
    for name in ("math.conj", "math.real"): record(name, data((3,), "float32"))
    for name in ("math.imag", "math.angle"): record(name, data((3,), "float32"), gradient=False)
    for dtype in ("int32", "int64"): record("round", data((3,), dtype)), record("math.reciprocal_no_nan", data((3,), "float64") * 0)
    record("math.logical_not", np.array([True, False])), record("math.zero_fraction", array([[0, 1, 0], [2, 0, 0]]))
    record("math.zero_fraction", array([])), record("nn.relu6", array([-1, 0, 3, 6, 9], "int32"))
    record("dtypes.complex", data((2,), "float64"), data((2,), "float64", seed=1)), record("complex", array(1.5), array(-2.0))
    for dtype in FLOATS: record("math.scalar_mul", 2.5, data((3,), dtype))
    record("math.nextafter", array([0, 1, -1, 2]), array([1, 2, -2, 2])), record("identity", data((2,), "int8"))
    for name in ("math.is_non_decreasing", "math.is_strictly_increasing"):
        for x in ([1, 2, 2], [1, 2, 3], [3, 1, 2], []): record(name, array(x, "int32"))
    record("stop_gradient", data((2,), "float32")), record("math.negative", data((0, 3), "float32")), record("math.abs", array(-3.5))
    for name in ("math.abs", "math.negative", "math.square", "math.sign"): record(name, array([-128, 127, 0, -1], "int8"))
    refused("math.sin", "InvalidArgumentError", array([1], "int32")), refused("math.logical_not", "InvalidArgumentError", array([1.0]))


def two_arguments():
    for dtype in WIDE:
        x, y = array([1, -1, 0, 2, -3], dtype), array([[2], [-2], [0]], dtype)
        for name in ("atan2", "math.xdivy", "math.multiply_no_nan", "math.squared_difference", "math.floormod"):
            record(name, x, y if name != "math.floormod" else y[:2])
        record("math.xlogy", array([2, -1], dtype), array([.5, 4], dtype))
        record("math.xlog1py", array([2, -1], dtype), array([.5, 4], dtype))
        record("math.xlogy", array([0, 0, 2, 1], dtype), array([0, 3, .5, 4], dtype), gradient=False)     # TensorFlow gives x = 0 none
        record("math.xlog1py", array([0, 0, 2, 1], dtype), array([-1, 3, .5, 4], dtype), gradient=False)
        record("pow", array([0, 2, 3, .5], dtype), array([0, 0, 2, -2], dtype))
        record("realdiv", x, array([2, 3, 4, 5, 6], dtype)), record("truncatediv", array([7, -7], "int32"), array([2, 2], "int32"))
        for name in ("maximum", "minimum"): record(name, array([1, 2, NAN, 3], dtype), array([1, 3, 1, NAN], dtype))
    for dtype in ("float16", "bfloat16"):
        for name in ("atan2", "pow", "math.xlogy", "math.squared_difference", "math.divide_no_nan"):
            record(name, data((2, 3), dtype, .5), data((3,), dtype, .5, seed=1))
    for dtype in COMPLEX:
        record("pow", data((3,), dtype, .5), data((3,), dtype, .5, seed=1))
        for name in ("math.divide_no_nan", "math.multiply_no_nan", "math.xdivy", "math.xlogy", "math.squared_difference", "equal",
                     "not_equal"):
            record(name, data((2, 2), dtype), data((2,), dtype, seed=1),
                gradient=name not in ("math.multiply_no_nan", "math.xdivy", "math.xlogy",   # they do not conjugate, and this
                                      "math.squared_difference"))   # real number answers to an imaginary cotangent
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        x, y = array([7, 5, 100, 0], dtype), array([2, 5, 3, 9], dtype)
        for name in ("add", "subtract", "multiply", "math.floordiv", "math.floormod", "maximum", "less_equal", "greater"):
            if (name, dtype) != ("subtract", "uint64"): record(name, x, y)
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
            record("bitwise." + name, x, array([1, 2, 3, 0], dtype))
        record("bitwise.invert", x)
    record("bitwise.right_shift", array([-8, -1], "int32"), array([1, 5], "int32"))
    record("truncatemod", array([7, -7, 7, -7], "int32"), array([3, 3, -3, -3], "int32"))
    record("truncatemod", array([7.5, -7.5]), array([2, 2])), record("math.floormod", array([-7, 7], "int64"), array([3, -3], "int64"))
    for dtype in ("int8", "int32", "int64", "uint8", "float32", "bfloat16"): record("truediv", array([7, 1], dtype), array([2, 4], dtype))
    record("math.divide", array([7, 1], "int32"), array([2, 4], "int32"))
    for dtype in ("int32", "int64"): record("pow", array([[2], [-3]], dtype), array([0, 1, 3, 5], dtype))
    for name in ("logical_and", "logical_or", "logical_xor"):
        record("math." + name, np.array([[True], [False]]), np.array([True, False]))
    record("math.add", np.array([b"a", b"b"], object), np.array(b"!", object)), record("equal", np.array([b"a", b"b"], object), "b")
    record("equal", np.array([True, False]), np.array([True, True])), record("not_equal", EDGES, EDGES), record("equal", EDGES, EDGES)
    for name in ("less", "less_equal", "greater", "greater_equal"): record(name, EDGES, EDGES[::-1].copy())
    record("add", data((3, 1, 2, 1), "float32"), data((2, 1, 3), "float32", seed=1))
    record("multiply", data((), "float64"), data((0, 2), "float64"))
    record("math.polyval", [array(2, "float64"), array(-1, "float64"), array([.5, 1.5], "float64")], array([1, 2], "float64"))
    record("math.polyval", [], 3.0)
    for name in ("math.accumulate_n", "add_n"): record(name, [data((2,), "float64"), data((2,), "float64", seed=1)])
    for name in ("add", "less", "maximum"):
        refused(name, "InvalidArgumentError", data((2,), "float32"), data((3,), "float32"))
        refused(name, "InvalidArgumentError", data((2,), "float32"), data((2,), "float64"))
    refused("math.floordiv", "InvalidArgumentError", array([1, 2], "int32"), array([0, 1], "int32"))
    refused("math.floormod", "InvalidArgumentError", array([1, 2], "int32"), array([0, 1], "int32"))
    refused("pow", "InvalidArgumentError", array([2], "int32"), array([-1], "int32"))
    refused("add_n", "InvalidArgumentError", [data((2,), "float32"), data((3,), "float32")])


def reductions():
    for dtype in FLOATS:
        for name in ("variance", "std", "euclidean_norm", "logsumexp"):
            if (name, dtype) != ("std", "bfloat16"): record("math.reduce_" + name, data((2, 3, 2), dtype, .5), axis=[0, -1], keepdims=True)
        record("math.l2_normalize", data((2, 3), dtype), axis=1, tolerance=.02 if dtype == "float16" else None)
        record("clip_by_norm", data((2, 3), dtype), 1.5, axes=[1])
    for dtype in WIDE:
        record("math.reduce_variance", data((4,), dtype)), record("math.reduce_std", data((2, 4), dtype), axis=1)
        record("math.reduce_logsumexp", array([[-INF, -INF], [1, 2]], dtype), axis=1, gradient=False)
        record("math.reduce_logsumexp", array([[INF, 1], [-INF, 2]], dtype), axis=1, gradient=False)
        record("math.reduce_prod", array([[0, 2, 0], [0, 2, 3]], dtype), axis=1), record("math.reduce_max", array([2, 2, 1, 2], dtype))
        record("math.reduce_min", array([[2, 1, 1], [3, 3, 3]], dtype), axis=1)
        for name in ("sum", "prod", "max", "min", "mean"):
            record("math.reduce_" + name, array(3.5, dtype)), record("math.reduce_" + name, data((2, 2, 3, 2), dtype), axis=[1, 3])
            record("math.reduce_" + name, data((2, 3), dtype), axis=[])
        record("math.l2_normalize", np.zeros((2, 2), dtype), epsilon=1e-3), record("clip_by_norm", array([.1, .2], dtype), 5.0)
        record("math.reduce_euclidean_norm", data((2, 3), dtype)), record("norm", data((2, 3), dtype), ord=1, axis=1)
        record("norm", data((2, 3), dtype), ord=3, axis=0, keepdims=True), record("norm", data((2, 3), dtype))
        record("norm", data((2, 3, 2), dtype), ord="fro", axis=[0, 2]), record("norm", data((2, 3, 2), dtype), ord=1, axis=[0, 2])
        record("norm", data((2, 3), dtype), ord=INF, axis=1)
        record("math.reduce_max", array([1, NAN, 3], dtype), gradient=False), record("math.reduce_min", array([INF, 2], dtype))
    for dtype in COMPLEX:
        for name in ("variance", "std", "euclidean_norm"): record("math.reduce_" + name, data((2, 3), dtype), axis=1, gradient=False)
        for name in ("sum", "mean", "prod"): record("math.reduce_" + name, data((2, 3), dtype), axis=0)
        record("math.cumsum", data((2, 3), dtype), axis=1), record("math.cumprod", data((3,), dtype), reverse=True, gradient=False)
        record("norm", data((2, 3), dtype), axis=1)
    for dtype in ("int8", "uint8", "int16", "int32", "int64"):
        for name in ("sum", "prod", "max", "min", "mean"): record("math.reduce_" + name, array([[5, 3, 4], [1, 2, 2]], dtype), axis=-1)
    for name in ("reduce_any", "reduce_all"):
        record("math." + name, np.array([[True, False], [True, True]]), axis=0, keepdims=True), record("math." + name, np.zeros((0,), bool))
    for dtype in ("int32", "float32", "bool", "string"):
        x = np.array([b"", b"a"], object) if dtype == "string" else array([[0, 3], [0, 0]], dtype)
        record("math.count_nonzero", x), record("math.count_nonzero", x, axis=[0], keepdims=True, dtype=tf.int32)
    for dtype in [*FLOATS, "int32", "int64"]:
        for name in ("cumsum", "cumprod"):
            record("math." + name, data((2, 3), dtype, .5), axis=1, exclusive=True)
            record("math." + name, data((3, 2), dtype, .5), reverse=True)
    for dtype in WIDE:
        record("math.cumsum", data((2, 3, 2), dtype), axis=-2, exclusive=True, reverse=True)
        record("math.cumprod", array([2, 0, 3, 4], dtype), gradient=False),    # its gradient is wrong at zeros, and for complex numbers
        record("math.cumprod", data((4,), dtype), exclusive=True, reverse=True)
        record("math.cumulative_logsumexp", data((2, 3), dtype, -5, 5), axis=1)
        record("math.cumulative_logsumexp", data((4,), dtype), exclusive=True, reverse=True, gradient=False)
    for name in ("argmax", "argmin"):
        record("math." + name, array([[1, 3, 3], [0, 0, 2]], "float64")), record("math." + name, data((2, 3, 2), "int64"), axis=-2)
        record("math." + name, array([1, NAN, 3])), refused("math." + name, "InvalidArgumentError", data((2,), "float32"), axis=1)
        refused("math." + name, "InvalidArgumentError", np.zeros((2, 0), np.float32), axis=1)
    record("clip_by_value", array([1, 5, 9], "int32"), 2, 6)
    record("clip_by_value", array([1, 2, 3, 4]), array([1, 3, 3, 5]), array([6, 4, 3, 9]))
    record("clip_by_global_norm", [data((2, 2), "float32"), data((3,), "float32", seed=1)], 1.0, gradient=False)
    record("clip_by_global_norm", [data((2,), "float64")], 9.0, use_norm=array(18, "float64"))
    record("linalg.global_norm", [data((2, 2), "float32"), data((3,), "float32", seed=1)])
    refused("reduce_sum", "InvalidArgumentError", data((2, 3), "float32"), axis=2)
    refused("reduce_sum", "InvalidArgumentError", data((2, 3), "float32"), axis=[0, 0])
    refused("math.cumsum", "InvalidArgumentError", data((2, 3), "float32"), axis=2)


def counting():
    for weights in (None, array([.5, 1, 2, 4]), array([1, 2, 3, 4], "int32")):
        record("math.bincount", array([1, 1, 3, 0], "int32"), weights=weights)
        record("math.bincount", array([1, 1, 3, 0], "int32"), weights, minlength=6)
    record("math.bincount", array([1, 1, 7, 0], "int32"), maxlength=3), record("math.bincount", array([], "int32"), minlength=2)
    record("math.bincount", array([1, 2, 2], "int32"), dtype=tf.int64), record("math.bincount", array([1, 2, 2], "int32"), dtype=tf.float32)
    record("math.bincount", array([[1, 2, 2], [0, 0, 0]], "int32"), axis=-1)
    record("math.bincount", array([[1, 2], [0, 0]], "int32"), axis=0)
    record("math.bincount", array([[1, 2, 2], [0, 0, 0]], "int32"), axis=-1, binary_output=True, minlength=4)
    record("math.confusion_matrix", array([0, 1, 2, 1], "int32"), array([0, 2, 2, 1], "int32"))
    record("math.confusion_matrix", array([0, 1], "int64"), array([1, 1], "int64"), num_classes=3, weights=array([.5, 2]), dtype=tf.float32)
    refused("math.confusion_matrix", "InvalidArgumentError", array([0, 5], "int32"), array([1, 1], "int32"), num_classes=3)
    for k in (1, 2): record("math.in_top_k", array([1, 2, 0], "int32"), array([[.1, .9, .5], [.4, .4, .2], [1, 1, 1]]), k)
    record("math.in_top_k", array([1, 5], "int32"), array([[NAN, 1, 2], [1, 2, 3]]), 2)
    for dtype in [*FLOATS, "int32", "uint8"]:
        record("math.top_k", array([[1, 5, 3, 5], [2, 2, 2, 9]], dtype), k=3), record("math.top_k", array([3, 1, 2], dtype))
    refused("math.top_k", "InvalidArgumentError", array([1, 2]), k=3)
    record("math.invert_permutation", array([2, 0, 3, 1], "int32")), record("math.invert_permutation", array([1, 0], "int64"))
    refused("math.invert_permutation", "InvalidArgumentError", array([0, 0], "int32"))
    record("histogram_fixed_width", array([-1, 0, 1.5, 2, 5, 15]), array([0, 5]), nbins=5)
    record("histogram_fixed_width", array([1, 2, 3], "int32"), array([0, 4], "int32"), nbins=2, dtype=tf.int64)
    record("histogram_fixed_width_bins", array([[-1, 0, 1.5], [2, 5, 15]], "float64"), array([0, 5], "float64"), nbins=5)
    record("math.sobol_sample", 3, 6), record("math.sobol_sample", 2, 4, skip=3, dtype=tf.float64)


def segments():
    for name in ("sum", "mean", "prod", "max", "min"):
        for dtype in FLOATS: record(f"math.segment_{name}", data((6, 2), dtype, .5), IDS)
        record(f"math.segment_{name}", data((6,), "int32"), IDS.astype(np.int64))
    for name in ("sum", "mean", "prod", "max", "min", "sqrt_n"):
        for dtype in WIDE:
            record(f"math.unsorted_segment_{name}", data((5, 2), dtype, .5), array([2, 0, 2, -1, 0], "int32"), 4,
                gradient=name not in ("max", "min"))
        record(f"math.unsorted_segment_{name}", data((2, 3), "float32", .5), array([[1, 0, 1], [1, 1, 0]], "int64"), 2)
        if name not in ("mean", "sqrt_n"): record(f"math.unsorted_segment_{name}", data((4,), "int64"), array([1, 1, 0, 1], "int32"), 3)
    for name in ("max", "min"):
        record(f"math.segment_{name}", array([3, 3, 1, 2, 2, 2]), IDS)
        record(f"math.unsorted_segment_{name}", array([3, 3, 1, 2, 2, 2]), IDS, 6)
    for name in ("sum", "mean", "sqrt_n"):
        for dtype in FLOATS:
            record(f"sparse.segment_{name}", data((4, 2), dtype), array([3, 1, 0, 1], "int32"), array([0, 0, 1, 3], "int32"))
        record(f"sparse.segment_{name}", data((4, 2), "float64"), array([3, 1], "int32"), array([0, 2], "int32"), num_segments=5)
    record("math.segment_sum", data((3,), "complex64"), array([0, 0, 1], "int32"))
    refused("math.segment_sum", "InvalidArgumentError", data((3,), "float32"), array([1, 0, 2], "int32"))
    refused("math.segment_sum", "InvalidArgumentError", data((3,), "float32"), array([0, 1], "int32"))
    refused("math.unsorted_segment_sum", "InvalidArgumentError", data((3,), "float32"), array([0, 1, 5], "int32"), 3)


def checks():
    good, bad = array([1, 2, 3]), array([1, -2, 3])
    for name, wrong in (("positive", bad), ("non_negative", bad), ("negative", bad), ("non_positive", bad)):
        record(f"debugging.assert_{name}", good if name in ("positive", "non_negative") else -good)
        record(f"debugging.assert_{name}", array([], "int32"))
        refused(f"debugging.assert_{name}", "InvalidArgumentError", wrong, message="no")
    for name, x, y, wrong in (("equal", good, good, bad), ("none_equal", good, -good, bad), ("less", good, good + 1, bad),
                              ("less_equal", good, good, bad), ("greater", good, bad - 9, good), ("greater_equal", good, good, good + 1)):
        record(f"debugging.assert_{name}", x, y), refused(f"debugging.assert_{name}", "InvalidArgumentError", x, wrong, summarize=1)
    record("debugging.assert_near", good, good + array(1e-7)), record("debugging.assert_near", good, bad, atol=array(4.1))
    refused("debugging.assert_near", "InvalidArgumentError", good, bad, rtol=array(.1))
    for name, x, wrong in (("rank", 1, 2), ("rank_at_least", 1, 2), ("rank_in", (0, 1), (2, 3))):
        record(f"debugging.assert_{name}", good, x), refused(f"debugging.assert_{name}", "ValueError", good, wrong, message="rank")
    record("debugging.assert_scalar", array(1)), refused("debugging.assert_scalar", "ValueError", good)
    record("debugging.assert_type", good, tf.float32), refused("debugging.assert_type", "TypeError", good, tf.int32)
    record("debugging.assert_integer", array([1], "int32")), refused("debugging.assert_integer", "TypeError", good)
    record("debugging.assert_same_float_dtype", [good, bad], dtype=tf.float32)
    refused("debugging.assert_same_float_dtype", "ValueError", [good, good.astype("float64")])
    record("debugging.assert_all_finite", good, "finite"), refused("debugging.assert_all_finite", "InvalidArgumentError", EDGES, "finite")
    record("debugging.check_numerics", good, "fine"), refused("debugging.check_numerics", "InvalidArgumentError", EDGES, "NaN here")
    record("debugging.Assert", array(True, "bool"), ["fine"])
    refused("debugging.Assert", "InvalidArgumentError", array(False, "bool"), ["no"])
    record("debugging.is_numeric_tensor", good), record("debugging.is_numeric_tensor", np.array([True]))
    record("debugging.assert_proper_iterable", [1, 2]), refused("debugging.assert_proper_iterable", "TypeError", 5)
    record("debugging.assert_shapes", [(data((2, 3), "float32"), ("N", 3)), (data((2,), "float32"), ("N",))])
    refused("debugging.assert_shapes", "ValueError", [(data((2, 3), "float32"), ("N", 3)), (data((4,), "float32"), ("N",))])
    refused("ensure_shape", "InvalidArgumentError", good, [2]), record("ensure_shape", good, [None])


if __name__ == "__main__": save("ops_math.json.gz", one_argument, two_arguments, reductions, counting, segments, checks)
