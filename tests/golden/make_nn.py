"""Records nn.json.gz: what TensorFlow itself gives for pooling, normalisation, blocks, ranking and the connectionist loss.

usage, in an environment with TensorFlow: python make_nn.py (the format is described in recording.py)
"""
import numpy as np
import tensorflow as tf
from recording import data, record, save


def image(shape, dtype="float32", seed=0):
    "Numbers without ties, unless they are whole."
    rng = np.random.RandomState(seed)
    if "int" in dtype: return rng.randint(0, 9, shape).astype(dtype)
    return (rng.permutation(int(np.prod(shape))).reshape(shape) / 8 - 2).astype(tf.as_dtype(dtype).as_numpy_dtype)


def pooling():
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        for name in ("nn.max_pool", "nn.avg_pool"):
            record(name, image((2, 5, 4, 2), dtype), ksize=[2, 3], strides=[2, 1], padding="SAME")
            record(name, image((1, 5, 6, 1), dtype), ksize=3, strides=2, padding="VALID")
    for name in ("nn.max_pool", "nn.avg_pool"):
        record(name, image((2, 7, 3)), ksize=2, strides=2, padding="SAME")
        record(name, image((1, 3, 4, 5, 2)), ksize=2, strides=[1, 2, 2, 2, 1], padding="SAME", data_format="NDHWC")
        record(name, image((1, 4, 4, 2)), ksize=[1, 3, 1, 1], strides=1, padding="SAME")
        record(name + "1d", image((2, 6, 2)), ksize=3, strides=1, padding="VALID")
        record(name + "2d", image((2, 6, 5, 1)), ksize=[2, 2], strides=[2, 2], padding="SAME")
        record(name + "3d", image((1, 3, 3, 3, 1)), ksize=2, strides=1, padding="VALID")
    record("nn.max_pool2d", np.zeros((1, 4, 4, 1), np.float32), ksize=2, strides=2, padding="VALID")
    record("nn.max_pool2d", np.round(image((1, 5, 5, 1)) / 2).astype(np.float32), ksize=3, strides=1, padding="SAME")     # ties
    record("nn.max_pool2d", image((1, 5, 5, 1)), ksize=3, strides=2, padding=[[0, 0], [1, 0], [2, 1], [0, 0]])
    record("nn.max_pool2d", image((1, 4, 4, 2), "int32"), ksize=2, strides=2, padding="VALID")
    for x in (image((2, 4, 5, 2)), np.round(image((1, 4, 4, 2)) / 4).astype(np.float32)):
        for batch in (False, True):
            record("nn.max_pool_with_argmax", x, ksize=2, strides=2, padding="SAME", include_batch_in_index=batch)
    for kind in ("MAX", "AVG"):
        record("nn.pool", image((1, 6, 6, 2)), window_shape=[2, 2], pooling_type=kind, strides=[2, 1], padding="SAME")
        record("nn.pool", image((1, 7, 6, 2)), window_shape=[2, 3], pooling_type=kind, dilations=[2, 1])
        record("nn.pool", image((2, 7, 2)), window_shape=[3], pooling_type=kind, dilations=[2])


def norms():
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        x = data((3, 4), dtype)
        record("nn.l2_normalize", x, axis=1), record("math.l2_normalize", x, axis=[0, 1], epsilon=1.0)
        channel = [data((4,), dtype, .5, 1.5, seed=i) for i in range(4)]
        record("nn.batch_normalization", x, *channel, .01)
        record("nn.weighted_moments", x, [0], data((3, 1), dtype, .5, 1.5, seed=3))
        record("nn.weighted_moments", x, [0, 1], data((4,), dtype, .5, 1.5, seed=3), keepdims=True)
    for dtype in ("float32", "float16"):
        record("nn.local_response_normalization", data((1, 2, 2, 7), dtype), depth_radius=2, bias=1.5, alpha=.5, beta=.75)
    record("nn.lrn", data((2, 1, 2, 9), "float32"))
    record("nn.batch_normalization", data((2, 3, 2), "float32"), data((2,), "float32"), data((2,), "float32", .5), None, None, 1e-3)
    args = data((2, 2, 2, 3), "float32"), *[data((3,), "float32", .5, 1.5, seed=i) for i in range(4)]
    for scale in (False, True): record("nn.batch_norm_with_global_normalization", *args, .1, scale)
    record("nn.normalize_moments", np.float32(8), data((3,), "float32"), data((3,), "float32", 9, 12), np.float32(.5))
    record("nn.normalize_moments", np.float32(8), data((3,), "float32"), data((3,), "float32", 9, 12), None)
    record("nn.l2_normalize", np.zeros((2, 3), np.float32), axis=1)


def blocks():
    for dtype in ("float32", "int32"):
        record("nn.space_to_depth", data((2, 4, 6, 3), dtype), 2)
        record("nn.depth_to_space", data((1, 2, 3, 8), dtype), 2)
        record("space_to_batch", data((2, 4, 3, 2), dtype), [2, 3], [[1, 1], [0, 3]])
        record("batch_to_space", data((12, 2, 2, 1), dtype), [2, 3], [[1, 0], [0, 2]])
    record("space_to_batch_nd", data((1, 4, 2), "float32"), [2], [[1, 1]])
    record("nn.space_to_batch", data((2, 4, 4), "float32"), [2, 2], [[0, 0], [0, 0]])


def ranking():
    for x in (image((3, 7)), np.round(image((3, 7)) / 4).astype(np.float32), image((2, 20), "int32"), image((9,), "float64"),
              image((2, 5), "float16"), image((2, 2, 6), "uint8")):
        record("math.top_k", x, k=3)
    record("nn.top_k", image((2, 4))), record("nn.top_k", image((2, 4)), k=0)
    scores = np.array([[.1, .5, .2, .2], [1, 1, 1, 1], [0, np.inf, 0, 0], [3, 1, 2, 0]], np.float32)
    for k in (1, 2, 3): record("math.in_top_k", np.array([2, 0, 0, 3], np.int32), scores, k)
    record("nn.in_top_k", np.array([0, 4, -1, 1], np.int64), scores, 2)
    for dtype in ("float32", "float64"):
        x = data((3, 8), dtype)
        record("nn.isotonic_regression", x), record("nn.isotonic_regression", x, decreasing=False)
        record("nn.isotonic_regression", data((4, 3), dtype), axis=0)
    record("nn.isotonic_regression", np.array([3., 2., 2., 2., 1.], np.float32), gradient=False)   # TensorFlow's has another shape
    record("nn.isotonic_regression", np.array([3, 1, 2, 2, 5], np.int32))


def losses():
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        record("math.log_sigmoid", data((2, 4), dtype))
    record("math.log_sigmoid", np.array([-1e4, -90, 0, 90, 1e4], np.float32))
    for full in (False, True):
        record("nn.log_poisson_loss", np.array([0., .5, 1., 2., 7.], np.float32), data((5,), "float32"), full)
    record("nn.compute_average_loss", data((4,), "float32"), global_batch_size=8)
    record("nn.compute_average_loss", data((2, 3), "float32"), sample_weight=data((2, 1), "float32", .5))
    record("nn.scale_regularization_loss", np.float32(3.5))
    record("nn.leaky_relu", np.array([-4, 0, 3], np.int32)), record("nn.leaky_relu", data((5,), "float32"), alpha=.5)
    table, ids = data((6, 2), "float32"), np.array([[3, 1], [3, 5]], np.int32)
    record("nn.embedding_lookup", table, ids), record("nn.embedding_lookup", table, ids, max_norm=1.0)


def spelling():
    labels = np.array([[1, 2, 2, 3], [3, 1, 0, 0], [2, 0, 0, 0]], np.int32)
    logits = data((9, 3, 5), "float32", -3, 3)
    for blank in (0, 4, -1):
        record("nn.ctc_loss", labels + (blank == 0) * 0, logits, np.array([4, 2, 1]), np.array([9, 7, 3]), blank_index=blank)
    record("nn.ctc_loss", labels, np.transpose(logits, (1, 0, 2)), [4, 2, 1], [9, 7, 3], logits_time_major=False)
    record("nn.ctc_loss", labels, np.zeros((60, 3, 5), np.float32), [4, 2, 1], [60, 50, 9])
    record("nn.ctc_unique_labels", np.array([[3, 4, 4, 3], [5, 6, 7, 7]], np.int32))
    record("nn.collapse_repeated", np.array([[1, 1, 2, 2, 1], [3, 3, 3, 4, 0]], np.int32), np.array([5, 3], np.int32))


if __name__ == "__main__": save("nn.json.gz", pooling, norms, blocks, ranking, losses, spelling)
