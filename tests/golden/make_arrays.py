"""Records arrays.json.gz: TensorFlow's values, gradients and errors for sorting, counting, segments, partitions.

usage, in an environment with TensorFlow: python make_arrays.py (the format is described in recording.py)
"""
import numpy as np
import tensorflow as tf
from recording import INF, NAN, data, record, refused, save

F, I32, I64 = np.float32, np.int32, np.int64


def sorting():
    for dtype in ("float16", "float32", "float64", "int32", "int64", "uint8"):
        for direction in ("ASCENDING", "DESCENDING"):
            record("sort", data((2, 5), dtype), direction=direction)
            record("sort", data((3, 4), dtype, seed=1), axis=0, direction=direction)
            record("argsort", np.array([[3, 1, 2], [2, 1, 3]], dtype), direction=direction)
    record("argsort", np.array([2, 1, 2, 1, 2], I32), stable=True)
    record("argsort", np.array([2, 1, 2, 1, 2], I32), direction="DESCENDING", stable=True)
    record("sort", np.array([1, INF, -INF, 0, -2], F)), record("sort", data((2, 3, 2), "float64"), axis=-2)
    for side in ("left", "right"):
        for dtype in ("float32", "float64", "int32", "int64"):
            record("searchsorted", np.array([1, 3, 3, 5], dtype), np.array([0, 1, 3, 4, 5, 6], dtype), side=side)
        record("searchsorted", np.array([[1, 3, 5], [2, 4, 6]], F), np.array([[0, 3], [4, 7]], F), side=side, out_type=tf.int64)
    record("math.invert_permutation", np.array([3, 4, 0, 2, 1], I32)), record("math.invert_permutation", np.array([1, 0], I64))
    for x in ([1, 2, 2, 3], [1, 3, 2], [], [5]):
        record("math.is_non_decreasing", np.array(x, F)), record("math.is_strictly_increasing", np.array(x, I32))
    refused("sort", "ValueError", np.array([1, 2], F), direction="UP")
    refused("sort", "InvalidArgumentError", np.array([[1, 2]], F), axis=2)
    refused("math.invert_permutation", "InvalidArgumentError", np.array([0, 0], I32))
    refused("math.invert_permutation", "InvalidArgumentError", np.array([0, 2], I32))
    refused("searchsorted", "InvalidArgumentError", np.array([[1, 2]], F), np.array([[1], [2]], F))
    refused("searchsorted", "ValueError", np.array([1, 2], F), np.array([1], F), side="mid")


def counting():
    for dtype in ("int32", "int64", "float32", "uint8"):
        record("unique", np.array([5, 1, 5, 2, 1], dtype)), record("unique_with_counts", np.array([5, 1, 5, 2, 1], dtype), out_idx=tf.int64)
    record("unique", np.array([b"b", b"a", b"b"], object)), record("unique_with_counts", np.array([True, False, True]))
    arr = np.array([1, 1, 5, 2, 1], I32)
    record("math.bincount", arr), record("math.bincount", arr, minlength=8), record("math.bincount", arr, maxlength=3)
    record("math.bincount", arr, dtype=tf.int64), record("math.bincount", arr, binary_output=True, axis=0)
    record("math.bincount", arr, weights=tf.constant([1.0, 2.0, 0.5, 1.0, 4.0])), record("math.bincount", np.array([[1, 2], [0, 0]], I32))
    record("math.bincount", np.array([[1, 2, 1], [0, 0, 3]], I32), axis=-1)
    record("math.bincount", np.array([[1, 2, 1], [0, 0, 3]], I32), axis=-1, minlength=6), record("math.bincount", np.array([], I32))
    record("math.bincount", np.array([[1, 2, 1], [0, 0, 3]], I32), axis=-1, binary_output=True)
    record("math.bincount", np.array([[1, 2], [0, 0]], I32), weights=tf.constant([[1.0, 2.0], [3.0, 4.0]]), axis=-1)
    record("math.bincount", arr, dtype=tf.float32), record("math.confusion_matrix", np.array([1, 2, 4], I32), np.array([2, 2, 4], I32))
    record("math.confusion_matrix", np.array([1, 2, 4], I64), np.array([2, 2, 4], I64), num_classes=6)
    record("math.confusion_matrix", np.array([0, 1, 1], I32), np.array([1, 1, 1], I32), weights=tf.constant([0.5, 1.0, 2.0]),
        dtype=tf.float32)
    record("math.confusion_matrix", np.array([[0], [1]], I32), np.array([1, 1], I32))
    x = np.array([[0, 1, 0], [2, 3, 0]], F)
    record("math.count_nonzero", x), record("math.count_nonzero", x, axis=1)
    record("math.count_nonzero", x, axis=0, keepdims=True, dtype=tf.int32)
    record("math.count_nonzero", np.array([b"", b"a", b"b"], object)), record("math.count_nonzero", np.array([True, False]))
    for values in ([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0, 4.999, 0.5]):
        record("histogram_fixed_width", np.array(values, F), np.array([0.0, 5.0], F), nbins=5)
        record("histogram_fixed_width_bins", np.array(values, F), np.array([0.0, 5.0], F), nbins=5)
    refused("unique", "InvalidArgumentError", np.array([[1, 2]], I32))
    refused("math.bincount", "InvalidArgumentError", np.array([-1, 2], I32))
    refused("histogram_fixed_width", "InvalidArgumentError", np.array([1.0], F), np.array([5.0, 0.0], F))
    refused("histogram_fixed_width", "InvalidArgumentError", np.array([1.0], F), np.array([0.0, 5.0], F), nbins=0)
    refused("math.confusion_matrix", "InvalidArgumentError", np.array([5], I32), np.array([0], I32), num_classes=2)
    refused("math.confusion_matrix", "InvalidArgumentError", np.array([-1], I32), np.array([0], I32), num_classes=2)


def segments():
    ids, wild = np.array([0, 0, 2, 2, 2], I32), np.array([2, 0, 2, -1, 0], I64)
    for dtype in ("float32", "float64", "int32"):
        x = data((5, 2), dtype, 0.5)
        for kind in ("sum", "mean", "max", "min", "prod"):
            record("math.segment_" + kind, x, ids)
        for kind in ("sum", "mean", "max", "min", "prod", "sqrt_n"):
            if not (dtype == "int32" and kind in ("mean", "sqrt_n")):
                record("math.unsorted_segment_" + kind, x, wild, np.array(4, I32))
    ties = np.array([3, 3, 1, 1, 2], F)
    for kind in ("max", "min", "prod"):
        record("math.segment_" + kind, ties, ids), record("math.unsorted_segment_" + kind, ties, wild, np.array(3, I32))
    record("math.unsorted_segment_prod", np.array([0, 2, 0, 5, 7], F), np.array([0, 0, 1, 1, 1], I32), np.array(2, I32))
    record("math.unsorted_segment_sum", data((2, 3, 2), "float32"), np.array([[0, 1, 0], [1, 1, 2]], I32), np.array(3, I32))
    record("math.segment_sum", data((3,), "complex64"), np.array([0, 0, 1], I32))
    record("math.segment_sum", np.zeros((0, 2), F), np.zeros(0, I32))
    refused("math.segment_sum", "InvalidArgumentError", np.ones(3, F), np.array([1, 0, 2], I32))
    refused("math.segment_sum", "InvalidArgumentError", np.ones(3, F), np.array([0, 1], I32))
    refused("math.unsorted_segment_sum", "InvalidArgumentError", np.ones(3, F), np.array([0, 1, 5], I32), np.array(3, I32))
    refused("math.unsorted_segment_sum", "InvalidArgumentError", np.ones(3, F), np.array([0, 1], I32), np.array(3, I32))
    refused("math.segment_max", "InvalidArgumentError", np.ones(2, F), np.array([-1, 0], I32))
    refused("math.unsorted_segment_max", "InvalidArgumentError", np.ones(2, F), np.array([0, 0], I32), np.array(-1, I32))


def moving():
    x, parts = data((4, 2), "float32"), np.array([1, 0, 1, 2], I32)
    record("dynamic_partition", x, parts, num_partitions=3)
    record("dynamic_partition", x, np.array([[1, 0], [1, 1], [0, 0], [1, 0]], I32), num_partitions=3)
    record("dynamic_stitch", [np.array([0, 2], I32), np.array([1, 3], I32)], [data((2, 2), "float32"), data((2, 2), "float32", seed=1)])
    record("dynamic_stitch", [np.array([0, 1], I32), np.array([1], I32)], [np.array([1, 2], I32), np.array([3], I32)])
    record("dynamic_stitch", [np.array(1, I32), np.array([[0, 2]], I32)], [np.array([1, 2], F), np.array([[[3, 4], [5, 6]]], F)])
    record("reverse_sequence", data((2, 4, 2), "float32"), np.array([2, 3], I64), seq_axis=1, batch_axis=0)
    record("reverse_sequence", data((3, 2), "int32"), np.array([3, 0], I32), seq_axis=0, batch_axis=1)
    record("sequence_mask", np.array([1, 3, 2], I32)), record("sequence_mask", np.array([1, 3, 2], I64), maxlen=5)
    record("sequence_mask", np.array([[1, 3], [2, 0]], I32), maxlen=2, dtype=tf.float32)
    record("sequence_mask", np.array(2, I32), maxlen=4), record("unravel_index", np.array([2, 5, 7], I32), np.array([3, 3], I32))
    record("unravel_index", np.array(5, I64), np.array([2, 4], I64))
    for kind in ("max", "min"):
        record("tensor_scatter_nd_" + kind, np.array([0, 5, 2, 5], F), np.array([[1], [3], [0], [1]], I32), np.array([5, 9, -1, 5], F))
        record("tensor_scatter_nd_" + kind, data((3, 2), "int32"), np.array([[0], [2]], I32), data((2, 2), "int32", seed=1))
        record("tensor_scatter_nd_" + kind, data((3, 2), "float64"), np.array([[0, 1], [2, 0]], I32), data((2,), "float64", seed=1))
    record("ensure_shape", data((2, 3), "float32"), [None, 3])
    refused("dynamic_partition", "InvalidArgumentError", x, np.array([1, 0, 1, 3], I32), num_partitions=3)
    refused("dynamic_partition", "InvalidArgumentError", x, np.array([1, 0], I32), num_partitions=3)
    refused("dynamic_partition", "InvalidArgumentError", x, np.array([1, 0, -1, 2], I32), num_partitions=3)
    refused("dynamic_stitch", "InvalidArgumentError", [np.array([0, -1], I32)], [np.ones(2, F)])
    refused("dynamic_stitch", "InvalidArgumentError", [np.array([0, 1], I32)], [np.ones(3, F)])
    refused("reverse_sequence", "InvalidArgumentError", np.ones((2, 3), F), np.array([4, 1], I32), seq_axis=1)
    refused("reverse_sequence", "InvalidArgumentError", np.ones((2, 3), F), np.array([1], I32), seq_axis=1)
    refused("reverse_sequence", "InvalidArgumentError", np.ones((2, 3), F), np.array([-1, 1], I32), seq_axis=1)
    refused("unravel_index", "InvalidArgumentError", np.array([9], I32), np.array([3, 3], I32))
    refused("ensure_shape", "InvalidArgumentError", np.ones((2, 3), F), [None, 4])
    refused("tensor_scatter_nd_max", "InvalidArgumentError", np.ones(3, F), np.array([[3]], I32), np.ones(1, F))
    refused("sequence_mask", "ValueError", np.array([1], I32), maxlen=np.array([1, 2], I32))


def asserting():
    one, two = np.array([1, 2], I32), np.array([1, 3], I32)
    for name in ("equal", "greater", "greater_equal"):
        refused("debugging.assert_" + name, "InvalidArgumentError", one, two)
    refused("debugging.assert_less", "InvalidArgumentError", two, one)
    refused("debugging.assert_less_equal", "InvalidArgumentError", two, one)
    refused("debugging.assert_none_equal", "InvalidArgumentError", one, two)
    refused("debugging.assert_near", "InvalidArgumentError", np.array([1.0], F), np.array([1.1], F))
    refused("debugging.assert_positive", "InvalidArgumentError", np.array([0], I32))
    refused("debugging.assert_negative", "InvalidArgumentError", one), refused("debugging.assert_non_positive", "InvalidArgumentError", one)
    refused("debugging.assert_non_negative", "InvalidArgumentError", -one), refused("debugging.assert_rank", "ValueError", one, 2)
    refused("debugging.assert_rank_at_least", "ValueError", one, 2), refused("debugging.assert_rank_in", "ValueError", one, [0, 2])
    refused("debugging.assert_scalar", "ValueError", one), refused("debugging.assert_integer", "TypeError", np.array([1.0], F))
    refused("debugging.assert_type", "TypeError", one, tf.float32)
    refused("debugging.assert_all_finite", "InvalidArgumentError", np.array([1, NAN], F), "message")
    refused("debugging.Assert", "InvalidArgumentError", np.array(False), ["data"])
    refused("debugging.assert_equal", "InvalidArgumentError", np.ones(2, F), np.ones(3, F))
    refused("debugging.assert_proper_iterable", "TypeError", 3)


if __name__ == "__main__": save("arrays.json.gz", sorting, counting, segments, moving, asserting)
