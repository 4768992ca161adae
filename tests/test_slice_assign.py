"""`variable[key].assign(...)`: NumPy's item assignment, and nothing that was read before changes."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf

PART = st.slices(4) | st.integers(-4, 3)
KEYS = st.tuples(PART) | st.tuples(PART, PART) | st.just((Ellipsis, 1)) | st.just((None, slice(1, None))) | st.just((slice(None), None, 2))


@given(KEYS, st.sampled_from(["assign", "assign_add", "assign_sub"]))
def test_every_kind_of_slice(key, what):
    expected = np.arange(16.0).reshape(4, 4)
    v, before = tf.Variable(expected), expected[key].copy()
    value = np.arange(expected[key].size, dtype=float).reshape(expected[key].shape) * 10 + 1
    part = v[key]
    if what == "assign": result, expected[key] = part.assign(value), value
    else:
        result = (part.assign_add if what == "assign_add" else part.assign_sub)(value)
        expected[key] += value if what == "assign_add" else -value
    assert result is v
    np.testing.assert_array_equal(v.numpy(), expected)
    np.testing.assert_array_equal(part.numpy(), before)


def test_values_broadcast_and_fit():
    v = tf.Variable(np.zeros((3, 4)))
    v[1].assign(5), v[:, 1:3].assign([1.0, 2.0]), v[0].assign(np.ones((1, 4))), v[2, 3].assign([7.0])
    np.testing.assert_array_equal(v.numpy(), [[1, 1, 1, 1], [5, 1, 2, 5], [0, 1, 2, 7]])
    v[tf.constant(2), tf.constant(0):tf.constant(2)].assign([8, 9])
    assert v[2].numpy().tolist() == [8, 9, 2, 7]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assign: .*\(3, 4\).*\(2, 4\)"): v[:2].assign(np.ones((3, 4)))
    with pytest.raises(ValueError, match="float32"): v[0].assign(tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="getitem"): v[5].assign(0)


def test_a_tensor_has_no_assign():
    for x in (tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0])[:1], tf.Variable([1.0]).value()[:1]):
        assert not hasattr(x, "assign")
        with pytest.raises(AttributeError, match="slice of a variable"): x.assign(1.0)
    with pytest.raises(AttributeError, match="nonsense"): tf.Variable([1.0])[:1].nonsense


def test_earlier_tensors_keep_their_values_and_aliases_are_safe():
    v = tf.Variable([1.0, 2.0, 3.0])
    whole, view = v.value(), v[:2]
    v[1:].assign(v[:-1])
    assert v.numpy().tolist() == [1, 1, 2] and whole.numpy().tolist() == [1, 2, 3] and view.numpy().tolist() == [1, 2]


def test_a_slice_is_written_in_place_when_nobody_else_looks():
    v = tf.Variable(np.zeros(1000))
    before = v.array.__array_interface__["data"][0]
    v[10:20].assign(1.0)
    assert v.array.__array_interface__["data"][0] == before


def test_gradients_see_the_value_at_the_time_of_reading():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
        v[0].assign(10.0)
        z = y + tf.reduce_sum(v * v)
    assert tape.gradient(z, v).numpy().tolist() == [22, 8]
