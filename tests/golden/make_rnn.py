"""Records rnn.json.gz: what the recurrent layers of Keras give on TensorFlow, values and gradients.

usage, in an environment with TensorFlow and tf_keras (Keras 2): python make_rnn.py

A case is {"cell", "inputs": [x, kernel, recurrent_kernel, bias or null], "initial_state": list or null, "mask": booleans or null,
"settings", "y": [outputs, *states], "g": gradients of sum(y * weight) by the inputs and the initial states}, values and weights as in
recording.py.
"""
import numpy as np
import tensorflow as tf
import tf_keras
from recording import CASES, data, encode, save, weight

LAYERS = {"simple_rnn": (tf_keras.layers.SimpleRNN, 1, 1), "lstm": (tf_keras.layers.LSTM, 4, 2), "gru": (tf_keras.layers.GRU, 3, 1),
          "gru_reset_before": (tf_keras.layers.GRU, 3, 1)}
BATCH, TIME, FEATURES, UNITS = 3, 4, 2, 3
MASK = np.array([[1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 1, 0]]) > 0


def record(cell, dtype="float32", bias=True, state=False, mask=None, **settings):
    layer, width, states = LAYERS[cell]
    extra = {"reset_after": cell == "gru"} if cell.startswith("gru") else {}
    made = layer(UNITS, dtype=dtype, use_bias=bias, return_state=True, **extra, **settings)
    x = data((TIME, BATCH, FEATURES) if settings.get("time_major") else (BATCH, TIME, FEATURES), dtype)
    made.build(x.shape)
    weights = [data(tuple(v.shape), dtype, -1, 1, seed=k + 1) for k, v in enumerate(made.weights)]
    made.set_weights(weights)
    start = [tf.constant(data((BATCH, UNITS), dtype, seed=k + 7)) for k in range(states)] if state else None
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch([x, *(start or [])])
        y = made(x, initial_state=start, mask=None if mask is None else tf.constant(mask))
    g = tape.gradient(y, [x, *made.trainable_weights, *(start or [])], [weight(v) for v in y])
    CASES.append({"cell": cell, "inputs": [encode(v) for v in (x, *weights, *[None] * (not bias))],
                  "initial_state": None if start is None else [encode(v) for v in start], "mask": None if mask is None else encode(mask),
                  "settings": settings, "y": [encode(v) for v in y], "g": [encode(v) for v in g]})


def plain():
    for cell in LAYERS:
        for dtype in ("float32", "float64"): record(cell, dtype)
        record(cell, bias=False, return_sequences=True)
        record(cell, state=True, return_sequences=True, go_backwards=True)


def masked():
    for cell in LAYERS:
        record(cell, mask=MASK)
        record(cell, "float64", state=True, mask=MASK, return_sequences=True)
    for cell in ("lstm", "gru"):
        record(cell, state=True, mask=MASK, return_sequences=True, zero_output_for_mask=True)
        record(cell, state=True, mask=MASK, zero_output_for_mask=True)
    record("lstm", state=True, mask=MASK, go_backwards=True), record("gru", mask=MASK, go_backwards=True, return_sequences=True)
    record("lstm", state=True, mask=MASK.T, time_major=True, return_sequences=True), record("gru", time_major=True)


if __name__ == "__main__": save("rnn.json.gz", plain, masked)
