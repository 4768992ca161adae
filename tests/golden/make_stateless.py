"""Records stateless.json.gz: random numbers for given seeds, in the format of make_slice.py but with all digits and without gradients.

usage, in an environment with TensorFlow: python make_stateless.py

A case may have a "global" seed, which is set first, and is then called "times" times, of which the last result is recorded.
A case "generator" has the state of a tf.random.Generator with ThreeFry, whose method "f" is called under XLA.
"""
import gzip
import json
import pathlib

import numpy as np
import tensorflow as tf
from make_slice import encode

CASES, SEEDS = [], ([0, 0], [1, 2], [-1, 2**31 - 1])


def value(y):
    exact = [float(v) for v in np.asarray(y, np.float64).ravel()] if y.dtype.is_floating else [int(v) for v in y.numpy().ravel()]
    return {"a": [y.dtype.name, list(y.shape), exact]}


def record(name, *x, times=1, seed=None, **k):
    f = tf.random
    for part in name.split("."):
        f = getattr(f, part)
    if seed is not None:
        tf.random.set_seed(seed)
    for _ in range(times):
        y = f(*[tf.constant(v) if isinstance(v, np.ndarray) else v for v in x], **k)
    CASES.append({"f": f"random.{name}", "x": encode(list(x)), "k": {n: encode(v) for n, v in k.items()}, "y": value(y),
                  "global": seed, "times": times})


def stateless():
    for seed in (*SEEDS, np.array([2**40 + 3, -5])):
        for t in (tf.float16, tf.bfloat16, tf.float32, tf.float64):
            record("stateless_uniform", [7], seed, dtype=t), record("stateless_uniform", [2, 3], seed, -2.0, 6.0, dtype=t)
            record("stateless_normal", [7], seed, dtype=t), record("stateless_truncated_normal", [9], seed, dtype=t)
        for t in (tf.int32, tf.int64):
            record("stateless_uniform", [7], seed, 0, 10, dtype=t), record("stateless_uniform", [7], seed, -5, 2**31 - 1, dtype=t)
        record("stateless_uniform", [5], seed, -2**60, 2**62, dtype=tf.int64)
        for t in (tf.int32, tf.int64, tf.uint32, tf.uint64):
            record("stateless_uniform", [5], seed, None, None, dtype=t)
        record("stateless_categorical", np.float32([[.1, .7, -1], [0, 0, 3]]), 9, seed)
        record("stateless_categorical", np.float64([[.1, -np.inf, -1]]), 30, seed, dtype=tf.int32)
        record("stateless_gamma", [6, 3], seed, np.float32([.3, 1, 4])), record("stateless_gamma", [2, 3], seed, 2.0, np.float32([1, 2, 3]))
        record("stateless_gamma", [6], seed, np.float64(.05), dtype=tf.float64)
        record("stateless_poisson", [6, 3], seed, np.float32([.3, 9, 400])), record("stateless_poisson", [8], seed, 2.5, dtype=tf.float32)
        record("stateless_binomial", [6, 2], seed, np.float32([100, 4000]), np.float32([.5, .01]))
        record("stateless_binomial", [9], seed, 60.0, 0.8, output_dtype=tf.int64)
        record("experimental.stateless_split", seed, 3), record("experimental.stateless_fold_in", seed, 11)
        record("experimental.stateless_fold_in", seed, np.array(2**40))


def stateful():
    for seed in (7, 42):
        for times in (1, 3):
            record("categorical", np.float32([[.1, .7, -1], [0, 0, 3]]), 9, seed=seed, times=times)
            record("gamma", [4], np.float32([.3, 1, 4]), seed=seed, times=times)
            record("gamma", [2], np.float32([[.5], [3]]), np.float32([1, 2]), seed=seed, times=times)
            record("poisson", [4], np.float32([.3, 9, 40]), seed=seed, times=times)
            record("poisson", [5], 3.0, dtype=tf.int32, seed=seed, times=times)


def threefry():
    for state in ([0, 0], [1, 0], [2**40 + 7, 2**32 + 5], [-1, -3]):
        for f, x, k in (("uniform", [[7]], dict(dtype="float32")), ("uniform", [[7]], dict(dtype="float64")),
                ("uniform", [[7]], dict(dtype="bfloat16")),
                        ("uniform", [[7], -3, 100], dict(dtype="int32")), ("uniform", [[7], -3, 10**12], dict(dtype="int64")),
                        ("uniform_full_int", [[5]], dict(dtype="uint32")), ("uniform_full_int", [[5]], dict(dtype="uint64")),
                        ("normal", [[6]], {}), ("normal", [[6]], dict(dtype="float64")), ("truncated_normal", [[6]], {})):
            g = tf.random.Generator.from_state(state, alg="threefry")
            y = tf.function(lambda g=g, f=f, x=x, k=k: getattr(g, f)(*x, **{n: tf.as_dtype(v) for n, v in k.items()}), jit_compile=True)()
            CASES.append({"f": f, "generator": state, "x": x, "k": k, "y": value(y), "after": g.state.numpy().tolist()})


if __name__ == "__main__":
    stateless(), stateful(), threefry()
    text = json.dumps({"tensorflow": tf.__version__, "cases": CASES}, separators=(",", ":"), allow_nan=False)
    path = pathlib.Path(__file__).with_name("stateless.json.gz")
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(len(CASES), "cases,", path.stat().st_size, "bytes,", len(text), "as text")
