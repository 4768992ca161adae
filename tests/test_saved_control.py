"""Saved programs with conditions, loops, tables, optimizers, and ways back through them: loaded, they do what they did, twice over."""
import logging
import re
import sys

import numpy as np
import pytest

import tfedu as tf

S, FLOAT, INT = tf.TensorSpec, tf.float32, tf.int32


def weights(*shape): return lambda: tf.Variable(np.random.default_rng(0).normal(size=shape).astype("f"))


PROGRAMS = {}   # name -> function, its input signature, arguments, and what makes each attribute of the module


def program(*args, sig=None, **attributes):
    def declare(f):
        PROGRAMS[f.__name__] = f, sig or [S(x.shape, x.dtype) for x in args], args, attributes
        return f
    return declare


def module_of(f, signature, attributes):
    module = tf.Module()
    for name, make in attributes.items(): setattr(module, name, make())
    module.f = tf.function(lambda *args: f(module, *args), signature)
    return module


X = tf.constant(np.random.default_rng(1).normal(size=(2, 5, 4)).astype("f"))
TIME = [S([2, None, 4])]


@program(X, sig=TIME, w=weights(4, 3), u=weights(3, 3))
def rnn(m, x):
    h, outs = tf.zeros([2, 3]), tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for t in tf.range(tf.shape(x)[1]):
        h = tf.tanh(x[:, t] @ m.w + h @ m.u)
        outs = outs.write(t, h)
    return tf.transpose(outs.stack(), [1, 0, 2]), h


def trained(m, x):
    with tf.GradientTape() as tape: loss = tf.reduce_mean(tf.square(rnn(m, x)[0]))
    grads = tape.gradient(loss, [m.w, m.u])
    m.optimizer.apply_gradients(zip(grads, [m.w, m.u]))
    return loss, grads


SCHEDULE = tf.keras.optimizers.schedules.ExponentialDecay
for name, make in {"sgd": lambda: tf.keras.optimizers.SGD(0.1), "momentum": lambda: tf.keras.optimizers.SGD(0.1, 0.9, nesterov=True),
                   "adam": lambda: tf.keras.optimizers.Adam(SCHEDULE(0.1, 3, 0.5), amsgrad=True, clipnorm=0.1)}.items():
    PROGRAMS[f"trained_{name}"] = trained, TIME, (X,), {"w": weights(4, 3), "u": weights(3, 3), "optimizer": make}


@program(tf.constant([1, 1, 3]), w=weights(5, 2), optimizer=lambda: tf.keras.optimizers.Adam(0.1))
def rows_of_an_embedding(m, i):
    with tf.GradientTape() as tape: loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(m.w, i)))
    m.optimizer.apply_gradients([(tape.gradient(loss, m.w), m.w)])
    return loss


@program(tf.constant(9))
def nested_loops(m, n):
    s = 0
    for i in tf.range(n):
        for j in tf.range(i):
            if (i + j) % 2 == 0: continue
            if j > 5: break
            s += i * j
    return s


@program(tf.constant(np.random.default_rng(2).normal(size=(4, 5)).astype("f")))
def beam_search(m, logits):
    scores, sequences = tf.zeros([3]), tf.zeros([3, 0], tf.int32)
    for t in tf.range(4):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(sequences, tf.TensorShape([3, None]))])
        scores, i = tf.math.top_k(tf.reshape(scores[:, None] + logits[t], [-1]), 3)
        sequences = tf.concat([tf.gather(sequences, i // 5), (i % 5)[:, None]], 1)
    return scores, sequences


@program(tf.ones([2]))
def structured_state(m, x):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, dict(a, k=a["k"] * 2)), (0, {"k": x, "j": x}))


@program(tf.constant(1), tf.constant([1.0, 2.0, 3.0]), w=weights(3))
def one_of_three(m, i, x): return tf.switch_case(i, [lambda: x, lambda: x * m.w, lambda: x - 1])


@program(tf.constant(7.0))
def cases(m, x): return tf.case([(x < 0, lambda: x * 2), (x > 5, lambda: x + 100)], default=lambda: -x)


@program(tf.ones([2]), n=lambda: tf.Variable(0))
def counted_sometimes(m, x):
    if tf.reduce_sum(x) > 0: m.n.assign_add(1)
    return m.n.read_value()


@program(tf.ragged.constant([[1.0, 2.0], [], [3.0]]), sig=[tf.RaggedTensorSpec([None, None], FLOAT)])
def ragged_rows(m, r): return tf.map_fn(lambda x: tf.reduce_sum(x), r, fn_output_signature=tf.float32), r.to_tensor(9.0), r.row_lengths()


@program(tf.constant([1.0, 2.0, 3.0]), w=weights(2))
def scanned(m, x): return tf.scan(lambda a, b: a * b + m.w[0], x)


@program(tf.ones([2]), sig=[S([None])])
def checked(m, x):
    tf.debugging.assert_positive(x, message="positive")
    assert tf.reduce_sum(x) > 0, "sum"
    tf.Assert(tf.reduce_all(x > 0), [x])
    return tf.sqrt(x)


WORDS = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))


def dense(): return tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "$")


@program(tf.constant(["a", "z"]), static=lambda: tf.lookup.StaticHashTable(WORDS, -1), dense=dense,
         words=lambda: tf.lookup.StaticVocabularyTable(WORDS, 3), buckets=lambda: tf.lookup.StaticVocabularyTable(None, 3))
def looked_up(m, words): return m.static.lookup(words), m.dense.lookup(words), m.words.lookup(words), m.buckets.lookup(words)


@program(tf.constant(["a", "z"]), tf.constant([4, 5], tf.int64), dense=dense)
def put_in(m, keys, values):
    before = m.dense.lookup(keys)
    m.dense.insert(keys, values)
    m.dense.erase(keys[:1])
    return before, m.dense.lookup(keys), m.dense.size()


@tf.function
def magnitude(x):
    if x > 0.0: return x
    return -x


@program(tf.constant(-2.0))
def calls_another(m, x): return magnitude(x) + magnitude(x * 2)


@program(tf.ones([3]), g=lambda: tf.random.Generator.from_seed(3))
def drawn(m, x): return x + m.g.normal([3])


@program(tf.constant(2.0))
def twice_through_a_loop(m, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.constant(1.0)
            for _ in tf.range(3): y = y * x
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program(tf.constant(2.0))
def twice_through_a_condition(m, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.cond(x > 0, lambda: x ** 3, lambda: x ** 2)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program(tf.constant([1.0, -1.0, 2.0]), sig=[S([None])], w=weights(2))
def through_calls(m, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.square(tf.boolean_mask(x, x > 0))) + tf.reduce_sum(tf.unique(x)[0])
        for _ in tf.range(2): y += tf.reduce_sum(tf.boolean_mask(x, x > 1) * m.w[0])
    return tape.gradient(y, x), y


@tf.custom_gradient
def clipped(x): return x * 2, lambda g: tf.clip_by_value(g, -0.1, 0.1)


@program(tf.ones([3]), w=weights(3))
def own_gradient(m, x): return clipped(x) * m.w


@program(tf.ones([4, 3]), sig=[S([None, 3])], w=weights(3))
def for_each_row(m, x): return tf.vectorized_map(lambda row: tf.reduce_sum(row * m.w), x)


@program(tf.ones([3]), w=weights(3, 3))
def with_a_jacobian(m, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.square(tf.linalg.matvec(m.w, x))
    return tape.jacobian(y, x)


def parts(nest): return [x.numpy() for x in tf.nest.flatten(nest, expand_composites=True)]


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        if b.dtype.kind == "f": np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        else: np.testing.assert_array_equal(a, b)


def slopes(f, variables, args):
    "Gradients of what `f` gives, with respect to floating arguments and variables."
    xs = [x for x in args if isinstance(x, tf.Tensor) and x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        floats = [y for y in tf.nest.flatten(f(*args), expand_composites=True) if y.dtype.is_floating]
        total = sum([tf.reduce_sum(y * y) for y in floats])
    return parts([0.0 if g is None else tf.convert_to_tensor(g) for g in tape.gradient(total, [*xs, *variables])]) if floats else []


def moving(module): return [getattr(module, name) for name in ("w", "u") if hasattr(module, name)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    f, signature, args, attributes = PROGRAMS[name]
    here = module_of(f, signature, attributes)
    here.f(*args)
    tf.saved_model.save(here, str(tmp_path / "once"))
    there = tf.saved_model.load(str(tmp_path / "once"))
    for _ in range(2): same(parts(there.f(*args)), parts(here.f(*args)))
    tf.saved_model.save(there, str(tmp_path / "twice"))
    again = tf.saved_model.load(str(tmp_path / "twice"))
    found = [slopes(m.f, moving(m), args) for m in (here, there, again)]
    same(found[1], found[0])
    same(found[2], found[0])


def test_a_loaded_optimizer_is_one(tmp_path):
    f, signature, args, attributes = PROGRAMS["trained_adam"]
    here = module_of(f, signature, attributes)
    for _ in range(2): here.f(*args)
    tf.saved_model.save(here, str(tmp_path))
    there = tf.saved_model.load(str(tmp_path))
    assert type(there.optimizer) is tf.keras.optimizers.Adam and int(there.optimizer.iterations) == 2
    same(there.optimizer.get_weights(), here.optimizer.get_weights())
    assert there.optimizer.get_config() == here.optimizer.get_config()
    for m in (here, there): m.optimizer.apply_gradients([(tf.ones([4, 3]), m.w)])
    same([there.w.numpy()], [here.w.numpy()])


def test_what_was_printed_is_printed(tmp_path, capsys):
    m = tf.Module()
    @tf.function(input_signature=[S([])])
    def loud(x):
        tf.print("got", x, output_stream=sys.stdout)
        return x
    m.f = loud
    tf.saved_model.save(m, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    capsys.readouterr()
    loaded.f(tf.constant(3.0))
    assert capsys.readouterr().out == "got 3\n"


def refused(tmp_path, f, error, match, signature=(S([2]),), **attributes):
    m = module_of(f, list(signature), attributes)
    with pytest.raises(error, match=match): tf.saved_model.save(m, str(tmp_path))
    assert not tf.saved_model.contains_saved_model(str(tmp_path))


def test_what_cannot_be_saved(tmp_path):
    missing = (tf.errors.UnimplementedError,)
    refused(tmp_path, lambda m, x: tf.print(x, output_stream=f"file://{tmp_path}/x"), missing, "prints to 'file")
    refused(tmp_path, lambda m, x: tf.py_function(lambda x: x, [x], FLOAT), missing, "py_function")
    class Mine(tf.keras.optimizers.SGD): pass
    def step(m, x): m.optimizer.apply_gradients([(x, m.w)])
    refused(tmp_path, step, missing, "Mine cannot be saved", w=weights(2), optimizer=lambda: Mine(0.1))
    refused(tmp_path, step, missing, "SGD cannot be saved", w=weights(2), optimizer=lambda: tf.keras.optimizers.SGD(lambda: 0.1))
    table = tf.lookup.StaticHashTable(WORDS, -1)
    refused(tmp_path, lambda m, x: table.lookup(x), (AssertionError,), "untracked object StaticHashTable", [S([2], tf.string)])


def test_an_own_gradient_in_a_loop_is_refused_where_it_is_asked_for(tmp_path):
    def f(m, x):
        for _ in tf.range(2): x = clipped(x)
        return x
    m = module_of(f, [S([2])], {})
    tf.saved_model.save(m, str(tmp_path))
    loaded, x = tf.saved_model.load(str(tmp_path)), tf.ones([2])
    np.testing.assert_array_equal(loaded.f(x), [4, 4])
    with tf.GradientTape() as tape, pytest.raises(NotImplementedError, match="not saved"):
        tape.watch(x)
        tape.gradient(loaded.f(x), x)


def test_many_loaded_functions_do_not_warn_of_retracing(tmp_path, caplog):
    m = tf.Module()
    for i in range(8): setattr(m, f"f{i}", tf.function(lambda x, i=i: x + i, [S([])]))
    tf.saved_model.save(m, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    with caplog.at_level(logging.WARNING):
        for i in range(8): assert float(getattr(loaded, f"f{i}")(tf.constant(1.0))) == 1 + i
    assert not re.search("retracing", caplog.text)


def test_eagerly(tmp_path):
    "Loaded functions run step by step, too."
    for name in ("rnn", "trained_adam", "twice_through_a_loop", "put_in", "scanned", "own_gradient"):
        f, signature, args, attributes = PROGRAMS[name]
        here = module_of(f, signature, attributes)
        here.f(*args)
        tf.saved_model.save(here, str(tmp_path / name))
        there = tf.saved_model.load(str(tmp_path / name))
        want = parts(here.f(*args))
        tf.config.run_functions_eagerly(True)
        try: same(parts(there.f(*args)), want)
        finally: tf.config.run_functions_eagerly(False)
