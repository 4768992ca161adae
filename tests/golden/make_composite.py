"""Records composite.json.gz: sparse, ragged and indexed tensors, their operators, sets, and tensor arrays.

usage, in an environment with TensorFlow: python make_composite.py (the format is described in recording.py)
"""
import numpy as np
import tensorflow as tf
from recording import Public, array, record, save

F, R = np.float32, tf.RaggedTensor
s1 = tf.SparseTensor([[0, 1], [0, 3], [2, 0]], [1.0, -2.0, 4.0], [3, 4])
s2 = tf.SparseTensor([[0, 0], [0, 3], [1, 2]], [5.0, 2.0, -3.0], [3, 4])
mixed = tf.SparseTensor([[2, 0], [0, 3], [0, 1]], [4.0, -2.0, 1.0], [3, 4])
rt, rf = tf.ragged.constant([[1, 2, 3], [], [4]]), tf.ragged.constant([[1.5, 2.0], [], [4.0]])
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])
pairs = tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)
words = tf.ragged.constant([["a", "b"], [], ["c"]])


def sparse():
    record("sparse.to_dense", s1), record("sparse.to_dense", s1, -1.0), record("sparse.from_dense", [[0, 1], [2, 0]])
    record("sparse.reorder", mixed), record("sparse.reshape", s1, [2, -1]), record("sparse.transpose", s1)
    record("sparse.transpose", tf.sparse.reshape(s1, [3, 2, 2]), [2, 0, 1]), record("sparse.expand_dims", s1)
    record("sparse.expand_dims", s1, 1)
    for axis in (0, 1): record("sparse.concat", axis, [s1, s2], gradient=False)      # TensorFlow has none, and does not say so
    record("sparse.concat", 0, [s1, tf.sparse.transpose(s2)], expand_nonconcat_dims=True, gradient=False)
    record("sparse.split", sp_input=s1, num_split=3, axis=1), record("sparse.slice", s1, [0, 1], [2, 9])
    record("sparse.retain", s1, [True, False, True]), record("sparse.reset_shape", tf.sparse.slice(s1, [0, 0], [2, 2]))
    record("sparse.reset_shape", s1, [5, 6]), record("sparse.fill_empty_rows", s1, 7.0), record("sparse.eye", 2, 3)
    record("sparse.to_indicator", tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([3, 1, 0], tf.int64), [3, 2]), 5)
    record("sparse.mask", tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([5, 1, 3]), tf.constant([9, 1])), [1, 4])
    record("sparse.map_values", Public("abs"), s1), record("sparse.add", s1, s2), record("sparse.add", s1, s2, threshold=0.5)
    record("sparse.add", s1, np.ones((3, 4), F))
    for name in ("maximum", "minimum"): record(f"sparse.{name}", s1, s2, gradient=False)     # TensorFlow's is a TypeError
    record("sparse.reduce_sum", s1), record("sparse.reduce_sum", s1, 1), record("sparse.reduce_sum", s1, [0], keepdims=True)
    record("sparse.reduce_sum", s1, -1, output_is_sparse=True), record("sparse.reduce_max", s2, 1)
    record("sparse.reduce_max", s1, 0, keepdims=True), record("sparse.softmax", s2)
    record("sparse.sparse_dense_matmul", s1, np.arange(8, dtype=F).reshape(4, 2))
    record("sparse.sparse_dense_matmul", s1, np.arange(6, dtype=F).reshape(2, 3), adjoint_a=True, adjoint_b=True)
    record("sparse.sparse_dense_matmul", np.arange(6, dtype=F).reshape(2, 3), s1)
    record("sparse.sparse_dense_matmul", s1, np.ones((4, 2), F))
    record("sparse.segment_sum", np.arange(6.0).reshape(3, 2), [2, 0, 1, 1], [0, 0, 1, 3])
    record("sparse.segment_mean", np.arange(6.0).reshape(3, 2), [2, 0, 1, 1], [0, 0, 1, 3])
    record("sparse.segment_sqrt_n", np.arange(6.0).reshape(3, 2), [2, 0, 1, 1], [0, 0, 1, 3], num_segments=5)
    record("sparse.bincount", [1, 3, 3, 0]), record("sparse.bincount", [[1, 3, 3], [0, 0, 1]], axis=-1)
    record("sparse.bincount", [[1, 3, 3], [0, 0, 1]], axis=-1, weights=[[1.0, 2, 3], [4, 5, 6]])
    record("sparse.bincount", [[1, 3, 3], [0, 0, 1]], axis=-1, binary_output=True)
    record("sparse.bincount", [1, 3, 3, 0], minlength=2, maxlength=3), record("sparse.bincount", [1, 3, 3, 0], minlength=10)
    record("sparse.bincount", tf.sparse.from_dense([[1, 0, 3], [0, 0, 2]]), axis=-1), record("sparse.bincount", rt, axis=-1)


def crossing():
    record("sparse.cross", [tf.sparse.from_dense([["a", "b"], ["c", ""]]), tf.constant([[1, 2], [3, 4]])])
    record("sparse.cross", [tf.constant([["x"], ["y"]]), tf.constant([["v", "w"], ["s", "t"]])], separator="#")
    record("sparse.cross_hashed", [tf.constant([["a", "bb"]]),
        tf.constant([["a text of more than sixty four letters takes the longest way of all"]])], 1000)
    record("sparse.cross_hashed", [tf.constant([[1, 2]]), tf.constant([[3]])])
    record("ragged.cross", [words, tf.constant([["p"], ["q"], ["r"]])])
    record("ragged.cross_hashed", [words, tf.constant([[1], [2], [3]])], num_buckets=100, hash_key=7)
    record("ragged.cross_hashed", [tf.constant([["", "a", "abcd", "abcdefgh", "abcdefghijklmnopq",
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"]])]), record("sets.size", tf.sparse.from_dense([[1, 2, 2], [3, 0, 0]]))
    record("sets.intersection", [[1, 2, 2], [3, 4, 5]], [[2, 9, 9], [5, 4, 0]])
    record("sets.difference", [[1, 2, 2], [3, 4, 5]], [[2, 9, 9], [5, 4, 0]])
    record("sets.difference", [[1, 2, 2], [3, 4, 5]], [[2, 9, 9], [5, 4, 0]], aminusb=False)
    record("sets.union", [["b", "a"]], [["c", "a"]]), record("sets.intersection", [[[1, 2], [3, 4]]], [[[2, 5], [4, 3]]])
    record("sets.union", tf.sparse.from_dense([[1, 2, 0], [0, 0, 0]]), tf.sparse.from_dense([[7], [0]]))
    record("SparseTensor.__mul__", s1, np.arange(12, dtype=F).reshape(3, 4)), record("SparseTensor.__truediv__", s1, 2.0)


def rows():
    record("RaggedTensor.row_lengths", rt), record("RaggedTensor.row_lengths", deep, axis=2), record("RaggedTensor.bounding_shape", deep)
    record("RaggedTensor.nested_value_rowids", deep), record("RaggedTensor.merge_dims", deep, 0, 1)
    record("RaggedTensor.merge_dims", deep, 1, 2), record("RaggedTensor.merge_dims", deep, 0, 2), record("RaggedTensor.to_tensor", rt)
    record("RaggedTensor.to_tensor", rt, -1, shape=[None, 2]), record("RaggedTensor.to_tensor", deep, 9)
    record("RaggedTensor.to_sparse", deep), record("RaggedTensor.to_tensor", pairs), record("RaggedTensor.to_sparse", rt)
    record("RaggedTensor.from_tensor", [[1, 2, 0], [3, 0, 0]], padding=0)
    record("RaggedTensor.from_tensor", [[1, 2, 0], [3, 0, 0]], lengths=[1, 2])
    record("RaggedTensor.from_tensor", [[[1, 0], [2, 3]], [[0, 0], [4, 0]]], padding=0, ragged_rank=2)
    record("RaggedTensor.from_tensor", [[[1, 0], [2, 3]], [[0, 0], [4, 0]]], lengths=([1, 2], [2, 0, 1]))
    record("RaggedTensor.from_sparse", tf.sparse.from_dense([[1, 2], [3, 0]]))
    record("RaggedTensor.from_value_rowids", [1, 2, 3], [0, 0, 2], 4), record("RaggedTensor.from_uniform_row_length", [1, 2, 3, 4, 5, 6], 2)
    record("RaggedTensor.from_nested_row_lengths", [1, 2, 3], [[1, 2], [1, 0, 2]])


def parts():
    record("getitem", rt, np.s_[0]), record("getitem", rt, np.s_[1:]), record("getitem", rt, np.s_[:, 1:])
    record("getitem", rt, np.s_[:, -1:]), record("getitem", rt, np.s_[:, ::2]), record("getitem", rt, np.s_[:, ::-1])
    record("getitem", rt, np.s_[..., :2]), record("getitem", rt, np.s_[tf.newaxis]), record("getitem", rt, np.s_[:, tf.newaxis])
    record("getitem", rt, np.s_[:, :, tf.newaxis]), record("getitem", rt, np.s_[::-1]), record("getitem", deep, np.s_[:, 1:])
    record("getitem", deep, np.s_[:, :, :1]), record("getitem", deep, np.s_[2, 0]), record("getitem", deep, np.s_[2, 1:, -1:])
    record("getitem", pairs, np.s_[:, :, 1]), record("getitem", pairs, np.s_[:, 1:, 0])
    record("getitem", R.from_uniform_row_length([1, 2, 3, 4, 5, 6], 2), np.s_[:, 1])


def arithmetic():
    record("RaggedTensor.__add__", rt, 1), record("RaggedTensor.__sub__", 2 * rt, rt)
    record("RaggedTensor.__add__", rt, tf.constant([[1], [2], [3]]))
    record("RaggedTensor.__add__", deep, tf.constant([[[1]], [[2]], [[3]]])), record("RaggedTensor.__gt__", deep * 2, 4)
    record("RaggedTensor.__add__", pairs, tf.constant([10, 20])), record("RaggedTensor.__neg__", rf)
    record("RaggedTensor.__truediv__", rf, 2.0), record("RaggedTensor.__floordiv__", rf, 0.7), record("RaggedTensor.__pow__", rf, 2.0)
    record("math.exp", rf), record("maximum", rt, 2), record("cast", rt, tf.float32), record("where", rt > 1, rt, -rt)
    record("where", rt > 1), record("where", deep > 2), record("zeros_like", rt), record("one_hot", rt, 5)
    record("RaggedTensor.__eq__", rt, rt), record("RaggedTensor.__eq__", rt, 2), record("RaggedTensor.__ne__", rt, 2)
    record("RaggedTensor.__add__", words, "!")


def reductions():
    record("reduce_sum", rt), record("reduce_sum", rt, 0), record("reduce_sum", rt, 1), record("reduce_sum", rt, -1, keepdims=True)
    record("reduce_sum", rt, 0, keepdims=True), record("reduce_sum", deep, 0), record("reduce_sum", deep, 1), record("reduce_sum", deep, 2)
    record("reduce_sum", deep, [1, 2]), record("reduce_sum", deep, [0, 2]), record("reduce_sum", pairs, 1), record("reduce_sum", pairs, 2)
    record("reduce_prod", rt, 1), record("reduce_max", rt[::2], 1), record("reduce_min", deep[:1], 2), record("reduce_mean", rf[::2], 1)
    record("reduce_mean", deep[:1], [1, 2]), record("reduce_any", rt > 3, 1), record("reduce_all", rt > 0, 0)
    record("reduce_max", R.from_row_lengths([2.0, 2.0, 1.0, 5.0], [3, 1]), 1)
    record("reduce_mean", R.from_row_lengths([2.0, 2.0, 1.0, 5.0], [3, 1]), 1)


def joining():
    record("concat", [rt, rt], 0), record("concat", [rt, rt], 1), record("concat", [deep, deep], 2)
    record("concat", [rt, [[7], [8], [9]]], 1), record("stack", [rt, rt]), record("stack", [rt, rt], 1), record("stack", [rt, rt], 2)
    record("ragged.stack", [[1, 2], [3]]), record("ragged.stack", [rt, rt]), record("gather", rt, [2, 0])
    record("gather", rt, [[0, 2], [1, 1]]), record("gather", rt, tf.ragged.constant([[0, 2], [1]])), record("gather", [5, 6, 7, 8, 9], rt)
    record("gather", rt, tf.ragged.constant([[0], [], [0]]), batch_dims=1), record("gather", deep, 2)
    record("gather_nd", rt, [[0, 1], [2, 0]]), record("gather_nd", rt, [[0], [2]]), record("gather_nd", deep, [[0, 0], [2, 2]])
    record("gather_nd", deep, [[0, 0, 1], [2, 2, 0]]), record("ragged.boolean_mask", rt, rt > 1)
    record("ragged.boolean_mask", [[1, 2], [3, 4]], [[True, False], [True, True]]), record("ragged.boolean_mask", rt, [True, False, True])
    record("ragged.boolean_mask", deep, deep > 2)
    record("ragged.boolean_mask", deep, tf.ragged.constant([[True, False], [], [False, True, True]])), record("expand_dims", rt, 0)
    record("expand_dims", rt, 1), record("expand_dims", rt, -1), record("squeeze", tf.expand_dims(rt, 1), 1), record("tile", rt, [2, 1])
    record("tile", rt, [1, 2]), record("tile", deep, [1, 2, 2]), record("reverse", rt, [0]), record("reverse", rt, [1])
    record("reverse", deep, [0, 2]), record("size", deep), record("rank", deep), record("ragged.range", [3, 5], [5, 8])
    record("ragged.range", [3, 0, 9], [6, 0, 1], [1, 1, -3]), record("ragged.range", [2, 3])
    record("ragged.constant", [[[1, 2], [3, 4]], []], ragged_rank=1), record("ragged.constant", [[[1, 2], [3, 4]], []], inner_shape=(2,))
    record("ragged.constant", []), record("ragged.constant", [[], []]), record("ragged.constant", [["a", "b"], ["c"]])
    record("ragged.row_splits_to_segment_ids", [0, 3, 3, 5]), record("ragged.segment_ids_to_row_splits", [0, 0, 2], 4)
    record("ragged.stack_dynamic_partitions", ["a", "b", "c"], [1, 0, 1], 3), record("ragged.map_flat_values", Public("square"), rt)
    record("ragged.map_flat_values", Public("add"), rt, rt)
    record("RaggedTensor.__str__", rt), record("RaggedTensor.__repr__", deep[:1, :1]), record("SparseTensor.__str__", s1)
    record("math.reduce_variance", rf[::2], 1), record("math.reduce_variance", tf.cast(deep[2:], tf.float32), [1, 2])
    record("math.reduce_std", rf[::2]), record("add_n", [rt, rt]), record("clip_by_value", rf, 1.6, 3.0), record("nn.softmax", rf)
    record("RaggedTensor.__truediv__", tf.cast(deep, tf.float32), 3.0)


def arrays():
    record("TensorArray", tf.float32, 3, [["write", 2, 1.0], ["write", 0, 2.0], ["stack"]], how="methods")
    record("TensorArray", tf.float32, 0, [["write", 1, [1.0, 2.0]], ["stack"]], dynamic_size=True, how="methods")
    record("TensorArray", tf.float32, 3, [["unstack", [[1.0], [2.0], [3.0]]], ["gather", [2, 0]]], how="methods")
    record("TensorArray", tf.float32, 2, [["split", [[1.0], [2.0], [3.0]], [1, 2]], ["concat"]], how="methods")
    record("TensorArray", tf.float32, 4, [["scatter", [3, 1], [5.0, 6.0]], ["stack"]], how="methods")
    record("TensorArray", tf.float32, 3, [["size"]], how="methods")
    record("TensorArray", tf.float32, 3, [["unstack", array([1, 2, 3])], ["gather", [0, 2, 2]]], how="methods")


if __name__ == "__main__": save("composite.json.gz", sparse, crossing, rows, parts, arithmetic, reductions, joining, arrays)
