"""Writes composite.json: what TensorFlow itself makes of sparse and ragged tensors and tensor arrays.

usage: PYTHON-WITH-TENSORFLOW tests/golden/make_composite.py

Every expression is evaluated with `tf` and the names of `preamble`; stored is its value in the form that `plain` gives it.
test_golden_composite.py evaluates the same with tfedu.
"""
import json
from pathlib import Path

import numpy as np


def preamble(tf):
    "Names for the expressions."
    s1 = tf.SparseTensor([[0, 1], [0, 3], [2, 0]], [1.0, -2.0, 4.0], [3, 4])
    s2 = tf.SparseTensor([[0, 0], [0, 3], [1, 2]], [5.0, 2.0, -3.0], [3, 4])
    mixed = tf.SparseTensor([[2, 0], [0, 3], [0, 1]], [4.0, -2.0, 1.0], [3, 4])
    rt, rf = tf.ragged.constant([[1, 2, 3], [], [4]]), tf.ragged.constant([[1.5, 2.0], [], [4.0]])
    deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])
    pairs = tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)
    words = tf.ragged.constant([["a", "b"], [], ["c"]])
    return {"tf": tf, "np": np, "sp": tf.sparse, "rg": tf.ragged, "R": tf.RaggedTensor, "s1": s1, "s2": s2, "mixed": mixed,
            "rt": rt, "rf": rf, "deep": deep, "pairs": pairs, "words": words, "slope": slope(tf),
            "array": lambda *a, **k: tf.TensorArray(tf.float32, *a, **k)}


def slope(tf):
    def slope(f, x):
        "The gradient of `f` by its argument."
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)
    return slope


def plain(tf, x):
    "Numbers, text and lists that JSON can hold."
    if isinstance(x, tf.SparseTensor): return ["sparse", x.dtype.name, *[plain(tf, p) for p in (x.indices, x.values, x.dense_shape)]]
    if isinstance(x, tf.RaggedTensor): return ["ragged", x.dtype.name, x.shape.as_list(), plain(tf, x.to_list())]
    if isinstance(x, tf.IndexedSlices): return ["slices", plain(tf, x.values), plain(tf, x.indices)]
    if isinstance(x, tf.Tensor): return ["tensor", x.dtype.name, x.shape.as_list(), plain(tf, x.numpy().tolist())]
    if isinstance(x, (list, tuple)): return [plain(tf, v) for v in x]
    if isinstance(x, bytes): return x.decode()
    return x if isinstance(x, (int, float, str, bool, type(None))) else repr(x)


EXPRESSIONS = """
sp.to_dense(s1)
sp.to_dense(s1, -1.0)
sp.from_dense([[0, 1], [2, 0]])
sp.reorder(mixed)
sp.reshape(s1, [2, -1])
sp.transpose(s1)
sp.transpose(sp.reshape(s1, [3, 2, 2]), [2, 0, 1])
sp.expand_dims(s1)
sp.expand_dims(s1, 1)
sp.concat(0, [s1, s2])
sp.concat(1, [s1, s2])
sp.concat(0, [s1, sp.transpose(s2)], expand_nonconcat_dims=True)
sp.split(sp_input=s1, num_split=3, axis=1)
sp.slice(s1, [0, 1], [2, 9])
sp.retain(s1, [True, False, True])
sp.reset_shape(sp.slice(s1, [0, 0], [2, 2]))
sp.reset_shape(s1, [5, 6])
sp.fill_empty_rows(s1, 7.0)
sp.eye(2, 3)
sp.to_indicator(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([3, 1, 0], tf.int64), [3, 2]), 5)
sp.mask(tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([5, 1, 3]), tf.constant([9, 1])), [1, 4])
sp.map_values(tf.abs, s1)
sp.add(s1, s2)
sp.add(s1, s2, threshold=0.5)
sp.add(s1, np.ones((3, 4), np.float32))
sp.maximum(s1, s2)
sp.minimum(s1, s2)
sp.reduce_sum(s1)
sp.reduce_sum(s1, 1)
sp.reduce_sum(s1, [0], keepdims=True)
sp.reduce_sum(s1, -1, output_is_sparse=True)
sp.reduce_max(s2, 1)
sp.reduce_max(s1, 0, keepdims=True)
sp.softmax(s2)
sp.sparse_dense_matmul(s1, np.arange(8, dtype=np.float32).reshape(4, 2))
sp.sparse_dense_matmul(s1, np.arange(6, dtype=np.float32).reshape(2, 3), adjoint_a=True, adjoint_b=True)
sp.sparse_dense_matmul(np.arange(6, dtype=np.float32).reshape(2, 3), s1)
slope(lambda v: sp.sparse_dense_matmul(tf.SparseTensor(s1.indices, v, [3, 4]), np.ones((4, 2), np.float32)) ** 2, [1.0, 2.0, 3.0])
slope(lambda v: sp.sparse_dense_matmul(s1, v), np.ones((4, 2), np.float32))
slope(lambda v: sp.softmax(tf.SparseTensor(s1.indices, v, [3, 4])).values ** 2, [1.0, 2.0, 3.0])
slope(lambda v: sp.to_dense(tf.SparseTensor(s1.indices, v, [3, 4])) ** 3, [1.0, 2.0, 3.0])
sp.segment_sum(np.arange(6.0).reshape(3, 2), [2, 0, 1, 1], [0, 0, 1, 3])
sp.segment_mean(np.arange(6.0).reshape(3, 2), [2, 0, 1, 1], [0, 0, 1, 3])
sp.segment_sqrt_n(np.arange(6.0).reshape(3, 2), [2, 0, 1, 1], [0, 0, 1, 3], num_segments=5)
sp.bincount([1, 3, 3, 0])
sp.bincount([[1, 3, 3], [0, 0, 1]], axis=-1)
sp.bincount([[1, 3, 3], [0, 0, 1]], axis=-1, weights=[[1.0, 2, 3], [4, 5, 6]])
sp.bincount([[1, 3, 3], [0, 0, 1]], axis=-1, binary_output=True)
sp.bincount([1, 3, 3, 0], minlength=2, maxlength=3)
sp.bincount([1, 3, 3, 0], minlength=10)
sp.bincount(sp.from_dense([[1, 0, 3], [0, 0, 2]]), axis=-1)
sp.bincount(rt, axis=-1)
sp.cross([sp.from_dense([["a", "b"], ["c", ""]]), tf.constant([[1, 2], [3, 4]])])
sp.cross([tf.constant([["x"], ["y"]]), tf.constant([["v", "w"], ["s", "t"]])], separator="#")
sp.cross_hashed([tf.constant([["a", "bb"]]), tf.constant([["a text of more than sixty four letters takes the longest way of all"]])], 1000)
sp.cross_hashed([tf.constant([[1, 2]]), tf.constant([[3]])])
rg.cross([words, tf.constant([["p"], ["q"], ["r"]])])
rg.cross_hashed([words, tf.constant([[1], [2], [3]])], num_buckets=100, hash_key=7)
rg.cross_hashed([tf.constant([["", "a", "abcd", "abcdefgh", "abcdefghijklmnopq", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"]])])
tf.sets.size(sp.from_dense([[1, 2, 2], [3, 0, 0]]))
tf.sets.intersection([[1, 2, 2], [3, 4, 5]], [[2, 9, 9], [5, 4, 0]])
tf.sets.difference([[1, 2, 2], [3, 4, 5]], [[2, 9, 9], [5, 4, 0]])
tf.sets.difference([[1, 2, 2], [3, 4, 5]], [[2, 9, 9], [5, 4, 0]], aminusb=False)
tf.sets.union([["b", "a"]], [["c", "a"]])
tf.sets.intersection([[[1, 2], [3, 4]]], [[[2, 5], [4, 3]]])
tf.sets.union(sp.from_dense([[1, 2, 0], [0, 0, 0]]), sp.from_dense([[7], [0]]))
s1 * np.arange(12, dtype=np.float32).reshape(3, 4)
s1 / 2.0
rt.row_lengths()
deep.row_lengths(axis=2)
deep.bounding_shape()
deep.nested_row_splits
deep.nested_value_rowids()
deep.flat_values
deep.merge_dims(0, 1)
deep.merge_dims(1, 2)
deep.merge_dims(0, 2)
rt.to_tensor()
rt.to_tensor(-1, shape=[None, 2])
deep.to_tensor(9)
deep.to_sparse()
pairs.to_tensor()
rt.to_sparse()
R.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
R.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 2])
R.from_tensor([[[1, 0], [2, 3]], [[0, 0], [4, 0]]], padding=0, ragged_rank=2)
R.from_tensor([[[1, 0], [2, 3]], [[0, 0], [4, 0]]], lengths=([1, 2], [2, 0, 1]))
R.from_sparse(sp.from_dense([[1, 2], [3, 0]]))
R.from_value_rowids([1, 2, 3], [0, 0, 2], 4)
R.from_uniform_row_length([1, 2, 3, 4, 5, 6], 2)
R.from_nested_row_lengths([1, 2, 3], [[1, 2], [1, 0, 2]])
rt[0]
rt[1:]
rt[:, 1:]
rt[:, -1:]
rt[:, ::2]
rt[:, ::-1]
rt[..., :2]
rt[tf.newaxis]
rt[:, tf.newaxis]
rt[:, :, tf.newaxis]
rt[::-1]
deep[:, 1:]
deep[:, :, :1]
deep[2, 0]
deep[2, 1:, -1:]
pairs[:, :, 1]
pairs[:, 1:, 0]
R.from_uniform_row_length([1, 2, 3, 4, 5, 6], 2)[:, 1]
rt + 1
2 * rt - rt
rt + tf.constant([[1], [2], [3]])
deep + tf.constant([[[1]], [[2]], [[3]]])
deep * 2 > 4
pairs + tf.constant([10, 20])
-rf
rf / 2.0
rf // 0.7
rf ** 2.0
tf.math.exp(rf)
tf.maximum(rt, 2)
tf.cast(rt, tf.float32)
tf.where(rt > 1, rt, -rt)
tf.where(rt > 1)
tf.where(deep > 2)
tf.zeros_like(rt)
tf.one_hot(rt, 5)
rt == rt
rt == 2
rt != 2
words + "!"
tf.reduce_sum(rt)
tf.reduce_sum(rt, 0)
tf.reduce_sum(rt, 1)
tf.reduce_sum(rt, -1, keepdims=True)
tf.reduce_sum(rt, 0, keepdims=True)
tf.reduce_sum(deep, 0)
tf.reduce_sum(deep, 1)
tf.reduce_sum(deep, 2)
tf.reduce_sum(deep, [1, 2])
tf.reduce_sum(deep, [0, 2])
tf.reduce_sum(pairs, 1)
tf.reduce_sum(pairs, 2)
tf.reduce_prod(rt, 1)
tf.reduce_max(rt[::2], 1)
tf.reduce_min(deep[:1], 2)
tf.reduce_mean(rf[::2], 1)
tf.reduce_mean(deep[:1], [1, 2])
tf.reduce_any(rt > 3, 1)
tf.reduce_all(rt > 0, 0)
slope(lambda v: tf.reduce_max(R.from_row_lengths(v, [3, 1]), 1), [2.0, 2.0, 1.0, 5.0])
slope(lambda v: tf.reduce_mean(R.from_row_lengths(v, [3, 1]), 1), [2.0, 2.0, 1.0, 5.0])
tf.concat([rt, rt], 0)
tf.concat([rt, rt], 1)
tf.concat([deep, deep], 2)
tf.concat([rt, [[7], [8], [9]]], 1)
tf.stack([rt, rt])
tf.stack([rt, rt], 1)
tf.stack([rt, rt], 2)
rg.stack([[1, 2], [3]])
rg.stack([rt, rt])
tf.gather(rt, [2, 0])
tf.gather(rt, [[0, 2], [1, 1]])
tf.gather(rt, rg.constant([[0, 2], [1]]))
tf.gather([5, 6, 7, 8, 9], rt)
tf.gather(rt, rg.constant([[0], [], [0]]), batch_dims=1)
tf.gather(deep, 2)
tf.gather_nd(rt, [[0, 1], [2, 0]])
tf.gather_nd(rt, [[0], [2]])
tf.gather_nd(deep, [[0, 0], [2, 2]])
tf.gather_nd(deep, [[0, 0, 1], [2, 2, 0]])
rg.boolean_mask(rt, rt > 1)
rg.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
rg.boolean_mask(rt, [True, False, True])
rg.boolean_mask(deep, deep > 2)
rg.boolean_mask(deep, rg.constant([[True, False], [], [False, True, True]]))
tf.expand_dims(rt, 0)
tf.expand_dims(rt, 1)
tf.expand_dims(rt, -1)
tf.squeeze(tf.expand_dims(rt, 1), 1)
tf.tile(rt, [2, 1])
tf.tile(rt, [1, 2])
tf.tile(deep, [1, 2, 2])
tf.reverse(rt, [0])
tf.reverse(rt, [1])
tf.reverse(deep, [0, 2])
tf.size(deep)
tf.rank(deep)
rg.range([3, 5], [5, 8])
rg.range([3, 0, 9], [6, 0, 1], [1, 1, -3])
rg.range([2, 3])
rg.constant([[[1, 2], [3, 4]], []], ragged_rank=1)
rg.constant([[[1, 2], [3, 4]], []], inner_shape=(2,))
rg.constant([])
rg.constant([[], []])
rg.constant([["a", "b"], ["c"]])
rg.row_splits_to_segment_ids([0, 3, 3, 5])
rg.segment_ids_to_row_splits([0, 0, 2], 4)
rg.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 3)
rg.map_flat_values(tf.square, rt)
rg.map_flat_values(tf.add, rt, rt)
[str(rt), repr(deep[:1, :1])]
array(3).write(2, 1.0).write(0, 2.0).stack()
array(0, dynamic_size=True).write(1, [1.0, 2.0]).stack()
array(3).unstack([[1.0], [2.0], [3.0]]).gather([2, 0])
array(2).split([[1.0], [2.0], [3.0]], [1, 2]).concat()
array(4).scatter([3, 1], [5.0, 6.0]).stack()
array(3).size()
slope(lambda v: array(3).unstack(v).gather([0, 2, 2]) ** 2, [1.0, 2.0, 3.0])
""".strip().splitlines()


if __name__ == "__main__":
    import tensorflow
    names = preamble(tensorflow)
    answers = {}
    for e in EXPRESSIONS:
        try: answers[e] = plain(tensorflow, eval(e, dict(names)))
        except Exception as error: print(e, type(error).__name__, str(error)[:100])   # then it has no place in the list
    text = ",\n".join(f"{json.dumps(e)}: {json.dumps(a)}" for e, a in answers.items())
    Path(__file__).with_name("composite.json").write_text(f'{{"": {json.dumps(tensorflow.__version__)},\n{text}\n}}\n')
