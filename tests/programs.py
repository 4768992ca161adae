"""Small programs that test_programs.py runs in several ways: eagerly, as graphs, as graphs without any pass, and vectorised.

A program is a function of tensors. One that has state is made anew for each way, by a function without arguments. What a program needs
besides tensors - control flow, AutoGraph - is named, so that it is skipped where that is missing.
"""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import tfedu as tf


class Program(NamedTuple):
    name: str
    make: Callable      # returns the function
    inputs: list        # Python values, arrays, tensors or composites
    rows: bool          # whether it makes sense for each row of a batch
    needs: tuple        # public names, and "autograph"


PROGRAMS: list[Program] = []
V, W, M, S = [0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [[1.0, 2.0, 0.5], [-1.0, 0.0, 3.0], [2.0, 1.0, 1.0]], 0.7


def program(*inputs, rows=True, needs=(), fresh=False):
    "Decorator: a program that is given `inputs`. `fresh`: the definition makes the program."
    def declare(f):
        add(f.__name__, f if fresh else lambda: f, inputs, rows, needs)
        return f
    return declare


def add(name: str, make: Callable, inputs: tuple, rows: bool = True, needs: tuple = ()):
    values = [tf.constant(x) if isinstance(x, (float, list, np.ndarray)) else x for x in inputs]
    PROGRAMS.append(Program(name, make, values, rows, needs))


# ---- arithmetic: many short chains

UNARY = {name: getattr(tf, name) for name in "exp sin cos tanh sigmoid square abs sign floor identity negative".split()} | {
    "softplus": tf.nn.softplus, "relu": tf.nn.relu, "log1p": lambda x: tf.math.log1p(tf.abs(x)), "erf": tf.math.erf, "elu": tf.nn.elu,
    "selu": tf.nn.selu, "softsign": tf.nn.softsign, "rsqrt": lambda x: tf.math.rsqrt(tf.abs(x) + 1), "gelu": tf.nn.gelu,
    "log_sigmoid": tf.math.log_sigmoid}
for name, f in UNARY.items():
    add(f"chain_{name}", lambda f=f: lambda x: f(x) * 2 + f(x * x) - x, (V,))
for name, f in {"add": tf.add, "multiply": tf.multiply, "maximum": tf.maximum, "minimum": tf.minimum,
                "divide": lambda x, y: x / (tf.abs(y) + 1), "squared": tf.math.squared_difference, "atan2": tf.math.atan2,
                "power": lambda x, y: tf.abs(x) ** y, "where": lambda x, y: tf.where(x > y, x, y * 2),
                "floormod": lambda x, y: tf.math.floormod(x, tf.abs(y) + 1)}.items():
    add(f"pair_{name}", lambda f=f: lambda x, y: f(x, y) + f(y, x), (V, W))
for name, f in {"sum": tf.reduce_sum, "mean": tf.reduce_mean, "max": tf.reduce_max, "min": tf.reduce_min, "prod": tf.reduce_prod,
                "logsumexp": tf.reduce_logsumexp, "variance": tf.math.reduce_variance, "std": tf.math.reduce_std, "norm": tf.norm}.items():
    add(f"reduce_{name}", lambda f=f: lambda x: f(x, axis=-1) * 2 + f(tf.exp(x), axis=-1), (V,))
    add(f"reduce_rows_{name}", lambda f=f: lambda m: f(m, axis=0) + f(m, axis=1), (M,))


# ---- arrays

for name, f in {
        "reshape": lambda m: tf.reshape(m, [-1]) * 2, "transpose": lambda m: tf.transpose(m) @ m,
        "concat": lambda m: tf.concat([m, m * 2], 0), "stack": lambda m: tf.stack([m, m * m], 1), "unstack": lambda m: sum(tf.unstack(m)),
        "split": lambda m: tf.split(m, 3, 1)[1], "tile": lambda m: tf.tile(m, [2, 1]), "pad": lambda m: tf.pad(m, [[1, 0], [0, 2]]),
        "reverse": lambda m: tf.reverse(m, [0]), "roll": lambda m: tf.roll(m, 1, 0), "slice": lambda m: m[1:, ::-1],
        "column": lambda m: m[:, 1] + m[0], "newaxis": lambda m: m[:, None] * m[None], "gather": lambda m: tf.gather(m, [2, 0, 2]),
        "gather_nd": lambda m: tf.gather_nd(m, [[0, 1], [2, 2]]), "cumsum": lambda m: tf.cumsum(m, 1), "sort": lambda m: tf.sort(m, 1),
        "argsort": lambda m: tf.argsort(m), "top_k": lambda m: tf.math.top_k(m, 2), "one_hot": lambda m: tf.one_hot(tf.argmax(m, 1), 3) * m,
        "diag": lambda m: tf.linalg.diag(tf.linalg.diag_part(m)), "band": lambda m: tf.linalg.band_part(m, -1, 0),
        "matmul": lambda m: tf.matmul(m, m, transpose_b=True), "einsum": lambda m: tf.einsum("ij,kj->ik", m, m),
        "tensordot": lambda m: tf.tensordot(m, m, 1), "inverse": lambda m: tf.linalg.inv(m @ tf.transpose(m) + tf.eye(3)),
        "det": lambda m: tf.linalg.det(m), "solve": lambda m: tf.linalg.solve(m + 5 * tf.eye(3), m),
        "cholesky": lambda m: tf.linalg.cholesky(m @ tf.transpose(m) + tf.eye(3)), "softmax": lambda m: tf.nn.softmax(m) * m,
        "log_softmax": lambda m: tf.nn.log_softmax(m, 0), "scatter": lambda m: tf.scatter_nd([[1], [1], [4]], m, [5, 3]),
        "update": lambda m: tf.tensor_scatter_nd_add(m, [[0], [0]], m[:2]), "segments": lambda m: tf.math.segment_sum(m, [0, 0, 1]),
        "repeat": lambda m: tf.repeat(m, 2, 0), "boolean_mask": lambda m: tf.boolean_mask(m, [True, False, True]),
        "broadcast": lambda m: tf.broadcast_to(m, [2, 3, 3]), "meshgrid": lambda m: tf.meshgrid(m[0], m[1])[0],
        "expm": lambda m: tf.linalg.expm(m * 0.1), "normalize": lambda m: tf.nn.l2_normalize(m, 1), "trace": lambda m: tf.linalg.trace(m),
        "cast": lambda m: tf.cast(tf.cast(m, tf.int32), tf.float32) + m, "clip": lambda m: tf.clip_by_value(m, -0.5, 1.5),
        "clip_norm": lambda m: tf.clip_by_norm(m, 1.0), "moments": lambda m: tf.nn.moments(m, 0)}.items():
    add(f"matrix_{name}", lambda f=f: f, (M,))


# ---- programs that look at shapes or numbers

@program(V, rows=False)
def sizes_computed(x): return tf.reshape(tf.zeros([tf.shape(x)[0], 2]) + x[:, None], [tf.shape(x)[0] * 2])
@program(V, rows=False)
def where_true(x): return tf.gather(x, tf.where(x > 0)[:, 0]) * 2
@program([1, 2, 1, 3], rows=False)
def uniques(ids): return tf.unique(ids)
@program(V, [True, False, True], rows=False)
def masked(x, keep): return tf.boolean_mask(x, keep)
@program(V, 2, rows=False)
def python_number(x, n): return x ** n
@program(V, "relu", rows=False)
def python_text(x, kind): return tf.nn.relu(x) if kind == "relu" else tf.nn.tanh(x)
@program(V)
def unused(x):
    tf.exp(x)
    return x + 1
@program(V)
def the_same_twice(x): return tf.exp(x + 1) * tf.exp(x + 1)
@program(V)
def constants_only(x): return x * (tf.constant(2.0) + 3.0) * 1.0 + 0.0
@program(V)
def nested_results(x): return {"a": x, "b": [x + 1, (x * 2, None)]}
@program(V, W)
def crossed(x, y): return y, x
@program(M, rows=False)
def no_gradient(m): return tf.argmax(m, 1), tf.stop_gradient(m) * m
@program(V)
def long_chain(x):
    for _ in range(50): x = tf.sin(x) * 1.1 + 0.1
    return x


# ---- tapes, functions in functions, custom gradients

def slope(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)
@program(V)
def tape_inside(x): return slope(lambda x: tf.reduce_sum(x ** 3), x)
@program(V)
def tape_twice(x): return slope(lambda x: slope(lambda x: tf.reduce_sum(tf.sin(x) * x), x), x)
@program(S)
def tape_three_times(x): return slope(lambda x: slope(lambda x: slope(lambda x: x ** 4, x), x), x)
@program(V, rows=False)
def persistent(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = tf.exp(x), x * x
    return tape.gradient(y, x), tape.gradient(z, x)
@program(V, rows=False)
def jacobian_inside(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.stack([x[0] * x[1], tf.sin(x[2]), tf.reduce_sum(x)])
    return tape.jacobian(y, x, experimental_use_pfor=False)
@program(V, rows=False)
def forward_inside(x):
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc: y = tf.exp(x) * x
    return acc.jvp(y)
@program(V)
def custom(x):
    @tf.custom_gradient
    def f(x): return tf.exp(x), lambda g: g * 2
    return f(x) * x
@program(V)
def recomputed(x): return tf.recompute_grad(lambda x: tf.sin(x) * x)(x)
@program(V)
def through_functions(x):
    inner = tf.function(lambda x: x * x + 1)
    return inner(inner(x)) - inner(x)
@program(V)
def closure(x):
    y = x * 2
    inner = tf.function(lambda z: z * y)
    return inner(x) + inner(y)
@program(V)
def function_as_argument(x):
    apply = tf.function(lambda f, x: f(f(x)))
    return apply(lambda x: tf.sin(x) + 1, x)
@program(S, rows=False)
def recursion(x):
    @tf.function
    def power(x, n): return tf.ones_like(x) if n == 0 else x * power(x, n - 1)
    return power(x, 5)
@program(V, rows=False)
def fold(x):
    def tree(parts): return parts[0] if len(parts) == 1 else tree(parts[:len(parts) // 2]) * 2 + tree(parts[len(parts) // 2:])
    return tree(tf.unstack(x))
@program(V, W, rows=False)
def hessian_product(x, v):
    with tf.GradientTape() as outer:
        outer.watch(x)
        g = slope(lambda x: tf.reduce_sum(tf.exp(x) * x), x)
        inner = tf.reduce_sum(g * v)
    return outer.gradient(inner, x)


# ---- state

@program(V, rows=False, fresh=True)
def counter():
    v = tf.Variable(1.0)
    def f(x):
        v.assign_add(tf.reduce_sum(x))
        return v * x
    return f
@program(V, rows=False, fresh=True)
def read_between_changes():
    v = tf.Variable(1.0)
    def f(x):
        a = v * x
        v.assign(v * 3)
        return a + v, v.assign_sub(1.0)
    return f
@program(V, rows=False, fresh=True)
def lazily_made():
    made = []
    def f(x):
        if not made: made.append(tf.Variable([1.0, 2.0, 3.0]))
        return made[0] * x
    return f
@program(M, rows=False, fresh=True)
def rows_of_a_table():
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))
    def f(m):
        table.scatter_nd_add([[1], [3]], m[:2])
        return tf.gather(table, [3, 1, 0]) @ m
    return f
@program(V, rows=False, fresh=True)
def moving_average():
    mean, steps = tf.Variable([0.0, 0.0, 0.0]), tf.Variable(0)
    def f(x):
        steps.assign_add(1)
        mean.assign(0.9 * mean + 0.1 * x)
        return mean / (1 - 0.9 ** tf.cast(steps, tf.float32))
    return f
def training(optimizer):
    def make():
        w, b, update = tf.Variable([[0.5], [-0.5], [0.1]]), tf.Variable([0.0]), optimizer()
        def f(m):
            with tf.GradientTape() as tape: loss = tf.reduce_mean((m @ w + b - 1.0) ** 2)
            update.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
            return loss, w.read_value(), b.read_value()
        return f
    return make
for kind in [kind for kind in "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax Nadam Ftrl".split() if hasattr(tf.keras.optimizers, kind)]:
    add(f"train_{kind}", training(lambda kind=kind: getattr(tf.keras.optimizers, kind)(0.05)), (M,), rows=False)
add("train_momentum", training(lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)), (M,), rows=False)
@program(V, rows=False, fresh=True)
def generator():
    g = tf.random.Generator.from_seed(5)
    return lambda x: x * g.normal([3]) + tf.cast(g.uniform([3], maxval=9, dtype=tf.int32), tf.float32)
@program(V, rows=False)
def stateless(x): return x * tf.random.stateless_normal([3], seed=[1, 2])


# ---- ragged and sparse

RAGGED, SPARSE = tf.ragged.constant([[1.0, 2.0], [], [3.0]]), tf.sparse.from_dense([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
for name, f in {"double": lambda r: r * 2, "add": lambda r: r + r, "sum": lambda r: tf.reduce_sum(r, 1),
                "mean": lambda r: tf.reduce_max(r, 0), "dense": lambda r: r.to_tensor(9.0), "lengths": lambda r: r.row_lengths(),
                "row": lambda r: r[0] * 3, "slice": lambda r: r[1:], "concat": lambda r: tf.concat([r, r], 1),
                "map": lambda r: r.with_values(tf.sin(r.values)), "gather": lambda r: tf.gather(r, [2, 0]),
                "sparse": lambda r: tf.sparse.to_dense(r.to_sparse()), "where": lambda r: tf.ragged.boolean_mask(r, r > 1.5),
                "functions": lambda r: tf.ragged.map_flat_values(tf.exp, r)}.items():
    add(f"ragged_{name}", lambda f=f: f, (RAGGED,), rows=False)
for name, f in {"dense": lambda s: tf.sparse.to_dense(s), "sum": lambda s: tf.sparse.reduce_sum(s, 0),
                "transpose": lambda s: tf.sparse.to_dense(tf.sparse.transpose(s)),
                "matmul": lambda s: tf.sparse.sparse_dense_matmul(s, tf.eye(3)), "scale": lambda s: tf.sparse.to_dense(s * 2.0),
                "add": lambda s: tf.sparse.to_dense(tf.sparse.add(s, s)), "softmax": lambda s: tf.sparse.to_dense(tf.sparse.softmax(s)),
                "slice": lambda s: tf.sparse.to_dense(tf.sparse.slice(s, [0, 1], [2, 2])),
                "values": lambda s: s.with_values(s.values ** 2)}.items():
    add(f"sparse_{name}", lambda f=f: f, (SPARSE,), rows=False)
@program(V, [0, 2, 3], rows=False)
def ragged_from_rows(x, splits): return tf.RaggedTensor.from_row_splits(x, splits) * 2
@program(M, rows=False)
def sparse_from_dense(m): return tf.sparse.reduce_sum(tf.sparse.from_dense(m), 1)


# ---- control flow on tensors

def when(*names): return {"needs": tuple(f"tf.{n}" for n in names)}
@program(S, **when("cond"))
def cond_branches(x): return tf.cond(x > 0, lambda: x * 2, lambda: x - 1)
@program(S, **when("cond"))
def cond_nested(x): return tf.cond(x > 0, lambda: tf.cond(x > 0.5, lambda: x * x, lambda: x), lambda: -x)
@program(S, **when("case"))
def case_of(x): return tf.case([(x < 0, lambda: x), (x < 1, lambda: x * 10)], default=lambda: x * 100)
@program(V, 1, rows=False, **when("switch_case"))
def switch(x, k): return tf.switch_case(tf.constant(k), [lambda: x, lambda: x * 2, lambda: x * 3])
@program(S, **when("while_loop"))
def loop_fixed(x): return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * x), [tf.constant(0), tf.ones_like(x)])[1]
@program(S, rows=False, **when("while_loop"))
def loop_until(x): return tf.while_loop(lambda y: y < 100.0, lambda y: (y * 2 + 1,), [x])
@program(V, rows=False, **when("while_loop", "cond"))
def collatz(x):
    return tf.while_loop(lambda n, k: n > 1, lambda n, k: (tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), k + 1),
                         [tf.constant(7), tf.constant(0)])
@program(M, rows=False, **when("map_fn"))
def mapped(m): return tf.map_fn(lambda row: tf.reduce_sum(row) * row, m)
@program(V, rows=False, **when("scan"))
def scanned(x): return tf.scan(lambda a, b: a * 0.5 + b, x)
@program(V, rows=False, **when("foldl"))
def folded(x): return tf.foldl(lambda a, b: a * b + 1, x)
@program(V, rows=False, **when("while_loop"))
def array_in_loop(x):
    def body(i, a): return i + 1, a.write(i, x[i] * 2)
    return tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), tf.TensorArray(tf.float32, 3)])[1].stack()


# ---- the same written in Python, for AutoGraph

@program(S, needs=("autograph",))
def python_if(x):
    if x > 0: y = x * 2
    else: y = x - 1
    return y
@program(S, needs=("autograph",))
def python_while(x):
    while abs(x) < 10.0: x = x * 2 + 1
    return x
@program(V, rows=False, needs=("autograph",))
def python_for(x):
    total = tf.constant(0.0)
    for v in x:
        if v > 0: total += v * v
    return total
@program(S, rows=False, needs=("autograph",))
def python_break(x):
    for i in tf.range(10):
        if x > 20.0: break
        x = x + tf.cast(i, tf.float32)
    return x
@program(S, needs=("autograph",))
def python_return(x):
    if x > 0:
        return x * 3
    return x * 5
@program(V, rows=False, needs=("autograph",))
def python_and(x):
    if tf.reduce_sum(x) > 0 and not x[0] > 1: return x
    return -x
