"""Segments, partitions, competing updates: against loops over elements."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf

REDUCE = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean}
ROWS = st.lists(st.tuples(st.integers(-1, 4), st.integers(-3, 3), st.integers(-3, 3)), max_size=9)


@given(ROWS, st.sampled_from([np.float32, np.float64]), st.booleans())
def test_unsorted_segments_are_loops(rows, dtype, flat):
    ids, x = np.array([r[0] for r in rows], np.int32), np.array([r[1:] for r in rows], dtype).reshape(-1, 2)
    if flat: x = x[:, 0]
    calls = {"sum": tf.math.unsorted_segment_sum(x, ids, 5), "prod": tf.math.unsorted_segment_prod(x, ids, 5),
             "max": tf.math.unsorted_segment_max(x, ids, 5), "min": tf.math.unsorted_segment_min(x, ids, 5),
             "mean": tf.math.unsorted_segment_mean(x, ids, 5)}
    empty = {"sum": 0, "mean": 0, "prod": 1, "max": np.finfo(dtype).min, "min": np.finfo(dtype).max}
    for kind, found in calls.items():
        expected = [REDUCE[kind](x[ids == k], axis=0) if (ids == k).any() else np.full(x.shape[1:], empty[kind]) for k in range(5)]
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(tf.math.unsorted_segment_sqrt_n(x, ids, 5).numpy(),
                               [x[ids == k].sum(0) / np.sqrt(max((ids == k).sum(), 1)) for k in range(5)], rtol=1e-6)


@given(st.lists(st.integers(0, 3), max_size=8).map(sorted))
def test_segments_in_order(ids):
    x, count = np.arange(1.0, len(ids) + 1), max(ids, default=-1) + 1
    calls = {"sum": tf.math.segment_sum(x, np.array(ids, np.int64)), "prod": tf.math.segment_prod(x, np.array(ids, np.int64)),
             "max": tf.math.segment_max(x, np.array(ids, np.int64)), "min": tf.math.segment_min(x, np.array(ids, np.int64)),
             "mean": tf.math.segment_mean(x, np.array(ids, np.int64))}
    for kind, found in calls.items():
        runs = [x[np.array(ids) == k] for k in range(count)]
        np.testing.assert_allclose(found.numpy(), [REDUCE[kind](r) if len(r) else kind == "prod" for r in runs])


def test_half_precision_adds_up_in_single():
    x = np.ones((4096, 1), np.float16)
    assert float(tf.math.unsorted_segment_sum(x, np.zeros(4096, int), 1)[0, 0]) == 4096
    assert float(tf.math.segment_sum(x[:, 0], np.zeros(4096, int))[0]) == 4096


def test_the_product_without_each_factor_survives_zeros_and_differentiates_twice():
    x = tf.constant([0.0, 0.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.math.unsorted_segment_prod(x, [0, 0, 0], 1)
        g = tape.gradient(y, x)
    assert g.numpy().tolist() == [0, 0, 0]
    assert tf.convert_to_tensor(outer.gradient(g, x, tf.constant([1.0, 0, 0]))).numpy().tolist() == [0, 3, 0]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.data())
def test_stitch_undoes_partition(groups, data):
    x = np.arange(len(groups) * 2.0).reshape(-1, 2)
    parts, places = tf.dynamic_partition(x, groups, 3), tf.dynamic_partition(np.arange(len(groups)), groups, 3)
    for k, part in enumerate(parts): np.testing.assert_array_equal(part.numpy(), x[np.array(groups) == k])
    np.testing.assert_array_equal(tf.dynamic_stitch(places, parts).numpy(), x)


def test_stitch_of_text_and_gaps():
    assert tf.dynamic_stitch([[2], [0]], [["c"], ["a"]]).numpy().tolist() == [b"a", b"", b"c"]
    assert tf.dynamic_stitch([[2]], [[5.0]]).numpy().tolist() == [0, 0, 5]
    with pytest.raises(ValueError, match="one length"): tf.dynamic_stitch([[0]], [])
    with pytest.raises(ValueError, match="num_partitions"): tf.dynamic_partition([1], [0], 0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), max_size=6))
def test_the_largest_wins(updates):
    x, high, low = np.array([0, 2, -2, 1]), np.array([0, 2, -2, 1]), np.array([0, 2, -2, 1])
    at, u = np.array([[i] for i, _ in updates], np.int64).reshape(-1, 1), np.array([v for _, v in updates], np.int64)
    np.maximum.at(high, at[:, 0], u), np.minimum.at(low, at[:, 0], u)
    np.testing.assert_array_equal(tf.tensor_scatter_nd_max(x, at, u).numpy(), high)
    np.testing.assert_array_equal(tf.tensor_scatter_nd_min(x, at, u).numpy(), low)
