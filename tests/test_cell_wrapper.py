"""Recurrent cells inside others: with a way around, with holes, on a device."""
import numpy as np
import pytest

import tfedu as tf


class Leaky:
    "A cell whose state is a running mean of its inputs; the state is a pair, as of an LSTM."
    state_size, output_size = [3, 3], 3

    def __init__(self, share=.5): self.share = share

    def __call__(self, inputs, state):
        mean = self.share * inputs + (1 - self.share) * state[0]
        return mean, [mean, state[1] + 1]

    def get_config(self): return {"share": self.share}

    @classmethod
    def from_config(cls, config): return cls(**config)


@pytest.mark.parametrize("make", [
    lambda cell: tf.nn.RNNCellResidualWrapper(cell), lambda cell: tf.nn.RNNCellDeviceWrapper(cell, "CPU:0"),
    lambda cell: tf.nn.RNNCellDropoutWrapper(cell)])
def test_a_wrapper_has_the_sizes_and_the_states_of_its_cell(make):
    wrapped = make(Leaky())
    assert (wrapped.state_size, wrapped.output_size) == ([3, 3], 3)
    state = wrapped.zero_state(2, tf.float64)
    assert [(s.shape.as_list(), s.dtype) for s in state] == [([2, 3], tf.float64)] * 2
    _, after = wrapped(tf.ones([2, 3], tf.float64), state)
    np.testing.assert_array_equal(after[0], np.full((2, 3), .5))
    again = type(wrapped).from_config(wrapped.get_config(), {"Leaky": Leaky})
    assert type(again) is type(wrapped) and again.cell.share == .5
    with pytest.raises(ValueError, match="Leaky must be among custom_objects"): type(wrapped).from_config(wrapped.get_config())


def test_residuals_add_what_fits():
    x, state = tf.constant([[1., 2., 3.]]), [tf.zeros([1, 3])] * 2
    np.testing.assert_array_equal(tf.nn.RNNCellResidualWrapper(Leaky())(x, state)[0], [[1.5, 3, 4.5]])
    with pytest.raises(ValueError, match=r"RNNCellResidualWrapper.*\(1, 1\).*\(1, 3\)"):
        tf.nn.RNNCellResidualWrapper(Leaky())(tf.ones([1, 1]), state)


def test_dropout_forgets_by_place_and_keeps_sums():
    x, state = tf.ones([4000, 3]), [tf.zeros([4000, 3])] * 2
    tf.random.set_seed(1)
    out, _ = tf.nn.RNNCellDropoutWrapper(Leaky(1.), output_keep_prob=.25)(x, state)
    assert set(np.unique(out)) == {0, 4} and abs(np.mean(out) - 1) < .05
    visit = tf.nn.RNNCellDropoutWrapper(Leaky(1.), state_keep_prob=.5, dropout_state_filter_visitor=lambda s: [True, False])
    _, (mean, count) = visit(x, state)
    assert set(np.unique(mean)) == {0, 2} and set(np.unique(count)) == {1}
    gone, _ = tf.nn.RNNCellDropoutWrapper(Leaky(1.), input_keep_prob=0.)(x, state)
    assert not np.any(gone)


def test_variational_dropout_forgets_the_same_at_every_step():
    wrapped = tf.nn.RNNCellDropoutWrapper(Leaky(1.), .5, .5, .5, True, 3, tf.float32, seed=7)
    first, second = [wrapped(tf.ones([5, 3]), wrapped.zero_state(5, tf.float32)) for _ in range(2)]
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1][0], second[1][0])
    assert np.all(first[0] == first[0][:1])


@pytest.mark.parametrize("settings, words", [
    (dict(state_keep_prob=-.1), "state_keep_prob must be between 0 and 1"), (dict(variational_recurrent=True), "needs a dtype"),
    (dict(variational_recurrent=True, dtype=tf.float32, input_keep_prob=.5), "input_size")])
def test_impossible_settings_are_refused(settings, words):
    with pytest.raises(ValueError, match=words): tf.nn.RNNCellDropoutWrapper(Leaky(), **settings)


def test_what_is_no_cell_is_refused():
    with pytest.raises(TypeError, match="recurrent cell"): tf.nn.RNNCellDeviceWrapper(3, "CPU:0")
