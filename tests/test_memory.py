"""What a deep network keeps: the walk lets go as it goes, and tf.recompute_grad keeps the root."""
import gc
import tracemalloc

import numpy as np
import pytest

import tfedu as tf

BATCH, WIDTH, DEPTH = 256, 64, 200
ONE = BATCH * WIDTH * 4                         # bytes of one activation
GRADIENTS = DEPTH * (WIDTH * WIDTH + WIDTH) * 4 # bytes that the result itself takes


def network(seed=0):
    rng = np.random.default_rng(seed)
    def draw(*shape): return rng.normal(size=shape).astype(np.float32) / 8
    weights = [(tf.Variable(draw(WIDTH, WIDTH)), tf.Variable(np.zeros(WIDTH, np.float32))) for _ in range(DEPTH)]
    return weights, tf.constant(draw(BATCH, WIDTH))


def layers(x, weights):
    for w, b in weights: x = tf.nn.relu(x @ w + b)
    return x


def peak(forward):
    "Bytes held after the forward run, and the most that were held until the gradients were there; and those gradients."
    weights, x = network()
    variables = [v for pair in weights for v in pair]
    forward(x[:2], weights[:2])                 # what is made once and kept, as the ops that are imported
    gc.collect()
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        with tf.GradientTape() as tape: loss = tf.reduce_mean(forward(x, weights))
        kept = tracemalloc.get_traced_memory()[0] - start
        gradients = tape.gradient(loss, variables)
        return kept, tracemalloc.get_traced_memory()[1] - start, gradients
    finally: tracemalloc.stop()


def in_pieces(pieces):
    def forward(x, weights):
        size = -(-len(weights) // pieces)
        for i in range(0, len(weights), size): x = tf.recompute_grad(lambda x, part=weights[i:i + size]: layers(x, part))(x)
        return x
    return forward


@pytest.fixture(scope="module")
def plain(): return peak(layers)


def test_a_tape_keeps_one_activation_a_layer(plain):
    assert DEPTH * ONE * .98 < plain[0] < DEPTH * ONE * 1.05


def test_the_way_back_needs_no_more_than_the_saved_activations(plain):
    assert plain[1] < 1.2 * DEPTH * ONE


@pytest.mark.parametrize("pieces", [10, 14, 20])
def test_recomputing_needs_the_root(plain, pieces):
    kept, most, gradients = peak(in_pieces(pieces))
    length = -(-DEPTH // pieces)
    assert kept < (pieces + 3) * ONE
    assert most < (pieces + length + 6) * ONE + GRADIENTS
    for g, wanted in zip(gradients, plain[2], strict=True): np.testing.assert_array_equal(g.numpy(), wanted.numpy())


def test_nothing_is_left_when_the_tape_is_gone():
    weights, x = network()
    weights = weights[:20]
    forward = in_pieces(4)
    def step(f):
        with tf.GradientTape() as tape: loss = tf.reduce_mean(f(x, weights))
        tape.gradient(loss, [v for pair in weights for v in pair])
    for f in (layers, forward):
        step(f)
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            start = tracemalloc.get_traced_memory()[0]
            for _ in range(3): step(f)
            assert tracemalloc.get_traced_memory()[0] - start < ONE    # without the garbage collector: no circles are left behind
        finally:
            tracemalloc.stop()
            gc.enable()
