"""tf.vectorized_map and Jacobians in one walk: every op of the sweep against the loop, gradients, nests, nesting, what is remembered."""
import logging

import numpy as np
import pytest
from tables import CASES, PLAIN
from tables.inputs import FLAGS
from test_ops import cases

import tfedu as tf
from tfedu.autodiff import tape as tape_module
from tfedu.core.convert import constant
from tfedu.core.tensor import OPS, load_ops
from tfedu.core.trace import watching
from tfedu.program import batch_program, batching
from tfedu.program.branch import branch
from tfedu.program.jacobian import at_once

load_ops()

# What runs row by row: the places of different numbers differ in number from row to row.
LOOPED = {"first_places"}
DECLINED = {"rnn", "histogram_fixed_width_bins"}   # recurrent weights, or a range, of its own for each row
HOW_SECOND = {"unravel_index"}   # the second input says what the first means, and must be known while a graph is written


def inputs_of(name):
    "Inputs and settings from the tables of the sweep, or made up for ops without floats."
    if name in MADE_UP: return MADE_UP[name]
    return cases(OPS[name].op)


W, MIXED = np.array([[2, 0, 1], [1, 1, 2]]), np.array([[1., 3, 2], [6, 5, 4]])
MADE_UP = {
    **{name: [((FLAGS, FLAGS[::-1]), {}), ((FLAGS, FLAGS[0]), {})] for name in "logical_and logical_or logical_xor and_ or_ xor_".split()},
    **{name: [((W, W[::-1] + 1), {}), ((W, W[0] + 1), {})] for name in
       "bitwise_and bitwise_or bitwise_xor left_shift right_shift truncatediv".split()},
    **{name: [((FLAGS,), {})] for name in ("logical_not", "invert_")}, "invert": [((W,), {})], "ratio": [((W, W + 1), {})],
    **{name: [((FLAGS,), {}), ((FLAGS,), dict(axis=1))] for name in ("reduce_all", "reduce_any")},
    **{name: [((MIXED,), {}), ((MIXED,), dict(axis=-1))] for name in ("argmax", "argmin", "argsort")},
    "bitcast": [((np.float32([[1, 2]]),), dict(type="int32")), ((np.float32([[1, 2]]),), dict(type="int8"))],
    "first_places": [((np.array([3, 1, 3]),), {})], "tally": [((np.array([[0, 2, 2], [1, 1, 5]]),), dict(size=4))],
    "histogram_fixed_width_bins": [((np.array([[0., 1.5], [3, 9]]), np.array([0., 5])), {})],
    "in_top_k": [((np.array([1, 2]), np.float32([[1, 3, 2], [6, 5, 4]])), dict(k=1))],
    "invert_permutation": [((np.array([2, 0, 1]),), {})],
    "is_non_decreasing": [((np.array([1., 1, 2]),), {}), ((np.array([3., 1, 2]),), {})],
    "is_strictly_increasing": [((np.array([[1., 2], [3, 4]]),), {})], "nonzero_flags": [((W,), {})],
    "one_hot_rows": [((W,), dict(depth=3, on=1., off=0., axis=axis, dtype=tf.float32)) for axis in (-1, 0, 1)],
    "searchsorted": [((np.array([[1., 3, 5], [2, 4, 6]]), np.array([[0., 4], [4, 9]])), {}),
                     ((np.array([1., 3, 5]), np.array([2., 3])), dict(side="right"))],
    "sequence_mask": [((np.array([1, 3]),), dict(maxlen=4))],
    "unravel_index": [((np.array([1, 5]), np.array([2, 3])), {}), ((np.array(4), np.array([2, 3])), {})],
    **{name: [((W,), {})] for name in ("ones_like", "zeros_like", "zero_fraction", "stop_gradient", "positive")},
    **{name: [((np.array([[1.5, -0.5], [2.5, np.inf]]),), {})] for name in "ceil floor rint round is_finite is_inf is_nan".split()},
    "where": [*CASES["where"], ((FLAGS[0], np.float32([1, 2, 3]), np.float32(1)), {})],
}
NAMES = sorted(name for name, call in OPS.items() if hasattr(call, "op") and name not in PLAIN)
EACH = [pytest.param(name, i, id=f"{name}-{i}") for name in NAMES for i in range(len(inputs_of(name)))]


def three(x, same=False):
    "Three inputs like `x`: floats a little apart, whole numbers in another order along the last axis where that keeps their meaning."
    if isinstance(x, list): return [three(v) for v in x]
    if x is None: return None
    x = np.asarray(x)
    if x.dtype.kind in "fc" and not same: return np.stack([x, x * 1.01, x * .99]).astype(x.dtype)
    return np.stack([x, x, x])


WHOLE = {"zeta", "polygamma", "betainc"}   # their first floats must be whole numbers


def batch_of(name, inputs, which):
    "For each input (in lists, each part): three of it, if its place is in `which`, else itself as a tensor; and whether it is batched."
    flat = [v for x in inputs for v in (x if isinstance(x, list) else [x])]
    places = [i for i, v in enumerate(flat) if v is not None]
    chosen = [i for i in places if which == "all" or i == places[0 if which == "first" else -1]]
    still = {0, 1} if name in WHOLE else set()
    return [None if v is None else constant(three(v, i in still)) if i in chosen else constant(v) for i, v in enumerate(flat)], chosen


def function_of(name, inputs, settings, fixed, chosen):
    "A function of the batched inputs alone."
    def f(rows):
        moving, flat = iter(rows), []
        for i, v in enumerate(fixed): flat.append(next(moving) if i in chosen else v)
        rest = iter(flat)
        return OPS[name](*[[next(rest) for _ in x] if isinstance(x, list) else next(rest) for x in inputs], **settings)
    return f


def looped(f, rows):
    "`f` of each row, stacked."
    outs = [f([x[i] for x in rows]) for i in range(3)]
    return [tf.stack(list(column)) for column in zip(*outs, strict=True)] if isinstance(outs[0], (list, tuple)) else [tf.stack(outs)]


def close(a, b, **kw):
    if a.dtype == tf.string: return np.testing.assert_array_equal(a.numpy(), b.numpy())
    np.testing.assert_allclose(a.numpy(), b.numpy(), **{"rtol": 1e-5, "atol": 1e-7, **kw})


@pytest.fixture
def slow_ones():
    "Names of what ran row by row."
    batching.TOLD.clear()
    yield batching.TOLD
    batching.TOLD.clear()


@pytest.mark.parametrize("which", ["all", "first", "last"])
@pytest.mark.parametrize("name, case", EACH)
def test_every_op_agrees_with_the_loop(name, case, which, slow_ones):
    inputs, settings = inputs_of(name)[case]
    xs, chosen = batch_of(name, inputs, which)
    if which != "all" and len(xs) == 1 or which != "first" and name in HOW_SECOND: return
    f, rows = function_of(name, inputs, settings, xs, chosen), [xs[i] for i in chosen]
    expected = looped(f, rows)
    found = tf.vectorized_map(f, rows)
    for a, b in zip(found if isinstance(found, (list, tuple)) else [found], expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        close(a, b)
    assert slow_ones <= LOOPED | DECLINED, f"{name} runs row by row"
    if name in LOOPED: assert slow_ones == {name}
    if which == "first" and name not in LOOPED: assert not slow_ones


SAMPLE = """add multiply where pow matmul contract gather scatter_rows reduce_sum reduce_max softmax cumsum cumprod concatenate stack
    split unstack transpose getitem pad tile convolve convolve_kernel max_window solve det segment_total segment_product sort along
    sparse_softmax_cross_entropy_with_logits reverse_sequence rnn ctc affine bias_add sum_to broadcast_to half_spectrum
    reduce_logsumexp""".split()


@pytest.mark.parametrize("name", SAMPLE)
def test_gradients_agree_with_the_loop(name):
    inputs, settings = inputs_of(name)[0]
    xs, chosen = batch_of(name, inputs, "first" if name == "rnn" else "all")
    f, rows = function_of(name, inputs, settings, xs, chosen), [xs[i] for i in chosen]
    moving = [x for x in rows if x.dtype.is_floating or x.dtype.is_complex]

    def slopes(way):
        with tf.GradientTape() as tape:
            tape.watch(moving)
            outs = way(f, rows)
            outs = outs if isinstance(outs, (list, tuple)) else [outs]
            loss = tf.add_n([tf.reduce_sum(tf.sin(tf.abs(y))) for y in outs if not y.dtype.is_integer])
        return tape.gradient(loss, moving)
    for a, b in zip(slopes(tf.vectorized_map), slopes(looped), strict=True):
        assert (a is None) == (b is None)
        if a is not None: close(tf.convert_to_tensor(a), tf.convert_to_tensor(b))


X = tf.constant(np.random.default_rng(0).normal(size=(4, 3)))
Y = tf.constant(np.random.default_rng(1).normal(size=(4, 3)))
M = tf.constant(np.random.default_rng(2).normal(size=(3, 3)))


def test_nests_of_elements_and_results():
    found = tf.vectorized_map(lambda e: {"s": e["a"] + e["b"][0], "t": (e["b"][1] * 2,)}, {"a": X, "b": [Y, tf.range(4)]})
    close(found["s"], X + Y)
    assert isinstance(found["t"], tuple) and found["t"][0].numpy().tolist() == [0, 2, 4, 6]
    only = tf.vectorized_map(lambda pair: pair[0], (X, Y))
    close(only, X)
    assert tf.vectorized_map(lambda x: [x[0], None], X)[1] is None


def test_elements_may_be_arrays_lists_and_variables():
    v = tf.Variable(X)
    for elems in (X.numpy(), v): close(tf.vectorized_map(tf.sin, elems), tf.sin(X))
    # a list is a nest, as in TensorFlow: its leaves are the elements
    close(tf.vectorized_map(lambda pair: pair[0] + pair[1], [X, Y]), X + Y)


def test_a_single_row_serves_all():
    close(tf.vectorized_map(lambda pair: pair[0] * pair[1], (X, Y[:1])), X * Y[0])
    close(tf.vectorized_map(lambda pair: pair[1], (X, Y[:1])), tf.repeat(Y[:1], 4, 0))
    close(tf.vectorized_map(lambda pair: pair[0] + pair[1], (X[:1], Y[:1])), X[:1] + Y[:1])


def test_results_that_depend_on_no_row_are_repeated():
    assert tf.vectorized_map(lambda x: tf.constant(2.0), X).numpy().tolist() == [2.0] * 4
    assert tf.vectorized_map(lambda x: 7, X).numpy().tolist() == [7] * 4
    assert tf.vectorized_map(lambda x: tf.shape(x), X).numpy().tolist() == [[3]] * 4


@pytest.mark.parametrize("elems, error", [((X, Y[:2]), "one length"), (tf.constant(1.0), "one axis or more"), ([], "one axis or more")])
def test_lengths_must_agree(elems, error):
    with pytest.raises(ValueError, match=error): tf.vectorized_map(lambda x: x, elems)


def test_no_rows():
    assert tf.vectorized_map(lambda x: tf.reduce_sum(tf.linalg.matvec(M, x)), X[:0]).shape == (0,)


def test_without_fallback_a_loop_is_refused():
    def f(x): return tf.unique_with_counts(x)[2]
    same = tf.constant([[1, 1, 2], [3, 4, 4]])
    with pytest.raises(ValueError, match="first_places runs only row by row"): tf.vectorized_map(f, same, fallback_to_while_loop=False)
    assert tf.vectorized_map(f, same).numpy().tolist() == [[2, 1], [1, 2]]


def test_a_loop_is_announced_once(slow_ones, caplog):
    with caplog.at_level(logging.WARNING, "tfedu"):
        for _ in range(2): tf.vectorized_map(lambda x: tf.unique(x)[1], tf.constant([[1, 1], [2, 2]]))
    assert [r.message for r in caplog.records if "first_places" in r.message] == \
        ["vectorized_map: first_places runs row by row, in a while_loop, as there is no batching rule for it"]


def test_captured_tensors_and_variables_have_gradients_twice():
    v = tf.Variable([1.0, -2.0, 0.5], dtype="float64")

    def run(way):
        with tf.GradientTape() as outer:
            outer.watch(M)
            with tf.GradientTape() as inner:
                inner.watch(M)
                out = tf.reduce_sum(tf.square(way(lambda x: tf.tanh(tf.linalg.matvec(M, x) * v), X)))
            dm, dv = inner.gradient(out, [M, v])
            second = tf.reduce_sum(dm * M) + tf.reduce_sum(dv)
        return [dm, dv, *outer.gradient(second, [M, v])]
    for a, b in zip(run(tf.vectorized_map), run(lambda f, x: tf.stack([f(row) for row in tf.unstack(x)])), strict=True): close(a, b)


def test_what_is_computed_from_captured_tensors_alone_has_a_gradient_too():
    for watched_first in (True, False):
        w = tf.constant([1.0, 2.0, 3.0], tf.float64)
        def f(x, w=w): return tf.reduce_sum(x * tf.linalg.matvec(M, tf.exp(w)))
        if not watched_first: tf.vectorized_map(f, X)
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.reduce_sum(tf.vectorized_map(f, X))
        close(tape.gradient(y, w), tf.exp(w) * tf.linalg.matvec(M, tf.reduce_sum(X, 0), transpose_a=True))


def test_inside_a_function_and_out():
    def f(pair): return tf.reduce_sum(tf.square(pair[0])) * pair[1]

    @tf.function
    def g(x, y):
        with tf.GradientTape() as tape:
            tape.watch(x)
            out = tf.vectorized_map(f, (x, y))
        return out, tape.gradient(out, x)
    out, slope = g(X, Y)
    close(out, tf.reduce_sum(X * X, 1, keepdims=True) * Y)
    close(slope, 2 * X * tf.reduce_sum(Y, 1, keepdims=True))


def test_an_unknown_number_of_rows():
    @tf.function(input_signature=[tf.TensorSpec([None, 3], "float64")])
    def g(x):
        return tf.vectorized_map(lambda row: (tf.reduce_max(row), tf.reshape(tf.linalg.matvec(M, row), [3, 1]), tf.unstack(row)[0]), x)
    for n in (4, 2):
        a, b, c = g(X[:n])
        close(a, tf.reduce_max(X[:n], 1))
        close(b, tf.linalg.matvec(M, X[:n])[:, :, None])
        close(c, X[:n, 0])


def test_a_function_may_be_mapped():
    @tf.function
    def f(x): return tf.reduce_sum(x * x)
    close(tf.vectorized_map(f, X), tf.reduce_sum(X * X, 1))


def test_nested():
    def table(x, y): return tf.vectorized_map(lambda a: tf.vectorized_map(lambda b: tf.reduce_sum(a * b) + tf.reduce_max(a), y), x)
    close(table(X, Y), X @ tf.transpose(Y) + tf.reduce_max(X, 1, keepdims=True))
    with tf.GradientTape() as tape:
        tape.watch(X)
        out = tf.reduce_sum(tf.square(table(X, Y)))
    with tf.GradientTape() as again:
        again.watch(X)
        expected = tf.reduce_sum(tf.square(X @ tf.transpose(Y) + tf.reduce_max(X, 1, keepdims=True)))
    close(tape.gradient(out, X), again.gradient(expected, X))
    deep = tf.vectorized_map(lambda a: tf.vectorized_map(lambda b: tf.vectorized_map(lambda c: a[0] * b[1] + c[2], X), X), X)
    close(deep, X[:, None, None, 0] * X[None, :, None, 1] + X[None, None, :, 2])


def test_per_example_gradients():
    w, b = tf.Variable(M), tf.Variable(np.zeros(3))
    table = tf.Variable(np.random.default_rng(3).normal(size=(5, 3)))

    def example(pair):
        place, x = pair
        with tf.GradientTape() as tape: loss = tf.reduce_sum(tf.square(tf.nn.relu(x[None] @ w + b) + tf.gather(table, place)))
        return [tf.convert_to_tensor(g) for g in tape.gradient(loss, [w, b, table])]
    places = tf.constant([1, 0, 4, 1])
    found = tf.vectorized_map(example, (places, X))
    for i in range(4):
        for a, b_ in zip(found, example((places[i], X[i])), strict=True): close(a[i], b_)


def test_gradients_of_convolution_for_each_example():
    rng = np.random.default_rng(0)
    images, kernel = tf.constant(rng.normal(size=(3, 6, 6, 2))), tf.Variable(rng.normal(size=(3, 3, 2, 4)))

    def example(image):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.nn.max_pool2d(tf.nn.conv2d(image[None], kernel, 1, "SAME"), 2, 2, "VALID")))
        return tape.gradient(loss, kernel)
    close(tf.vectorized_map(example, images, fallback_to_while_loop=False), tf.stack([example(i) for i in images]))


def test_random_numbers_differ_from_row_to_row(slow_ones):
    tf.random.set_seed(1)
    for f in (lambda x: tf.random.normal([2]), lambda x: tf.random.uniform([2], 0, 1000, "int32"),
              lambda x: x[:2] + tf.random.truncated_normal([2], dtype="float64"), lambda x: tf.nn.dropout(tf.ones([50]), .5)):
        rows = tf.vectorized_map(f, X).numpy()
        assert len({row.tobytes() for row in rows}) == 4
        assert not np.array_equal(rows, tf.vectorized_map(f, X).numpy()), "and from call to call"
    kept = tf.vectorized_map(lambda x: tf.nn.dropout(x, .5), tf.ones([4, 500])).numpy()
    assert set(kept.ravel()) == {0, 2} and len({row.tobytes() for row in kept}) == 4
    assert not slow_ones - {"dropout"}
    same = tf.vectorized_map(lambda x: tf.random.stateless_normal([2], [1, 2]), X).numpy()
    assert (same == same[0]).all()
    orders = tf.vectorized_map(lambda x: tf.random.shuffle(tf.range(20)), X).numpy()
    assert len({row.tobytes() for row in orders}) == 4 and (np.sort(orders, 1) == np.arange(20)).all()


def test_indices_that_differ_from_row_to_row():
    i = tf.constant([0, -1, 2, 1])
    close(tf.vectorized_map(lambda pair: pair[0][pair[1]], (X, i)), tf.constant(X.numpy()[np.arange(4), i.numpy()]))
    close(tf.vectorized_map(lambda i: M[:, i], i), tf.constant(M.numpy()[:, i.numpy()].T))
    close(tf.vectorized_map(lambda i: M[i, 1:], i), tf.constant(M.numpy()[i.numpy(), 1:]))


def test_a_variable_cannot_be_changed_by_all_rows():
    v = tf.Variable(0.0)
    with pytest.raises(ValueError, match="is changed"): tf.vectorized_map(lambda x: v.assign(x), tf.ones([3]))


# What is remembered ---------------------------------------------------------------------------------------------------------------

def test_a_second_call_does_not_trace_again(monkeypatch):
    made, whole = [], batch_program.Row
    monkeypatch.setattr(batch_program, "Row", lambda *args: made.append(1) or whole(*args))
    def f(x): return tf.sin(helper(x))
    for _ in range(3): tf.vectorized_map(f, X)
    assert len(made) == 1
    tf.vectorized_map(f, X[:2])
    assert len(made) == 2 and len(batch_program.PROGRAMS[f]) == 2
    for n in range(1, 100): tf.vectorized_map(f, tf.ones([n]))
    assert len(batch_program.PROGRAMS[f]) == batch_program.MOST


def test_programs_go_with_their_function():
    import gc
    def make():
        def f(x): return f.__name__ and tf.sin(x)   # it sees itself
        tf.vectorized_map(f, X)
    make()
    before = len(batch_program.PROGRAMS)
    gc.collect()
    assert len(batch_program.PROGRAMS) < before


GLOBAL = tf.constant(1.0)


def helper(x): return x * tf.cast(GLOBAL, x.dtype)


def test_changed_surroundings_are_noticed():
    global GLOBAL
    scale, settings, model = tf.constant(2.0, tf.float64), {"k": [1.0]}, tf.Module()
    model.w = tf.constant(1.0, tf.float64)
    def f(x): return helper(x) * scale + settings["k"][0] * model.w
    close(tf.vectorized_map(f, X), X * 2 + 1)
    scale = tf.constant(3.0, tf.float64)
    close(tf.vectorized_map(f, X), X * 3 + 1)
    settings["k"][0] = 5.0
    close(tf.vectorized_map(f, X), X * 3 + 5)
    model.w = tf.constant(2.0, tf.float64)
    close(tf.vectorized_map(f, X), X * 3 + 10)
    GLOBAL = tf.constant(2.0)
    close(tf.vectorized_map(f, X), X * 6 + 10)
    array = np.ones(3)
    def g(x): return x * array
    close(tf.vectorized_map(g, X), X)
    array[:] = 2
    close(tf.vectorized_map(g, X), X * 2)


def test_a_scalar_may_be_watched_later():
    scale = tf.constant(2.0, tf.float64)
    def f(x): return tf.reduce_sum(x) * scale
    tf.vectorized_map(f, X)
    with tf.GradientTape() as tape:
        tape.watch(scale)
        y = tf.vectorized_map(f, X)
    close(tape.gradient(y, scale), tf.reduce_sum(X))


def test_methods_are_remembered_by_what_their_object_holds():
    class Layer:
        def __init__(self): self.w = tf.Variable(M)
        def __call__(self, x): return tf.linalg.matvec(self.w, x)
        def call(self, x): return self(x)
    layer = Layer()
    for f in (layer, layer.call):
        for _ in range(2):
            close(tf.vectorized_map(f, X), tf.linalg.matvec(layer.w, X))
            layer.w.assign(2 * layer.w)


def test_a_matvec_over_a_thousand_rows_runs_few_operations():
    x = tf.constant(np.random.default_rng(0).normal(size=(1000, 3)))
    def f(row): return tf.linalg.matvec(M, row)
    def count(run):
        ran = []
        with watching(lambda op, *rest: ran.append(op.name)): run()
        return len(ran)
    tf.vectorized_map(f, x)
    assert count(lambda: tf.stack([f(row) for row in tf.unstack(x)])) >= 50 * count(lambda: tf.vectorized_map(f, x))


# Jacobians ------------------------------------------------------------------------------------------------------------------------

@pytest.fixture(autouse=True)
def one_walk_even_for_few(monkeypatch): monkeypatch.setattr(tape_module, "MANY", 2)


def jacobians(f, x, batch=False):
    "In one walk, and one row at a time."
    found = []
    for pfor in (True, False):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
        found.append((tape.batch_jacobian if batch else tape.jacobian)(y, x, experimental_use_pfor=pfor))
    return found


FUNCTIONS = {
    "net": lambda x: tf.tanh(x @ M) @ M,
    "softmax": tf.nn.softmax,
    "cumprod": lambda x: tf.math.cumprod(x, 1),
    "gather": lambda x: tf.gather(x, [2, 0, 2], axis=1),
    "sorted": lambda x: tf.sort(x, 1),
    "embedding": lambda x: tf.gather(tf.sin(x), [3, 3, 0, 1]),
    "where": lambda x: tf.where(x > 0, x * x, -x),
    "norm": lambda x: x / tf.norm(x, axis=1, keepdims=True),
    "solve": lambda x: tf.linalg.solve(M + 5 * tf.eye(3, dtype="float64"), tf.transpose(x)),
    "einsum": lambda x: tf.einsum("ij,kj,jl->ikl", x, x, M),
    "conv": lambda x: tf.nn.conv1d(x[None], M[None], 1, "SAME"),
    "slice": lambda x: tf.concat([x[::-1, :2], x[:, 1:]], 1),
    "map": lambda x: tf.vectorized_map(lambda row: tf.linalg.matvec(M, row) * row[0], x),
    "function": tf.function(lambda x: tf.exp(x) @ M),
    "segments": lambda x: tf.math.unsorted_segment_sum(x * x, [0, 1, 0, 2], 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_in_one_walk(name, caplog):
    f = FUNCTIONS[name]
    with caplog.at_level(logging.WARNING, "tfedu"): fast, slow = jacobians(f, X)
    assert not [r for r in caplog.records if "one walk" in r.message or "while_loop" in r.message], caplog.text
    close(fast, slow, rtol=1e-10)
    h, x = 1e-6, X.numpy()
    for place in ((0, 0), (2, 1), (3, 2)):
        e = np.zeros_like(x)
        e[place] = h
        difference = (f(tf.constant(x + e)).numpy() - f(tf.constant(x - e)).numpy()) / (2 * h)
        np.testing.assert_allclose(fast.numpy()[(..., *place)], difference, atol=1e-7)


@pytest.mark.parametrize("name", ["net", "softmax", "cumprod", "where", "norm"])
def test_batch_jacobians_in_one_walk(name):
    def f(x): return tf.tile(FUNCTIONS[name](x), [1, 4])   # twelve elements in a row, enough for one walk
    fast, slow = jacobians(f, X, batch=True)
    assert fast.shape == (4, 12, 3)
    close(fast, slow, rtol=1e-10)


def test_one_walk_is_one_walk():
    def count(n):
        with tf.GradientTape() as tape:
            x = tf.ones([n])
            tape.watch(x)
            y = tf.exp(x) * 2
        ran = []
        with watching(lambda op, *rest: ran.append(op.name)): tape.jacobian(y, x)
        return len(ran)
    assert count(10) == count(100) < 20


def test_hessian_of_a_network():
    sizes, rng = (3, 4, 1), np.random.default_rng(0)
    weights = [tf.constant(rng.normal(size=pair)) for pair in zip(sizes, sizes[1:])]
    flat = tf.concat([tf.reshape(w, [-1]) for w in weights], 0)

    def loss(flat):
        first, second = tf.split(flat, [12, 4])
        return tf.reduce_mean(tf.square(tf.tanh(X @ tf.reshape(first, [3, 4])) @ tf.reshape(second, [4, 1]) - Y[:, :1]))

    def slope(flat):
        with tf.GradientTape() as tape:
            tape.watch(flat)
            y = loss(flat)
        return tape.gradient(y, flat)
    with tf.GradientTape() as outer:
        outer.watch(flat)
        g = slope(flat)
    hessian = outer.jacobian(g, flat).numpy()
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    h = 1e-6
    for k in (0, 7, 15):
        e = np.eye(16)[k] * h
        np.testing.assert_allclose(hessian[k], (slope(flat + e).numpy() - slope(flat - e).numpy()) / (2 * h), atol=1e-7)


def test_third_derivatives():
    x = tf.constant(np.linspace(.1, 1, 9))
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = tf.reduce_sum(x ** 4)
            g = first.gradient(y, x)
        h = second.jacobian(g, x)
    t = third.jacobian(h, x).numpy()
    expected = np.zeros((9, 9, 9))
    expected[range(9), range(9), range(9)] = 24 * x.numpy()
    np.testing.assert_allclose(t, expected, rtol=1e-8, atol=1e-8)


def test_jacobians_inside_a_function():
    @tf.function(input_signature=[tf.TensorSpec([None, 3], "float64")])
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.tanh(x @ M)
        return tape.jacobian(y, x), tape.batch_jacobian(y, x)
    whole, blocks = f(X)
    close(whole, jacobians(lambda x: tf.tanh(x @ M), X)[1])
    close(blocks, jacobians(lambda x: tf.tanh(x @ M), X, batch=True)[1])


def test_a_walk_that_looks_at_numbers_is_made_for_each_row(caplog):
    @tf.custom_gradient
    def odd(x): return x * 3, lambda g: tf.constant(3 * g.numpy())
    fast, slow = jacobians(odd, tf.ones([9]))
    close(fast, slow)

    def walk(seed): return [seed * float(seed[0])]
    with caplog.at_level(logging.WARNING, "tfedu"): assert at_once(walk, tf.ones([9, 2])) is None
    assert "one walk for each row" in caplog.text


def test_variables_and_unconnected_sources():
    v, other = tf.Variable(np.ones(9)), tf.Variable(1.0)
    with tf.GradientTape() as tape: y = tf.square(v) * 3
    a, b = tape.jacobian(y, [v, other])
    close(a, 6 * tf.eye(9, dtype="float64"))
    assert b is None
    with tf.GradientTape() as tape: y = tf.square(v) * 3
    assert tape.jacobian(y, [v, other], unconnected_gradients="zero")[1].numpy().tolist() == [0.0] * 9


# Conditions and loops -------------------------------------------------------------------------------------------------------------

def branching(x): return tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: tf.sin(x))


def doubling(x):
    return tf.while_loop(lambda i, y: tf.reduce_sum(tf.abs(y)) < 20.0, lambda i, y: (i + 1, y * 2 + tf.cast(i, y.dtype)), [0, x])[1]


def switching(x): return branch("switch", tf.argmax(x, output_type=tf.int32), [lambda: x, lambda: 2 * x, lambda: x * x])


CONTROL = {"cond": branching, "while": doubling, "switch": switching, "for": tf.function(lambda x: tf.while_loop(
    lambda i, s: i < 3, lambda i, s: (i + 1, s + x[i] * s), [0, x])[1]), "both": lambda x: branching(doubling(x))}


@pytest.mark.parametrize("name", CONTROL)
def test_rows_may_decide_differently(name, slow_ones):
    f = CONTROL[name]

    def run(way):
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = way(f, X)
        return y, tape.gradient(y, X)
    for a, b in zip(run(tf.vectorized_map), run(lambda f, x: tf.stack([f(row) for row in tf.unstack(x)])), strict=True): close(a, b)
    assert not slow_ones


@pytest.mark.parametrize("name", CONTROL)
def test_gradients_of_rows_that_decide_differently(name, slow_ones):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.square(CONTROL[name](x)))
        return tape.gradient(y, x)
    close(tf.vectorized_map(slope, X), tf.stack([slope(row) for row in tf.unstack(X)]))
    assert not slow_ones


def test_conditions_that_are_the_same_for_all_rows():
    flag, w = tf.Variable(True), tf.Variable(2.0, dtype="float64")
    def f(x): return tf.cond(flag, lambda: x * w, lambda: x - w)
    for _ in range(2):
        with tf.GradientTape() as tape: y = tf.vectorized_map(f, X)
        close(y, X * 2 if flag else X - 2)
        close(tape.gradient(y, w), tf.reduce_sum(X) if flag else tf.constant(-12.0, tf.float64))
        flag.assign(False)


def test_what_a_condition_captures_has_a_gradient():
    w = tf.constant([1.0, 2.0, 3.0], tf.float64)
    def f(x): return tf.cond(x[0] > 0, lambda: x * w, lambda: x * tf.exp(w))

    def run(way):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = way(f, X)
        return tape.gradient(y, w)
    close(run(tf.vectorized_map), run(lambda f, x: tf.stack([f(row) for row in tf.unstack(x)])))


def test_python_conditions_in_a_function():
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0: y = x * 2
        else: y = -x
        return y
    close(tf.vectorized_map(f, X), tf.stack([f(row) for row in tf.unstack(X)]))


@tf.custom_gradient
def eleven(x):
    "A result, and a slope that is not its own: 11 + x."
    return tf.exp(x), lambda g: g * (11 + x)

W, SCALE = tf.Variable([2., -1.]), tf.constant([3., 0.5])

@tf.custom_gradient
def weighed(x):
    "Reads a variable, and says that its gradient is x, and that of the variable 5 x."
    def back(g, variables=None): return g * x, [tf.fill([2], tf.reduce_sum(g * 5 * x)) for _ in variables]
    return tf.reduce_sum(x * W), back

@tf.custom_gradient
def two_results(x, k): return (x * 2, tf.cast(tf.round(k), tf.int32), k), lambda a, b, c: (100 * a, c * tf.reduce_sum(x))

OWN = {
    "alone": lambda x: eleven(x),
    "among others": lambda x: tf.reduce_sum(tf.sin(eleven(x) * x) * SCALE),
    "twice": lambda x: eleven(eleven(x) * 0.1),
    "of something else": lambda x: (x, eleven(SCALE) * x),
    "a variable": lambda x: weighed(x) * tf.reduce_sum(W * x),
    "several": lambda x: two_results(x, tf.reduce_sum(x) * 3),
    "in a function": lambda x: tf.function(lambda x: eleven(x) * x)(x),
    "in a function in a function": lambda x: tf.function(lambda x: tf.function(eleven)(x) * x)(x),
    "in rows of rows": lambda x: tf.vectorized_map(lambda v: eleven(v) * x[0] * v, x),
    "rows that are read": lambda x: tf.custom_gradient(lambda t: (tf.gather(t, 1), lambda g: tf.IndexedSlices([g * 7], [0], [2])))(x),
    "nothing there": lambda x: tf.grad_pass_through(tf.round)(x) * x,
    "none": lambda x: tf.custom_gradient(lambda t: (t * 2, lambda g: None))(x) + x,
}

@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", OWN)
def test_a_tape_outside_sees_gradients_that_a_row_brings_along(name, traced):
    f, x = OWN[name], tf.constant([[0.3, -1.], [-0.7, 2.], [1.5, 0.25]])
    def rows(x):
        each = [f(x[i]) for i in range(3)]
        return tf.nest.map_structure(lambda *parts: tf.stack(parts), *each)
    def slopes(g):
        with tf.GradientTape() as outer:
            outer.watch([x, SCALE])
            with tf.GradientTape() as tape:
                tape.watch([x, SCALE])
                y = g(x)
            first = tape.gradient(y, [x, SCALE, W])
            total = tf.add_n([tf.reduce_sum(tf.convert_to_tensor(u) ** 2) for u in first if u is not None])
        return y, first, outer.gradient(total, [x, SCALE, W])
    def at_once(x): return tf.vectorized_map(f, x)
    want, found = slopes(rows), slopes(tf.function(at_once) if traced else at_once)
    again = slopes(at_once)   # with the program that was remembered
    for got in (found, again):
        for a, b in zip(tf.nest.flatten(want), tf.nest.flatten(got), strict=True):
            if a is None or b is None: assert not np.any(0 if a is None else a) and not np.any(0 if b is None else b)
            else: np.testing.assert_allclose(tf.convert_to_tensor(b), tf.convert_to_tensor(a), rtol=1e-4, atol=1e-5)


def test_a_gradient_for_each_row_and_a_jacobian_of_ones_own_gradient():
    x = tf.constant([[0.3, -1.], [-0.7, 2.]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(eleven, x)
    np.testing.assert_allclose(tape.batch_jacobian(y, x), [np.diag(11 + row) for row in x.numpy()], rtol=1e-6)


@pytest.mark.parametrize("f", [
    lambda x: tf.cond(tf.constant(True), lambda: eleven(x), lambda: x) * x, lambda x: tf.cond(x[0] > 0, lambda: eleven(x), lambda: x) * x,
    lambda x: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, eleven(x) * 0.1), (0, x))[1]], ids=["all", "some", "loop"])
def test_a_gradient_of_ones_own_in_a_condition_or_a_loop_is_refused_and_not_forgotten(f):
    x = tf.constant([[0.3, -1.], [-0.7, 2.]])
    with pytest.raises(NotImplementedError, match="custom gradient in a condition or a loop"), tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(f, x)
        np.testing.assert_allclose(y, [f(x[0]), f(x[1])], rtol=1e-6)
        tape.gradient(y, x)


@pytest.mark.parametrize("inside", [False, True])
def test_variables_of_a_map_in_a_function(inside):
    x = tf.constant([[0.3, -1.], [-0.7, 2.], [1.5, 0.25]])
    def each(x): return tf.vectorized_map(lambda row: tf.reduce_sum(W * row) ** 2, x)
    def slope(f):
        with tf.GradientTape() as tape: y = f(x)
        return tape.gradient(y, W)
    want = tf.linalg.matvec(x, tf.linalg.matvec(x, W) * 2, transpose_a=True)
    np.testing.assert_allclose(tf.function(lambda: slope(each))() if inside else slope(tf.function(each)), want, rtol=1e-5)
