"""Records stateless.json.gz: random numbers for given seeds, without gradients.

usage, in an environment with TensorFlow: python make_stateless.py (the format is described in recording.py)
"""
import numpy as np
import tensorflow as tf
from recording import record, save

SEEDS = [0, 0], [1, 2], [-1, 2**31 - 1]
NEAR = {tf.float16: 2e-3, tf.bfloat16: 2e-3, tf.float32: 3e-6, tf.float64: 1e-12}


def draw(name, *x, **k):
    "Uniform numbers are the same to the last digit; the others come out of a logarithm or the like."
    record(f"random.{name}", *x, gradient=False, tolerance=0 if "uniform" in name else NEAR.get(k.get("dtype", tf.float32)), **k)


def stateless():
    for seed in (*SEEDS, np.array([2**40 + 3, -5])):
        for t in (tf.float16, tf.bfloat16, tf.float32, tf.float64):
            draw("stateless_uniform", [7], seed, dtype=t), draw("stateless_uniform", [2, 3], seed, -2.0, 6.0, dtype=t)
            draw("stateless_normal", [7], seed, dtype=t), draw("stateless_truncated_normal", [9], seed, dtype=t)
        for t in (tf.int32, tf.int64):
            draw("stateless_uniform", [7], seed, 0, 10, dtype=t), draw("stateless_uniform", [7], seed, -5, 2**31 - 1, dtype=t)
        draw("stateless_uniform", [5], seed, -2**60, 2**62, dtype=tf.int64)
        for t in (tf.int32, tf.int64, tf.uint32, tf.uint64):
            draw("stateless_uniform", [5], seed, None, None, dtype=t)
        draw("stateless_categorical", np.float32([[.1, .7, -1], [0, 0, 3]]), 9, seed)
        draw("stateless_categorical", np.float64([[.1, -np.inf, -1]]), 30, seed, dtype=tf.int32)
        draw("stateless_gamma", [6, 3], seed, np.float32([.3, 1, 4])), draw("stateless_gamma", [2, 3], seed, 2.0, np.float32([1, 2, 3]))
        draw("stateless_gamma", [6], seed, np.array(.05), dtype=tf.float64)
        draw("stateless_poisson", [6, 3], seed, np.float32([.3, 9, 400])), draw("stateless_poisson", [8], seed, 2.5, dtype=tf.float32)
        draw("stateless_binomial", [6, 2], seed, np.float32([100, 4000]), np.float32([.5, .01]))
        draw("stateless_binomial", [9], seed, 60.0, 0.8, output_dtype=tf.int64)
        draw("experimental.stateless_split", seed, 3), draw("experimental.stateless_fold_in", seed, 11)
        draw("experimental.stateless_fold_in", seed, np.array(2**40))


def stateful():
    for seed in (7, 42):
        for times in (1, 3):
            k = dict(how="seeded", global_seed=seed, times=times)
            draw("categorical", np.float32([[.1, .7, -1], [0, 0, 3]]), 9, **k)
            draw("gamma", [4], np.float32([.3, 1, 4]), **k)
            draw("gamma", [2], np.float32([[.5], [3]]), np.float32([1, 2]), **k)
            draw("poisson", [4], np.float32([.3, 9, 40]), **k), draw("poisson", [5], 3.0, dtype=tf.int32, **k)


def threefry():
    for state in ([0, 0], [1, 0], [2**40 + 7, 2**32 + 5], [-1, -3]):
        for dtype in (tf.float32, tf.float64, tf.bfloat16): generator(state, "uniform", [7], dtype=dtype)
        generator(state, "uniform", [7], -3, 100, dtype=tf.int32), generator(state, "uniform", [7], -3, 10**12, dtype=tf.int64)
        for dtype in (tf.uint32, tf.uint64): generator(state, "uniform_full_int", [5], dtype=dtype)
        generator(state, "normal", [6]), generator(state, "normal", [6], dtype=tf.float64), generator(state, "truncated_normal", [6])


def generator(state, method, *x, **k):
    near = 0 if method == "uniform" else NEAR.get(k.get("dtype", tf.float32))
    record("random.Generator.from_state", state, method, *x, how="threefry", gradient=False, tolerance=near, **k)


if __name__ == "__main__": save("stateless.json.gz", stateless, stateful, threefry)
