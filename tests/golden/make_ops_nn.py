"""Records ops_nn.json.gz: convolutions, pooling, normalisation, losses, embeddings, CTC. See recording.py."""
from itertools import product

import numpy as np
import tensorflow as tf
from recording import FLOATS, INF, WIDE, array, data, record, refused, save

NEAR = {"float32": 2e-5, "float16": 2e-2, "bfloat16": 8e-2}     # sums of many products, in another order
SAME = ("SAME", "VALID")


def convolutions():
    image, kernel = lambda dtype="float32": data((2, 5, 4, 2), dtype), lambda dtype="float32": data((3, 2, 2, 3), dtype, seed=1)
    for dtype, padding in product(FLOATS, SAME):
        record("nn.conv2d", image(dtype), kernel(dtype), strides=1, padding=padding, tolerance=NEAR.get(dtype))
    for padding, strides, dilations in product(SAME, ([1, 2, 1, 1], 2), (1, [1, 2, 2, 1])):
        if strides == 2 and dilations != 1: continue
        record("nn.conv2d", image("float64"), kernel("float64"), strides=strides, padding=padding, dilations=dilations,
            gradient=dilations == 1)
    record("nn.conv2d", image("float64"), kernel("float64"), [1, 2, 1, 1], [[0, 0], [1, 0], [2, 1], [0, 0]])
    record("nn.conv2d", image("float64"), kernel("float64"), [2, 1], "SAME", "NHWC", [1, 1])
    record("nn.conv2d", data((2, 5, 4, 4), "float64"), data((3, 2, 2, 4), "float64"), 1, "SAME", gradient=False)
    for dtype, padding, stride in product(WIDE, SAME, (1, 2)):
        line, taps = data((2, 6, 2), dtype), data((3, 2, 3), dtype, seed=1)
        record("nn.conv1d", line, taps, stride=stride, padding=padding, tolerance=NEAR.get(dtype))
        record("nn.conv1d_transpose", data((2, 3, 3), dtype), data((3, 2, 3), dtype, seed=1), [2, 6 if padding == "SAME" else 7,
            2] if stride == 2 else [2, 3 if padding == "SAME" else 5, 2], stride, padding, tolerance=NEAR.get(dtype))
    record("nn.conv1d", data((2, 6, 2), "float64"), data((3, 2, 3), "float64", seed=1), 1, "VALID", data_format="NWC", dilations=2,
        gradient=False)    # TensorFlow has no such gradient on a CPU
    volume, cube = data((1, 4, 3, 4, 2), "float64"), data((2, 2, 3, 2, 2), "float64", seed=1)
    for padding in SAME:
        record("nn.conv3d", volume, cube, [1, 1, 1, 1, 1], padding), record("nn.conv3d", volume, cube, [1, 2, 1, 2, 1], padding)
    record("nn.conv3d", volume.astype("float32"), cube.astype("float32"), [1, 1, 1, 1, 1], "VALID", "NDHWC", tolerance=2e-5)
    record("nn.conv3d_transpose", data((1, 2, 2, 2, 2), "float64"), data((2, 2, 3, 1, 2), "float64", seed=1), [1, 4, 4, 4, 1], [1, 2, 2,
        2, 1], "SAME")
    for dtype, padding in product(WIDE, SAME):
        size = [2, 5, 4, 2] if padding == "SAME" else [2, 7, 5, 2]
        record("nn.conv2d_transpose", data((2, 5, 4, 3), dtype), kernel(dtype), size, 1, padding, tolerance=NEAR.get(dtype))
        size = [2, 9, 8, 2] if padding == "SAME" else [2, 11, 8, 2]
        record("nn.conv2d_transpose", data((2, 5, 4, 3), dtype), kernel(dtype), size, strides=[1, 2, 2, 1], padding=padding,
            tolerance=NEAR.get(dtype))
        record("nn.depthwise_conv2d", image(dtype), kernel(dtype), [1, 1, 1, 1], padding, tolerance=NEAR.get(dtype))
        record("nn.depthwise_conv2d", image(dtype), kernel(dtype), [1, 2, 2, 1], padding, tolerance=NEAR.get(dtype))
        record("nn.depthwise_conv2d", image(dtype), kernel(dtype), [1, 1, 1, 1], padding, dilations=[2, 2], tolerance=NEAR.get(dtype))
        record("nn.separable_conv2d", image(dtype), kernel(dtype), data((1, 1, 6, 2), dtype, seed=2), [1, 1, 1, 1], padding,
            tolerance=NEAR.get(dtype))
        record("nn.atrous_conv2d", image(dtype), data((2, 2, 2, 3), dtype, seed=1), 2, padding, tolerance=NEAR.get(dtype))
        record("nn.convolution", image(dtype), kernel(dtype), padding=padding, tolerance=NEAR.get(dtype))
        record("nn.dilation2d", image(dtype), data((2, 2, 2), dtype, seed=1), [1, 1, 1, 1], padding, "NHWC", [1, 1, 1, 1])
        record("nn.erosion2d", image(dtype), data((2, 2, 2), dtype, seed=1), [1, 2, 1, 1], padding, "NHWC", [1, 2, 1, 1])
    record("nn.convolution", data((2, 6, 2), "float64"), data((3, 2, 3), "float64"), strides=[2], padding="SAME")
    record("nn.convolution", volume, cube, strides=[1, 2, 1], padding="SAME", data_format="NDHWC")
    record("nn.convolution", image("float64"), kernel("float64"), dilations=[1, 2], data_format="NHWC")
    record("nn.conv_transpose", data((2, 3, 3), "float64"), data((3, 2, 3), "float64", seed=1), [2, 6, 2], [2])
    record("nn.conv_transpose", data((1, 2, 2, 2, 2), "float64"), data((2, 2, 3, 1, 2), "float64", seed=1), [1, 4, 4, 4, 1], 2,
        padding="SAME", data_format="NDHWC")
    record("nn.separable_conv2d", image("float64"), kernel("float64"), data((1, 1, 6, 2), "float64"), [1, 1, 1, 1], "SAME", "NHWC", [2, 1])
    record("nn.atrous_conv2d_transpose", data((1, 5, 5, 3), "float64"), data((2, 2, 2, 3), "float64", seed=1), [1, 5, 5, 2], 2, "SAME")
    record("nn.depthwise_conv2d_backprop_input", [2, 5, 4, 2], kernel("float64"), data((2, 5, 4, 6), "float64"), [1, 1, 1, 1], "SAME")
    record("nn.depthwise_conv2d_backprop_filter", image("float64"), [3, 2, 2, 3], data((2, 3, 3, 6), "float64"), [1, 1, 1, 1], "VALID")
    refused("nn.conv2d", "InvalidArgumentError", image(), data((3, 2, 3, 3), "float32"), 1, "SAME")
    refused("nn.conv2d", "ValueError", image(), kernel(), [1, 1, 1], "SAME")
    for name, shape in (("max", (2, 5, 4, 2)), ("avg", (2, 5, 4, 2))):
        refused(f"nn.{name}_pool2d", "InvalidArgumentError", data(shape, "float32"), 7, 1, "VALID")


def pooling():
    x = lambda dtype="float64": data((2, 5, 4, 2), dtype)
    for name, padding in product(("max", "avg"), SAME):
        for dtype in FLOATS: record(f"nn.{name}_pool2d", x(dtype), 2, 2, padding, tolerance=NEAR.get(dtype))
        record(f"nn.{name}_pool2d", x(), [1, 3, 2, 1], [1, 1, 2, 1], padding), record(f"nn.{name}_pool", x(), [3, 2], [1, 2], padding)
        record(f"nn.{name}_pool1d", data((2, 6, 2), "float64"), 3, 2, padding)
        record(f"nn.{name}_pool1d", data((2, 6, 2), "float32"), [2], [1], padding, "NWC")
        record(f"nn.{name}_pool3d", data((1, 4, 3, 4, 2), "float32"), 2, [1, 2, 1, 2, 1], padding, data_format="NDHWC")
        record(f"nn.{name}_pool", data((2, 6, 2), "float64"), 2, 2, padding)
        record(f"nn.{name}_pool", data((1, 4, 3, 4, 1), "float32"), 3, 1, padding, "NDHWC")
        record("nn.pool", x(), [2, 3], name.upper(), strides=[1, 2], padding=padding)
        if padding == "VALID": record("nn.pool", data((2, 6, 2), "float64"), [2], name.upper(), padding=padding, dilations=[2])
    record("nn.max_pool2d", x(), 2, 1, [[0, 0], [1, 0], [0, 1], [0, 0]]), record("nn.max_pool2d", np.zeros((1, 4, 4, 1)), 2, 2, "VALID")
    record("nn.max_pool2d", array([[[[1], [INF]], [[-INF], [3]]]]), 2, 1, "SAME", gradient=False)
    record("nn.max_pool2d", data((1, 4, 4, 1), "int32"), 2, 2, "VALID")
    for padding, batch in product(SAME, (False, True)):
        record("nn.max_pool_with_argmax", x("float32"), 2, 2, padding, include_batch_in_index=batch)
        record("nn.max_pool_with_argmax", x("float32"), [1, 3, 2, 1], [1, 1, 2, 1], padding, output_dtype=tf.int32,
            include_batch_in_index=batch, gradient=False)


def normalisation():
    for dtype in FLOATS:
        x, near = data((3, 4), dtype), {"float16": 2e-2, "bfloat16": 1e-1, "float32": 2e-5}.get(dtype)
        record("nn.moments", x, [0]), record("nn.batch_normalization", x, x[0], np.abs(x[1]), x[2], x[1], .01, tolerance=near)
        record("nn.local_response_normalization", data((1, 2, 2, 5), dtype), 2, 1.5, .5, .75, tolerance=near) if dtype in ("float16",
            "float32") else None
        record("nn.bias_add", x, x[0]), record("nn.bias_add", data((2, 3, 2, 2), dtype), data((3,), dtype), "NCHW")
        record("nn.softmax", data((2, 3, 2), dtype), axis=1), record("nn.log_softmax", data((2, 3, 2), dtype), axis=-2)
    for dtype in WIDE:
        x, near = data((3, 4, 2), dtype), 2e-5 if dtype == "float32" else None
        record("nn.moments", x, [0, 2], keepdims=True)
        record("nn.batch_normalization", x, x[0, 0], np.abs(x[1, 1]), None, None, .01, tolerance=near)
        record("nn.weighted_moments", x, [1], np.abs(x), keepdims=True, tolerance=near)
        record("nn.weighted_moments", x, [0], array([[1], [2], [0], [1]], dtype), tolerance=near, gradient=False)
        record("nn.sufficient_statistics", x, [0, 1]), record("nn.sufficient_statistics", x, [2], shift=array(.5, dtype), keepdims=True)
        record("nn.normalize_moments", array(4, dtype), array([2.0, 3.0], dtype), array([5.0, 9.0], dtype), array([.1, .2], dtype),
            tolerance=near)
        record("nn.normalize_moments", array(4, dtype), array([2.0, 3.0], dtype), array([5.0, 9.0], dtype), None, tolerance=near)
    record("nn.local_response_normalization", data((1, 1, 2, 4), "float32"), tolerance=2e-5)
    record("nn.batch_norm_with_global_normalization", data((2, 2, 2, 3), "float32"), data((3,), "float32"), array([1, 2, 3]), data((3,),
        "float32"), array([.5, 1, 2]), .001, True, tolerance=2e-5)
    record("nn.softmax", array([[-INF, 0, 1]]), gradient=False), record("nn.softmax", array([[1000, 1000, -1000]], "float64"))
    record("nn.softmax", np.zeros((2, 0), np.float32))
    refused("nn.softmax", "InvalidArgumentError", array([1, 2]), axis=1)
    refused("nn.bias_add", "InvalidArgumentError", data((2, 3), "float32"), data((2,), "float32"))


def losses():
    for dtype in FLOATS:
        x, z = data((2, 3), dtype), array([[1, 0, 1], [0, .25, 1]], dtype)
        record("nn.sigmoid_cross_entropy_with_logits", labels=z, logits=x)
        record("nn.sigmoid_cross_entropy_with_logits", z, array([[40, -40, 0], [-90, 90, 1]], dtype))
        record("nn.weighted_cross_entropy_with_logits", z, x, array(2.5, dtype))
        record("nn.softmax_cross_entropy_with_logits", array([[.25, 0, 1], [.75, 1, 0]], dtype), x, axis=0)
        record("nn.log_poisson_loss", np.abs(x) * 2, z)
        record("nn.sparse_softmax_cross_entropy_with_logits", array([[1, 0], [2, 2]], "int64"), data((2, 2, 3), dtype))
    for dtype in WIDE:
        record("nn.log_poisson_loss", array([0, .5, 1, 3, 7.5], dtype), array([1, -1, 0, 2, .5], dtype), compute_full_loss=True,
            tolerance=1e-5 if dtype == "float32" else None)
    record("nn.compute_average_loss", array([1, 2, 3]), sample_weight=array([1, 0, 2]), global_batch_size=6)
    record("nn.compute_average_loss", array([1, 2, 4]))
    record("nn.scale_regularization_loss", array([1, 2]))
    refused("nn.softmax_cross_entropy_with_logits", "InvalidArgumentError", data((2, 3), "float32"), data((2, 4), "float32"))
    refused("nn.sigmoid_cross_entropy_with_logits", "ValueError", data((2, 3), "float32"), data((2, 4), "float32"))
    logits = data((5, 2, 4), "float32")
    labels = array([[1, 2, 0], [3, 3, 1]], "int32")
    for major, blank in product((True, False), (0, -1)):
        x, y = (logits if major else logits.transpose(1, 0, 2).copy()), np.where(labels == 0, 0, labels) if blank == 0 else labels % 3
        record("nn.ctc_loss", y.astype("int32"), x, array([2, 3] if blank == 0 else [3, 3], "int32"), array([5, 5], "int32"),
            logits_time_major=major, blank_index=blank, tolerance=1e-4)
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], array([1, 2, 0], "int32"), [2, 2])
    record("nn.ctc_loss", sparse, logits, None, array([5, 4], "int32"), blank_index=-1, tolerance=1e-4)
    record("nn.ctc_unique_labels", labels)
    scores = data((6, 2, 4), "float32", -3, 3, seed=4)
    for merge in (True, False): record("nn.ctc_greedy_decoder", scores, array([6, 4], "int32"), merge_repeated=merge, gradient=False)
    record("nn.ctc_beam_search_decoder", scores, array([6, 5], "int32"), beam_width=8, top_paths=2, gradient=False, tolerance=1e-4)


def embeddings():
    table = data((5, 2), "float32")
    for dtype in FLOATS: record("nn.embedding_lookup", data((5, 2), dtype), array([[0, 4], [1, 1]], "int32"))
    record("nn.embedding_lookup", table, array([0, 4, 0], "int64"), max_norm=1.0)
    record("nn.embedding_lookup", table, array(3, "int32"))
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], array([1, 3, 0], "int64"), [3, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], array([.5, 2, 1]), [3, 2])
    for combiner in ("sum", "mean", "sqrtn"):
        for w in (None, weights): record("nn.embedding_lookup_sparse", table, ids, w, combiner=combiner, gradient=w is None)
        record("nn.safe_embedding_lookup_sparse", table, ids, weights, combiner=combiner, gradient=False)
        record("nn.safe_embedding_lookup_sparse", table, ids, combiner=combiner, default_id=2)
    record("nn.embedding_lookup_sparse", table, ids, None, "sum", max_norm=.8)


if __name__ == "__main__": save("ops_nn.json.gz", convolutions, pooling, normalisation, losses, embeddings)
