"""Optional, loss scales, the features of AutoGraph."""
import numpy as np
import pytest

import tfedu as tf


def test_optional():
    some = tf.experimental.Optional.from_value({"a": tf.constant([1., 2.]), "b": 3})
    assert some.has_value().numpy() and some.get_value()["b"].numpy() == 3
    assert some.element_spec == {"a": tf.TensorSpec([2], tf.float32), "b": tf.TensorSpec([], tf.int32)}
    none = tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32))
    assert not none.has_value().numpy() and none.element_spec == tf.TensorSpec([], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no value"): none.get_value()
    sp = tf.SparseTensor([[0]], [1.], [2])
    assert tf.experimental.Optional.from_value(sp).get_value() is sp and tf.data.experimental.Optional is tf.experimental.Optional


def test_fixed_loss_scale():
    scale = tf.mixed_precision.experimental.FixedLossScale(8)
    assert scale().numpy() == 8 and scale().dtype is tf.float32 and scale.update([tf.constant(np.inf)]) == (None, True)
    assert scale.get_config() == {"loss_scale_value": 8.} and repr(scale) == "FixedLossScale(8.0)"
    assert tf.mixed_precision.experimental.FixedLossScale.from_config(scale.get_config())().numpy() == 8
    assert isinstance(scale, tf.mixed_precision.experimental.LossScale)
    for bad in (.5, "dynamic", True, float("nan")):
        with pytest.raises(ValueError): tf.mixed_precision.experimental.FixedLossScale(bad)


def test_dynamic_loss_scale():
    scale = tf.mixed_precision.experimental.DynamicLossScale(4, increment_period=2, multiplier=4)
    seen = []
    for g in (1., 1., 1., np.inf, 1., np.nan, 1., 1., np.inf, np.inf, np.inf):
        _, apply = scale.update({"x": [tf.constant([g, 0.]), None]})
        seen.append((float(scale()), bool(apply)))
    assert [s for s, _ in seen] == [4, 16, 16, 4, 4, 1, 1, 4, 1, 1, 1]
    assert [a for _, a in seen] == [True, True, True, False, True, False, True, True, False, False, False]
    assert scale.get_config() == {"initial_loss_scale": 4., "increment_period": 2, "multiplier": 4.}
    assert (scale.initial_loss_scale, scale.increment_period, scale.multiplier) == (4., 2, 4.) and "num_good_steps=0" in repr(scale)
    again = tf.mixed_precision.experimental.DynamicLossScale.from_config(scale.get_config())
    assert again().numpy() == 4 and tf.mixed_precision.experimental.DynamicLossScale()().numpy() == 2**15


def test_the_scale_stays_finite():
    scale = tf.mixed_precision.experimental.DynamicLossScale(2.**127, increment_period=1)
    scale.update([tf.constant(1.)])
    assert scale().numpy() == np.float32(2.**127)
    _, apply = scale.update([tf.IndexedSlices(tf.constant([[np.inf]]), tf.constant([0]))])
    assert not apply and scale().numpy() == np.float32(2.**126)


def test_a_loss_scale_of_ones_own():
    with pytest.raises(NotImplementedError): tf.mixed_precision.experimental.LossScale()()
    class Two(tf.mixed_precision.experimental.LossScale):
        def __call__(self): return tf.constant(2.)
        def get_config(self): return {}
    assert Two.from_config(Two().get_config())().numpy() == 2


def test_features_of_autograph():
    every = tf.autograph.experimental.Feature.all()
    assert len(every) == 7 and tf.autograph.experimental.Feature.ALL in every
    assert tf.autograph.experimental.Feature.LISTS.value == "LISTS"
    rest = tf.autograph.experimental.Feature.all_but(tf.autograph.experimental.Feature.LISTS)
    assert set(every) - set(rest) == {tf.autograph.experimental.Feature.ALL, tf.autograph.experimental.Feature.LISTS}
