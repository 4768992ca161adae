"""Tables of tf.lookup."""
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf

RECORD = json.loads(gzip.decompress((Path(__file__).parent / "golden" / "io.json.gz").read_bytes()))


def table(keys, values, default=-1): return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), default)


@given(st.dictionaries(st.integers(-50, 50), st.integers(0, 99), max_size=20), st.lists(st.integers(-60, 60), max_size=20))
def test_as_a_dictionary(pairs, wanted):
    keys, values = (tf.constant(list(v), tf.int64) for v in (pairs, pairs.values()))
    found = table(keys, values)
    assert found.lookup(tf.constant(wanted, tf.int64)).numpy().tolist() == [pairs.get(k, -1) for k in wanted]
    assert found.size().numpy() == len(pairs)


def test_static_hash_table():
    t = table(["a", "b", "a"], [1, 2, 1])
    assert t.size().numpy() == 2 and t[tf.constant([["b", "x"]])].numpy().tolist() == [[2, -1]]
    keys, values = t.export()
    assert dict(zip(keys.numpy(), values.numpy(), strict=True)) == {b"a": 1, b"b": 2}
    sp = tf.SparseTensor([[0, 1], [1, 0]], ["b", "x"], [2, 2])
    assert t.lookup(sp).values.numpy().tolist() == [2, -1]
    assert t.lookup(tf.RaggedTensor.from_row_splits(["a", "x"], [0, 0, 2])).to_list() == [[], [1, -1]]
    words = table(tf.constant([1, 2], tf.int64), ["x", "y"], "?")
    assert words.lookup(tf.constant([2, 3], tf.int64)).numpy().tolist() == [b"y", b"?"]
    with pytest.raises(TypeError, match="keys must be string, got int32"): t.lookup(tf.constant([1]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="two values"): table(["a", "a"], [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="keys are"): table(["a", "b"], [1])
    with pytest.raises(ValueError, match="scalar"): table(["a"], [1], [0, 0])


def test_text_files(tmp_path):
    path = str(tmp_path / "v.txt")
    tf.io.write_file(path, "tea\t10\nmilk\t20\nrum\t30\n")
    line, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    def init(*args, **k): return tf.lookup.TextFileInitializer(path, *args, **k)
    columns = tf.lookup.StaticHashTable(init(tf.string, 0, tf.int64, 1), -1)
    assert columns[tf.constant(["rum", "x"])].numpy().tolist() == [30, -1]
    numbers = tf.lookup.StaticHashTable(init(tf.int64, number, tf.string, line, vocab_size=2), "?")
    assert numbers[tf.constant([1, 2], tf.int64)].numpy().tolist() == [b"milk\t20", b"?"]
    floats = tf.lookup.StaticHashTable(init(tf.string, 0, tf.float32, 1), 0.)
    assert floats[tf.constant("tea")].numpy() == 10
    def table_of(*args, **k): return tf.lookup.StaticHashTable(init(*args, **k), 0)
    for bad in (lambda: init(tf.float32, line, tf.int64, 1), lambda: init(tf.string, number, tf.int64, 1),
                lambda: init(tf.string, -3, tf.int64, 1), lambda: init(tf.string, 0, tf.int64, 1, vocab_size=0)):
        with pytest.raises(ValueError): bad()
    for bad in (lambda: table_of(tf.string, 0, tf.int64, 2), lambda: table_of(tf.string, 0, tf.int64, 1, delimiter=" "),
                lambda: table_of(tf.string, 1, tf.int64, 0), lambda: table_of(tf.string, 0, tf.int64, 1, vocab_size=4)):
        with pytest.raises(tf.errors.InvalidArgumentError): bad()
    with pytest.raises(tf.errors.NotFoundError):
        tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(str(tmp_path / "no"), tf.string, line, tf.int64, number), 0)
    tf.io.write_file(path, "")
    assert tf.lookup.StaticHashTable(init(tf.string, line, tf.int64, number), 0).size().numpy() == 0


def test_data_sets_of_pairs():
    pairs = [(tf.constant("a"), tf.constant(1, tf.int64)), (tf.constant("b"), tf.constant(2, tf.int64))]
    t = tf.lookup.StaticHashTable(tf.lookup.experimental.DatasetInitializer(pairs), 0)
    assert t[tf.constant(["b", "c"])].numpy().tolist() == [2, 0]
    with pytest.raises(ValueError, match="empty"): tf.lookup.experimental.DatasetInitializer([])
    with pytest.raises(ValueError, match="pairs"): tf.lookup.experimental.DatasetInitializer([(1, 2, 3)])


@pytest.mark.parametrize("name", sorted(RECORD["vocabulary"]))
def test_buckets_of_tensorflow(name):
    kind, buckets = name.split()
    keys, wanted = RECORD["vocabulary"][name]
    init = tf.lookup.KeyValueTensorInitializer(tf.constant(keys[:2], kind), tf.constant([0, 1], tf.int64))
    t = tf.lookup.StaticVocabularyTable(init, int(buckets))
    assert t.lookup(tf.constant(keys, kind)).numpy().tolist() == wanted and t.size().numpy() == 2 + int(buckets)


def test_vocabulary_table():
    ids = tf.constant([0, 1], tf.int64)
    known = tf.lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), ids)
    t = tf.lookup.StaticVocabularyTable(known, 2, lookup_key_dtype=tf.int32)
    assert t[tf.constant([6, 5])].numpy().tolist() == [1, 0]
    only = tf.lookup.StaticVocabularyTable(None, 4, lookup_key_dtype=tf.string)
    assert only.size().numpy() == 4 and (only[tf.constant([["a", "b"]])].numpy() < 4).all()
    sp = only.lookup(tf.SparseTensor([[0, 0]], ["a"], [1, 1]))
    assert sp.values.numpy()[0] == only[tf.constant("a")].numpy()
    init = tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64))
    for bad, kind in ((lambda: tf.lookup.StaticVocabularyTable(init, 0), ValueError),
                      (lambda: tf.lookup.StaticVocabularyTable(init, 1, tf.float32), TypeError),
                      (lambda: tf.lookup.StaticVocabularyTable(init, 1, tf.int64), TypeError),
                      (lambda: tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], [0]), 1), TypeError)):
        with pytest.raises(kind): bad()


def test_dense_hash_table():
    t = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1., empty_key=0, deleted_key=-1, initial_num_buckets=8)
    t.insert(tf.constant([3, 4], tf.int64), [.5, 1.])
    t.insert_or_assign(tf.constant([4], tf.int64), [2.])
    assert t.lookup(tf.constant([[3, 4, 5]], tf.int64)).numpy().tolist() == [[.5, 2., -1.]] and t.size().numpy() == 2
    t.erase(tf.constant([3, 9], tf.int64))
    assert t[tf.constant([3], tf.int64)].numpy().tolist() == [-1.]
    keys, values = t.export()
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([4], [2.])
    t.remove(tf.constant([4], tf.int64))
    assert t.size().numpy() == 0 and t.export()[0].shape == (0,) and t.export()[1].shape == (0,)
    for bad in (lambda: t.lookup(tf.constant([0], tf.int64)), lambda: t.insert(tf.constant([-1], tf.int64), [1.]),
                lambda: t.insert(tf.constant([1, 2], tf.int64), [1.]),
                lambda: tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0., 1, 1),
                lambda: tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0., 1, 2, initial_num_buckets=3)):
        with pytest.raises(tf.errors.InvalidArgumentError): bad()


def test_dense_hash_table_of_vectors():
    t = tf.lookup.experimental.DenseHashTable(tf.int64, tf.string, "", empty_key=[0, 0], deleted_key=[-1, -1])
    t.insert(tf.constant([[1, 2], [3, 4]], tf.int64), ["a", "b"])
    assert t.lookup(tf.constant([[[3, 4], [3, 5]]], tf.int64)).numpy().tolist() == [[b"b", b""]]
    assert t.export()[0].shape == (2, 2) and t.export()[1].numpy().tolist() == [b"a", b"b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="keys have shape"): t.lookup(tf.constant([1, 2, 3], tf.int64))


def test_values_that_change_later_do_not_reach_the_table():
    a = np.array([1., 2.], np.float32)
    t = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, [0., 0.], 0, -1)
    t.insert(tf.constant([1], tf.int64), a[None])
    a[:] = 9
    assert t[tf.constant(1, tf.int64)].numpy().tolist() == [1., 2.]


# -- tables in graphs -----------------------------------------------------------------------------------------------------------------

def numbers(): return tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))


@pytest.mark.parametrize("table", [tf.lookup.StaticHashTable(numbers(), -1), tf.lookup.StaticVocabularyTable(numbers(), 3)])
def test_lookup_in_a_function(table):
    words = tf.constant(["b", "z", "a"])
    f = tf.function(lambda x: table.lookup(x) + 1, input_signature=[tf.TensorSpec([None], tf.string)])
    assert f(words).numpy().tolist() == (table.lookup(words) + 1).numpy().tolist()
    assert f.get_concrete_function().output_shapes.as_list() == [None] and f.get_concrete_function().output_dtypes is tf.int64
    assert tf.function(lambda x: table[x])(tf.constant([["b"]])).numpy().tolist() == [[1]]
    g = tf.function(lambda x: table.lookup(x), input_signature=[tf.TensorSpec(None, tf.string)])
    assert g(tf.constant("b")).numpy() == 1
    assert tf.function(lambda x: table.lookup(x).values)(tf.sparse.from_dense(tf.constant(["b"]))).numpy().tolist() == [1]
    assert tf.function(lambda x: table.lookup(x))(tf.ragged.constant([["b"], ["a", "a"]])).to_list() == [[1], [0, 0]]
    with pytest.raises(TypeError, match="keys must be string, got int32"): tf.function(table.lookup)(tf.constant([1]))


def test_a_table_that_changes_in_a_function():
    table = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "~")
    @tf.function
    def f(keys, values):
        table.insert(keys, values)
        full, found = table.size(), table.lookup(keys)
        table.remove(keys[:1])
        return full, found, table.lookup(keys), table.size(), table.export()
    full, found, later, left, (keys, values) = f(tf.constant(["q", "r"]), tf.constant([5, 6], tf.int64))
    assert (full.numpy(), found.numpy().tolist(), later.numpy().tolist(), left.numpy()) == (2, [5, 6], [-1, 6], 1)
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"r"], [6])
    full, *_ = f(tf.constant(["s", "t"]), tf.constant([7, 8], tf.int64))
    assert full.numpy() == 3 and table.size().numpy() == 2
    rows = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, [0., 0.], [0, 0], [-1, -1])
    rows.insert([[1, 2]], [[3., 4.]])
    g = tf.function(lambda k: rows.lookup(k), input_signature=[tf.TensorSpec([None, 2], tf.int64)])
    assert g.get_concrete_function().output_shapes.as_list() == [None, 2]
    assert g(tf.constant([[1, 2], [2, 1]], tf.int64)).numpy().tolist() == [[3., 4.], [0., 0.]]
