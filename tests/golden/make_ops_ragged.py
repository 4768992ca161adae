"""Records ops_ragged.json.gz: ragged tensors, made, taken apart, and given to ordinary functions. See recording.py."""
import numpy as np
import tensorflow as tf
from recording import WIDE, Public, array, data, record, refused, save, text


def ragged(values, *splits):
    for row_splits in reversed(splits): values = tf.RaggedTensor.from_row_splits(values, array(row_splits, "int64"))
    return values


def rows(dtype="float32", seed=0): return ragged(text(*"abcdef") if dtype == "string" else data((6,), dtype, seed=seed), [0, 3, 3, 5, 6])


DEEP = ragged(data((6,), "float32", seed=3), [0, 2, 2, 3], [0, 1, 4, 6])
WIDE_ROWS = ragged(data((4, 2), "float32", seed=4), [0, 3, 4])
NUMBERS = ragged(array([3, 1, 2, 0, 1, 1], "int32"), [0, 3, 3, 5, 6])


def made():
    for values in (array([1, 2, 3, 4]), data((4, 2), "float64"), array([1, 2, 3, 4], "int32"), text(*"abcd")):
        record("RaggedTensor.from_row_splits", values, array([0, 1, 1, 4], "int64"))
        record("RaggedTensor.from_row_lengths", values, array([1, 0, 3], "int32"))
        record("RaggedTensor.from_row_starts", values, array([0, 1, 1], "int64"))
        record("RaggedTensor.from_row_limits", values, array([1, 1, 4], "int64"))
        record("RaggedTensor.from_value_rowids", values, array([0, 2, 2, 2], "int64"))
        record("RaggedTensor.from_value_rowids", values, array([0, 2, 2, 3], "int32"), nrows=array(6, "int32"))
        record("RaggedTensor.from_nested_row_splits", values, [array([0, 2], "int64"), array([0, 1, 4], "int64")])
        record("RaggedTensor.from_nested_row_lengths", values, [array([1, 1], "int64"), array([3, 1], "int64")])
        record("RaggedTensor.from_nested_value_rowids", values, [array([0, 0, 2], "int64"), array([0, 0, 1, 2], "int64")])
    for error, name, x in (("InvalidArgumentError", "row_splits", [1, 2, 4]), ("InvalidArgumentError", "row_splits", [0, 3, 2, 4]),
        ("InvalidArgumentError", "row_splits", [0, 2]),
                           ("InvalidArgumentError", "row_lengths", [1, 1]), ("InvalidArgumentError", "value_rowids", [1, 0, 2, 2])):
        refused("RaggedTensor.from_" + name, error, array([1, 2, 3, 4]), array(x, "int64"))
    padded = array([[1, 2, 0], [0, 0, 0], [5, 0, 0]])
    record("RaggedTensor.from_tensor", padded), record("RaggedTensor.from_tensor", padded, lengths=array([2, 0, 3], "int64"))
    record("RaggedTensor.from_tensor", padded, padding=array(0.0))
    record("RaggedTensor.from_tensor", data((2, 2, 3), "float32"), ragged_rank=2)
    record("RaggedTensor.from_tensor", padded, row_splits_dtype=tf.int32)
    record("RaggedTensor.from_sparse", tf.SparseTensor([[0, 0], [0, 1], [2, 0]], array([1, 2, 3]), [3, 4]))
    refused("RaggedTensor.from_sparse", "InvalidArgumentError", tf.SparseTensor([[0, 1]], array([1]), [1, 2]))
    for rag in (rows(), rows("int32"), rows("string"), DEEP, WIDE_ROWS):
        record("RaggedTensor.to_tensor", rag), record("RaggedTensor.row_lengths", rag), record("RaggedTensor.nrows", rag)
        record("RaggedTensor.value_rowids", rag)
        record("RaggedTensor.row_starts", rag), record("RaggedTensor.row_limits", rag), record("RaggedTensor.bounding_shape", rag)
        record("RaggedTensor.nested_row_lengths", rag)
        if rag is not WIDE_ROWS: record("RaggedTensor.to_sparse", rag, gradient=False)
    record("RaggedTensor.to_tensor", rows(), default_value=array(9.0)), record("RaggedTensor.to_tensor", rows(), shape=[None, 5])
    record("RaggedTensor.to_tensor", rows(), shape=[2, 2], gradient=False)
    record("RaggedTensor.row_lengths", DEEP, axis=2), record("RaggedTensor.bounding_shape", DEEP, axis=1)
    record("RaggedTensor.merge_dims", DEEP, 0, 1), record("RaggedTensor.merge_dims", DEEP, 1, 2)
    record("RaggedTensor.with_values", rows(), array([1, 2, 3, 4, 5, 6], "int32"))
    record("RaggedTensor.with_flat_values", DEEP, data((6,), "float64"))
    record("ragged.constant", [[1, 2], [], [3]]), record("ragged.constant", [[[1.5], []], [[2.0, 3.0]]], dtype=tf.float64)
    record("ragged.constant", [[], []], ragged_rank=1)
    record("ragged.constant", [["a"], ["b", "c"]], row_splits_dtype=tf.int32)
    record("ragged.constant", [[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), record("ragged.constant", [[[1, 2]], []], inner_shape=(2,))
    refused("ragged.constant", "ValueError", [[1], 2])
    record("ragged.range", array([3, 2, 5], "int32")), record("ragged.range", array([0, 5], "int32"), array([3, 9], "int32"), deltas=2)
    record("ragged.range", array([0.0, 4.0]), array([2.0, 1.0]), array([.5, -1]), row_splits_dtype=tf.int32)
    record("ragged.row_splits_to_segment_ids", array([0, 2, 2, 5], "int64"))
    record("ragged.row_splits_to_segment_ids", array([0, 2], "int64"), out_type=tf.int32)
    record("ragged.segment_ids_to_row_splits", array([0, 0, 2], "int32"))
    record("ragged.segment_ids_to_row_splits", array([0, 0, 2], "int32"), num_segments=5, out_type=tf.int64)
    record("ragged.stack", [array([1, 2, 3]), array([4.0])]), record("ragged.stack", [rows(), rows(seed=1)], axis=1)
    record("ragged.stack_dynamic_partitions", data((5,), "float32"), array([1, 0, 1, 3, 3], "int32"), 4)
    record("ragged.boolean_mask", data((2, 3), "float32"), np.array([[True, False, True], [False, False, True]]))
    record("ragged.boolean_mask", rows(), ragged(array([1, 0, 1, 1, 0, 0]) > 0, [0, 3, 3, 5, 6]))
    record("ragged.map_flat_values", Public("math.exp"), rows())
    record("ragged.map_flat_values", Public("math.multiply"), rows(), rows(seed=1))
    record("ragged.cross", [ragged(text(*"abc"), [0, 1, 3]), ragged(text(*"xyz"), [0, 2, 3])])


def given_to_functions():
    for name in ("sum", "mean", "max", "min", "prod"):
        for dtype in (*WIDE, "int32"):
            if name == "mean" and dtype == "int32": continue
            for axis in (0, 1):
                record("reduce_" + name, ragged(data((6,), dtype, .5), [0, 3, 3, 5,
                    6]) if axis == 0 or name != "mean" else ragged(data((6,), dtype, .5), [0, 3, 5, 6]), axis=axis,
                    gradient=name in ("sum", "mean"))
        record("reduce_" + name, rows(), gradient=name in ("sum", "mean"))
        record("reduce_" + name, DEEP, axis=2 if name == "sum" else -1, gradient=False)
        record("reduce_" + name, rows(), axis=1, keepdims=True, gradient=False)
    for name in ("any", "all"): record("reduce_" + name, ragged(array([1, 0, 1, 1, 0, 0]) > 0, [0, 3, 3, 5, 6]), axis=1)
    record("math.reduce_variance", ragged(data((5,), "float64"), [0, 2, 5]), axis=1, gradient=False)
    record("math.reduce_std", ragged(data((5,), "float64"), [0, 2, 5]), axis=1, gradient=False)
    for name in "exp math.negative math.tanh sin abs math.sigmoid math.square floor math.is_nan identity zeros_like ones_like".split():
        record(name, rows())
    for name in ("add", "subtract", "multiply", "maximum", "less", "equal", "math.divide", "pow"):
        record(name, ragged(data((6,), "float32", .5), [0, 3, 3, 5, 6]), ragged(data((6,), "float32", .5, seed=1), [0, 3, 3, 5, 6]))
        record(name, ragged(data((6,), "float32", .5), [0, 3, 3, 5, 6]), array(1.5))
    record("add", rows(), data((4, 1), "float32")), record("add", DEEP, array(2.0)), record("multiply", WIDE_ROWS, data((2,), "float32"))
    refused("add", "InvalidArgumentError", rows(), ragged(data((6,), "float32"), [0, 2, 3, 5, 6])), record("cast", rows(), tf.float64)
    record("math.logical_not", ragged(array([1, 0]) > 0, [0, 1, 2]))
    for axis in (0, 1):
        record("concat", [rows(), rows(seed=1)], axis), record("stack", [rows(), rows(seed=1)], axis=axis)
        record("expand_dims", rows(), axis)
    record("tile", rows(), [2, 1]), record("tile", rows(), [1, 2]), record("gather", rows(), array([2, 0, 1, 0], "int32"))
    record("gather", array([5, 6, 7, 8]), NUMBERS), record("gather", rows(), NUMBERS, gradient=False)
    record("gather", rows(), ragged(array([1, 0, 0], "int32"), [0, 1, 1, 2, 3]), batch_dims=1, gradient=False)
    record("gather_nd", rows(), array([[0, 2], [3, 0]], "int32"), gradient=False)
    record("where", ragged(array([1, 0, 1, 1, 0, 0]) > 0, [0, 3, 3, 5, 6]), rows(), rows(seed=1), gradient=False)
    record("where", ragged(array([1, 0, 1]) > 0, [0, 2, 3]))
    record("one_hot", NUMBERS, 4), record("size", rows()), record("rank", DEEP), record("reverse", rows(), [0])
    record("reverse", rows(), axis=[1])
    record("nn.embedding_lookup", data((5, 2), "float32"), NUMBERS), record("math.bincount", NUMBERS)
    record("math.bincount", NUMBERS, axis=-1), record("nn.relu", rows()), record("squeeze", tf.expand_dims(rows(), 0), [0])
    for index in (0, -1, (slice(1, 3),), (0, 1), (slice(None), slice(None, 1)), (slice(None), slice(-1, None)), (slice(None, None, 2),)):
        record("getitem", rows(), index)
    record("getitem", DEEP, (2, 0)), record("getitem", DEEP, (slice(None), slice(1, None))), record("getitem", WIDE_ROWS, (..., 0))
    refused("getitem", "ValueError", rows(), (slice(None), 0))


if __name__ == "__main__": save("ops_ragged.json.gz", made, given_to_functions)
