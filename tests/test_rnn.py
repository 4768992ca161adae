"""Recurrent networks: against Keras on TensorFlow (golden/rnn.json.gz), against a loop of ops, and at the edges."""
import gzip
import json

import numpy as np
import pytest
from conftest import ROOT
from test_golden import decode

import tfedu as tf
from tfedu.autodiff.check import check_grads
from tfedu.autodiff.forward import jvp
from tfedu.core.tensor import OPS
from tfedu.ops.rnn import CELLS, recur, rnn

GOLDEN = json.loads(gzip.decompress((ROOT / "tests/golden/rnn.json.gz").read_bytes()))
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}


def weight(y): return (np.arange(y.numpy().size) * 7 % 5 - 1.5).reshape(y.shape).astype(y.dtype.as_numpy_dtype)


def name(case):
    words = [case["cell"], case["inputs"][0]["a"][0], *case["settings"], *(w for w in ("initial_state", "mask") if case[w] is not None)]
    return "-".join(words)


def close(got, want):
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=TOLERANCE[want.dtype.name], atol=TOLERANCE[want.dtype.name])


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=name)
def test_values_and_gradients_are_those_of_keras(case):
    inputs, state, mask = (decode(case[k]) for k in ("inputs", "initial_state", "mask"))
    sources = [v for v in (*inputs, *(state or [])) if v is not None]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        out, states = recur(case["cell"], *inputs, state, mask, **case["settings"])
        y = [out, *states]
    for got, want in zip(y, decode(case["y"]), strict=True): close(got, want)
    for got, want in zip(tape.gradient(y, sources, [weight(v) for v in y]), decode(case["g"]), strict=True): close(got, want)


def test_the_record_covers_every_cell_and_setting():
    seen = {word for case in GOLDEN["cases"] for word in name(case).split("-")}
    assert seen >= {*CELLS, "float32", "float64", "mask", "initial_state", "return_sequences", "go_backwards", "time_major",
                    "zero_output_for_mask"}


def made(cell, time=5, batch=3, units=4, dtype="float64", seed=0, features=None):
    "Random inputs of `rnn`, or of `recur` if `features` are given: inputs, weights, bias, states."
    rng, wide = np.random.default_rng(seed), CELLS[cell].width * units
    shapes = [(time, batch, wide), (units, wide)] if features is None else [(batch, time, features), (features, wide), (units, wide)]
    draw = lambda *shape: tf.constant(rng.uniform(-1, 1, shape), dtype)
    bias = (2, wide) if cell == "gru" and features else (wide,)
    return [draw(*s) for s in shapes], draw(*bias), [draw(batch, units) for _ in range(CELLS[cell].states)]


def slopes(f, sources):
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f()
    return [y, *tape.gradient(y, sources)]


def lstm_loop(a, u, b, h, c, mask):
    outs = []
    for step, live in zip(tf.unstack(a), tf.unstack(mask), strict=True):
        i, f, z, o = tf.split(step + tf.matmul(h, u) + b, 4, 1)
        new = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(z)
        h = tf.where(live[:, None], tf.sigmoid(o) * tf.tanh(new), h)
        c = tf.where(live[:, None], new, c)
        outs.append(h)
    return tf.reduce_sum(tf.stack(outs) ** 2) + tf.reduce_sum(h * c)


def gru_loop(a, u, b, h, mask, before):
    n = u.shape[0]
    for step, live in zip(tf.unstack(a), tf.unstack(mask), strict=True):
        p = tf.matmul(h, u) + b
        z, r = tf.sigmoid(step[:, :n] + p[:, :n]), tf.sigmoid(step[:, n:2 * n] + p[:, n:2 * n])
        inner = tf.matmul(r * h, u[:, 2 * n:]) + b[2 * n:] if before else r * p[:, 2 * n:]
        h = tf.where(live[:, None], z * h + (1 - z) * tf.tanh(step[:, 2 * n:] + inner), h)
    return tf.reduce_sum(h ** 2)


@pytest.mark.parametrize("masked", [False, True])
def test_an_lstm_is_its_loop_of_ops(masked):
    (a, u), b, (h, c) = made("lstm")
    mask = tf.constant(np.random.default_rng(1).random((5, 3)) < (.6 if masked else 2))

    def fused():
        outs, h1, c1 = rnn(a, u, [h, c], b, mask if masked else None, every=True)
        return tf.reduce_sum(outs ** 2) + tf.reduce_sum(h1 * c1)
    for got, want in zip(slopes(fused, [a, u, b, h, c]), slopes(lambda: lstm_loop(a, u, b, h, c, mask), [a, u, b, h, c]), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cell", ["gru", "gru_reset_before"])
def test_a_gru_is_its_loop_of_ops(cell):
    (a, u), b, (h,) = made(cell)
    mask = tf.constant(np.random.default_rng(1).random((5, 3)) < .6)
    fused = slopes(lambda: tf.reduce_sum(rnn(a, u, [h], b, mask, cell)[0] ** 2), [a, u, b, h])
    for got, want in zip(fused, slopes(lambda: gru_loop(a, u, b, h, mask, cell != "gru"), [a, u, b, h]), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
def test_a_layer_in_both_modes_to_second_order(cell):
    xs, b, states = made(cell, 3, 2, 2, features=2)
    mask = [[True, True, False], [False, True, True]]

    def f(x, w, u, b, *states): return recur(cell, x, w, u, b, [*states], mask, True, go_backwards=True)[0]
    check_grads(f, [v.numpy() for v in (*xs, b, *states)], order=2)


@pytest.mark.parametrize("cell", CELLS)
def test_forward_mode_agrees_with_reverse_mode(cell):
    (a, u), b, states = made(cell)
    rng = np.random.default_rng(5)
    along = [tf.constant(rng.standard_normal(v.shape)) for v in (a, u)]
    _, moved = jvp(lambda a, u: rnn(a, u, states, b, cell=cell, every=True)[0], [a, u], along)
    w = tf.constant(rng.standard_normal(moved.shape))
    _, *g = slopes(lambda: tf.reduce_sum(rnn(a, u, states, b, cell=cell, every=True)[0] * w), [a, u])
    np.testing.assert_allclose(tf.reduce_sum(moved * w), sum(tf.reduce_sum(p * q) for p, q in zip(g, along, strict=True)), rtol=1e-10)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("sequences", [False, True])
def test_without_any_step_the_state_stays(cell, sequences):
    xs, b, states = made(cell, time=0, features=2)
    sources = [*xs, b, *states]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        out, ends = recur(cell, *xs, b, states, np.zeros((3, 0), bool), sequences)
        y = tf.reduce_sum(tf.stack(ends)) + tf.reduce_sum(out)
    assert out.shape == ([3, 0, 4] if sequences else [3, 4])
    for end, start in zip(ends, states, strict=True): np.testing.assert_array_equal(end, start)
    *weights, state = tape.gradient(y, [*xs, b, states[-1]])
    assert [g.shape for g in weights] == [v.shape for v in (*xs, b)] and not any(np.any(g.numpy()) for g in weights)
    np.testing.assert_array_equal(state, np.full((3, 4), 1 if sequences or len(states) > 1 else 2))


@pytest.mark.parametrize("cell", CELLS)
def test_an_empty_batch(cell):
    xs, b, states = made(cell, batch=0, features=2)
    out, _ = recur(cell, *xs, b, states, return_sequences=True)
    assert out.shape == [0, 5, 4]
    _, *g = slopes(lambda: tf.reduce_sum(recur(cell, *xs, b, states)[0]), xs)
    assert not np.any(g[2].numpy()) and g[0].shape == [0, 5, 2]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_computed_in_float32(cell, dtype):
    (a, u), b, states = made(cell, time=40, dtype=dtype)
    wide = lambda v: tf.cast(v, "float32")
    got = slopes(lambda: tf.reduce_sum(rnn(a, u, states, b, cell=cell)[0]), [a, u, b])
    want = slopes(lambda: tf.reduce_sum(rnn(wide(a), wide(u), [*map(wide, states)], wide(b), cell=cell)[0]), [a, u, b])
    for p, q in zip(got[1:], want[1:], strict=True):
        assert p.dtype == dtype
        np.testing.assert_array_equal(p.numpy(), q.numpy())


@pytest.mark.parametrize("cell", CELLS)
def test_a_sequence_of_all_padding_gives_zeros_and_keeps_the_state(cell):
    xs, b, states = made(cell, features=2)
    mask = np.ones((3, 5), bool)
    mask[1] = False
    for sequences in (False, True):
        out, ends = recur(cell, *xs, b, states, mask, sequences)
        assert not np.any(out[1].numpy()) and np.all(out[0].numpy())
        for end, start in zip(ends, states, strict=True): np.testing.assert_array_equal(end[1], start[1])


@pytest.mark.parametrize("cell", CELLS)
def test_a_padded_sequence_ends_where_the_short_one_does(cell):
    xs, b, _ = made(cell, features=2)
    long, _ = recur(cell, *xs, b, mask=np.arange(5) < np.array([[3]] * 3))
    short, _ = recur(cell, xs[0][:, :3], *xs[1:], b)
    np.testing.assert_allclose(long, short, rtol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
def test_nan_at_a_masked_step_goes_nowhere(cell):
    (a, u), b, states = made(cell)
    mask = np.ones((5, 3), bool)
    mask[3:, 1] = mask[0, 2] = False
    bad = tf.where(mask[..., None], a, np.nan)
    both = [slopes(lambda v=v: tf.reduce_sum(rnn(v, u, states, b, mask, cell, True)[0]), [v, u, b, *states]) for v in (a, bad)]
    for got, want in zip(*both, strict=True): np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("cell", CELLS)
def test_weights_may_be_variables(cell):
    (x, *weights), b, states = made(cell, features=2)
    weights = [tf.Variable(v) for v in (*weights, b)]
    with tf.GradientTape() as tape: y = tf.reduce_sum(recur(cell, x, *weights, states)[0])
    with tf.GradientTape() as plain:
        plain.watch(constants := [tf.constant(v.numpy()) for v in weights])
        z = tf.reduce_sum(recur(cell, x, *constants, states)[0])
    for got, want in zip(tape.gradient(y, weights), plain.gradient(z, constants), strict=True): np.testing.assert_array_equal(got, want)


def test_results_do_not_share_memory_with_what_is_kept():
    (a, u), b, states = made("lstm")
    h, c = rnn(a, u, states, b)
    assert h.numpy().base is None or h.numpy().base.size == h.numpy().size
    before = states[0].numpy().copy()
    slopes(lambda: tf.reduce_sum(rnn(a, u, states, b)[1]), [a])
    np.testing.assert_array_equal(states[0], before)


def test_the_gradient_can_be_asked_for_twice():
    (a, u), b, states = made("lstm")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(u)
        y = rnn(a, u, states, b)[0]
    np.testing.assert_array_equal(tape.gradient(y, u), tape.gradient(y, u))


@pytest.mark.parametrize("change, words", [
    (dict(a=np.ones((2, 3))), "3 axes"), (dict(u=np.ones((4, 12))), r"u must have the shape \(4, 16\)"),
    (dict(bias=np.ones((2, 16))), r"bias must have the shape \(16,\)"),
    (dict(mask=np.ones((3, 5), bool)), r"mask must have the shape \(5, 3\)"),
    (dict(states=[np.ones((3, 4))]), "lstm has 2 states, given 1"), (dict(states=[np.ones((3, 4)), np.ones((1, 4))]), r"states\[1\]"),
    (dict(mask=np.ones((5, 3))), "mask has dtype"),
])
def test_what_does_not_fit_is_named(change, words):
    (a, u), b, states = made("lstm")
    given = dict(a=a, u=u, bias=b, states=states, mask=None) | change
    with pytest.raises(tf.errors.InvalidArgumentError, match=words): rnn(**given)


def test_an_unknown_cell_is_refused():
    xs, b, _ = made("lstm", features=2)
    with pytest.raises(ValueError, match="simple_rnn, lstm, gru"): recur("elman", *xs, b)


def test_the_op_is_not_public():
    assert "rnn" in OPS and not hasattr(tf, "rnn")
