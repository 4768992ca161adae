"""What does a call of a function cost, and what does `vectorized_map` save?

Prints the time of a call of a `tf.function` of one op beside that of the op itself, in microseconds (limit: 5 for the whole call), and of a
matrix times 1,000 vectors by a loop over the rows and by `tf.vectorized_map` (limit: at least 50 times faster). Least time of many rounds
that take turns, so that neighbours on the machine do not decide.
"""
import time

import numpy as np

import tfedu as tf


@tf.function
def plus(x, y): return x + y


def fastest(*jobs, rounds):
    "The least seconds that each of `jobs`, (function, repeats), takes for one call."
    best = [float("inf")] * len(jobs)
    for _ in range(rounds):
        for i, (f, repeats) in enumerate(jobs):
            start = time.perf_counter()
            for _ in range(repeats): f()
            best[i] = min(best[i], (time.perf_counter() - start) / repeats)
    return best


def calls(rounds):
    "Seconds of an addition of eight numbers: as an op, and in a function."
    x, y = tf.constant(np.arange(8.)), tf.constant(np.ones(8))
    return fastest((lambda: x + y, 1000), (lambda: plus(x, y), 1000), rounds=rounds)


def products(rounds, rows=1000, size=64):
    "Seconds of a matrix times each row: in a loop, and by `vectorized_map`."
    rng = np.random.default_rng(0)
    matrix, vectors = tf.constant(rng.normal(size=(size, size))), tf.constant(rng.normal(size=(rows, size)))
    def times(v): return tf.linalg.matvec(matrix, v)
    def loop(): return tf.stack([times(v) for v in tf.unstack(vectors)])
    def mapped(): return tf.vectorized_map(times, vectors)   # its graph is written in the first call
    np.testing.assert_allclose(mapped().numpy(), loop().numpy())
    return fastest((loop, 1), (mapped, 20), rounds=rounds)


def main(rounds=50):
    op, function = calls(rounds)
    print(f"x + y, 8 numbers: {op * 1e6:.2f} us as an op, {function * 1e6:.2f} us in a function")
    loop, mapped = products(max(2, rounds // 10))
    times = f"{loop * 1e3:.1f} ms in a loop, {mapped * 1e3:.3f} ms by vectorized_map, {loop / mapped:.0f} times faster"
    print(f"matrix times 1,000 vectors: {times}")


if __name__ == "__main__": main()
