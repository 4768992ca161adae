"""tf.function: when it traces, what it takes, what it refuses, what it leaves behind."""
import gc
import logging
import threading
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose

import tfedu as tf


def counted(f=None, **options):
    "A tf.function, and a list that grows when it is traced."
    def decorate(f):
        traces = []
        def tracked(*args, **kw):
            traces.append(1)
            return f(*args, **kw)
        tracked.__signature__ = __import__("inspect").signature(f)
        return tf.function(tracked, **options), traces
    return decorate if f is None else decorate(f)


# ---- kinds

def test_tensors_count_by_dtype_and_shape():
    f, traces = counted(lambda x: x + 1)
    for x in (1.0, 2.0, [1.0], [2.0], [[1.0]]): f(tf.constant(x))
    f(tf.constant(1)), f(tf.constant(2))
    assert len(traces) == 4


def test_python_values_count_by_value_and_type():
    f, traces = counted(lambda x, n: x)
    x = tf.constant(1.0)
    for n in (1, 1, 1.0, True, "a", "a", None): f(x, n)
    assert len(traces) == 5


def test_arrays_are_tensors():
    f, traces = counted(lambda x: x * 2)
    assert f(np.ones(2)).numpy().tolist() == [2, 2] and f(tf.constant([3.0, 4.0], tf.float64)).numpy().tolist() == [6, 8]
    assert f(np.float32(2)).numpy() == 4 and len(traces) == 2


def test_objects_count_by_identity_and_may_die():
    class Thing: pass
    f, traces = counted(lambda thing, x: x)
    one, two, x = Thing(), Thing(), tf.constant(1.0)
    f(one, x), f(one, x), f(two, x)
    assert len(traces) == 2
    alive = weakref.ref(one)
    del one
    gc.collect()
    assert alive() is None
    f(Thing(), x)
    assert len(traces) == 3


def test_variables_count_by_identity():
    f, traces = counted(lambda v: v + 1)
    a, b = tf.Variable(1.0), tf.Variable(5.0)
    assert (f(a).numpy(), f(b).numpy()) == (2, 6)
    a.assign(3.0)
    assert f(a).numpy() == 4 and len(traces) == 2


def test_nests_defaults_and_keywords_are_one_call():
    f, traces = counted(lambda x, n=2, *, table=None: x * n)
    x = tf.constant(1.0)
    f(x), f(x, 2), f(x, n=2), f(x=x), f(x, 2, table=None)
    assert len(traces) == 1
    f(x, table={"a": x, "b": [x, 1]}), f(x, table={"b": [x, 1], "a": x}), f(x, table={"a": x, "b": [x, 2]})
    assert len(traces) == 3


def test_star_arguments():
    f = tf.function(lambda *xs, **named: tf.add_n(list(xs)) + sum(named.values()))
    one = tf.constant(1.0)
    assert f(one, one, one).numpy() == 3 and f(one, a=one, b=one).numpy() == 3 and len(f.concrete_functions()) == 2


def test_composites_count_by_spec():
    f, traces = counted(lambda r: r.with_values(r.values * 2))
    assert f(tf.ragged.constant([[1], [2, 3]])).to_list() == [[2], [4, 6]]
    assert f(tf.ragged.constant([[1, 2, 3], []])).to_list() == [[2, 4, 6], []]
    f(tf.ragged.constant([[1], [2], [3]]))
    assert len(traces) == 2


def test_devices_are_kinds():
    f, traces = counted(lambda x: x + 1)
    x = tf.constant(1.0)
    f(x)
    with tf.device("CPU:0"): assert f(x).numpy() == 2
    f(x)
    assert len(traces) == 2


def test_mutable_default_structures_are_compared():
    f, traces = counted(lambda x, sizes: tf.reshape(x, sizes))
    x = tf.ones(6)
    assert f(x, [2, 3]).shape == (2, 3) and f(x, [3, 2]).shape == (3, 2) and f(x, (3, 2)).shape == (3, 2) and len(traces) == 3


# ---- input signatures

def test_input_signature_makes_one_graph():
    f, traces = counted(lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None], tf.float32)])
    assert [f(tf.ones(n)).numpy() for n in (1, 2, 5)] == [1, 2, 5] and f([1, 2]).numpy() == 3 and f(np.ones(4, np.float64)).numpy() == 4
    assert len(traces) == 1


@pytest.mark.parametrize("bad", [lambda: tf.ones((2, 2)), lambda: tf.constant([1]), lambda: tf.constant(1.0)])
def test_input_signature_refuses(bad):
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"): f(bad())


def test_input_signature_refuses_more():
    spec = tf.TensorSpec([], tf.float32)
    f = tf.function(lambda x, y: x, input_signature=[spec, {"a": spec}])
    assert f(1.0, {"a": 2.0}).numpy() == 1
    with pytest.raises(ValueError, match="Structure"): f(1.0, {"b": 2.0})
    with pytest.raises(TypeError): f(1.0)
    with pytest.raises(ValueError, match="convertible"): f("text", {"a": object()})
    with pytest.raises(TypeError, match="tuple or a list"): tf.function(lambda x: x, input_signature=spec)
    with pytest.raises(TypeError): tf.function(lambda x: x, input_signature=[spec, spec])
    with pytest.raises(TypeError): tf.function(lambda x: x, input_signature=[3])
    with pytest.raises(ValueError, match="keyword-only"): tf.function(lambda x, *, k: x, input_signature=[spec])


def test_input_signature_of_a_method_and_of_composites():
    class Model:
        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def __call__(self, rows): return tf.reduce_sum(rows, 1)
    assert Model()(tf.ragged.constant([[1.0, 2.0], []])).numpy().tolist() == [3, 0]
    assert Model()(tf.ragged.constant([[1.0], [2.0], [3.0, 4.0]])).numpy().tolist() == [1, 2, 7]
    g = tf.function(lambda s: tf.sparse.to_dense(s), input_signature=[tf.SparseTensorSpec([None, None])])
    assert g(tf.sparse.from_dense([[1.0, 0.0]])).numpy().tolist() == [[1, 0]]
    assert g(tf.sparse.from_dense(np.eye(2, dtype=np.float32))).shape == (2, 2)


def test_relaxed_shapes():
    shapes = []
    @tf.function(experimental_relax_shapes=True)
    def f(x):
        shapes.append(x.shape.as_list())
        return tf.reduce_sum(x)
    for n in (2, 3, 4, 2, 7): assert f(tf.ones((n, 3))).numpy() == 3 * n
    assert shapes == [[2, 3], [None, 3]]


# ---- concrete functions

def test_concrete_functions_from_specs_values_and_signature():
    @tf.function
    def power(x, n): return x ** n
    cube = power.get_concrete_function(tf.TensorSpec([None], tf.float32), 3)
    assert cube(tf.constant([2.0, 3.0])).numpy().tolist() == [8, 27] and cube(tf.constant([2.0]), 3).numpy() == 8
    assert cube(x=tf.constant([1.0])).numpy() == 1
    with pytest.raises(ValueError, match="was constructed with int value 3 in n"): cube(tf.constant([2.0]), 2)
    with pytest.raises(TypeError, match="missing required"): cube()
    with pytest.raises(TypeError, match="unexpected keyword"): cube(tf.constant([1.0]), m=1)
    with pytest.raises(TypeError, match="got two values"): cube(tf.constant([1.0]), x=tf.constant([1.0]))
    with pytest.raises(TypeError, match="positional arguments"): cube(tf.constant([1.0]), 3, 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float32 tensor but is a int32"): cube(tf.constant([1]))
    with pytest.raises(ValueError): cube(tf.constant(1.0))
    f = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([], tf.int32)])
    assert f.get_concrete_function()(1).numpy() == 2


def test_concrete_function_tells_about_itself():
    v, frozen = tf.Variable(2.0), tf.Variable(1.0, trainable=False)
    @tf.function
    def f(x, y=None, n=3): return {"sum": x * v + frozen, "n": n}
    c = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert c.structured_input_signature == ((tf.TensorSpec([2], tf.float32, "x"), None, 3), {})
    assert set(c.structured_outputs) == {"sum", "n"} and c.structured_outputs["sum"].shape == (2,)
    assert c.pretty_printed_signature(verbose=False) == "f(x, y=None, n=3)"
    assert "x: float32 Tensor, shape=(2,)" in c.pretty_printed_signature() and "Returns:" in c.pretty_printed_signature()
    assert {id(w) for w in c.variables} == {id(v), id(frozen)} and [w is v for w in c.trainable_variables] == [True]
    assert {id(w) for w in c.captured_inputs} >= {id(v), id(frozen)} and len(c.inputs) == 3 and c.graph is not None
    assert f.pretty_printed_concrete_signatures(verbose=False) == "f(x, y=None, n=3)" and f.experimental_get_tracing_count() == 1
    assert f.python_function.__name__ == "f" and f.__name__ == "f"


def test_concrete_of_a_composite():
    c = tf.function(lambda r: r * 2).get_concrete_function(tf.RaggedTensorSpec([None, None], tf.int32))
    assert c(tf.ragged.constant([[1], [2, 3]])).to_list() == [[2], [4, 6]]


# ---- state

def test_variables_on_the_first_call_only():
    made = []
    @tf.function
    def f(x):
        if not made: made.append(tf.Variable(10.0))
        return made[0].assign_add(x)
    assert f(tf.constant(1.0)).numpy() == 11 and f(tf.constant(1.0)).numpy() == 12 and len(made) == 1
    @tf.function
    def bad(x): return tf.Variable(x) + 1
    with pytest.raises(ValueError, match="tried to create variables on non-first call"): bad(1.0)


def test_first_values_are_lifted():
    made = []
    @tf.function
    def f(x):
        if not made: made.append(tf.Variable(tf.exp(tf.constant(0.0)) + 2))
        return made[0] + x
    assert f(tf.constant(1.0)).numpy() == 4


def test_effects_happen_in_order():
    v = tf.Variable(1.0)
    @tf.function
    def f():
        a = v.read_value()
        v.assign(a * 10)
        b = v.read_value()
        v.assign_add(1.0)
        return a, b, v
    assert [float(x) for x in f()] == [1, 10, 11] and [float(x) for x in f()] == [11, 110, 111] and v.numpy() == 111


def test_random_numbers_are_fresh_and_repeatable():
    f = tf.function(lambda: tf.random.normal([3]))
    a, b = f().numpy(), f().numpy()
    assert (a != b).all()
    tf.random.set_seed(7)
    c, d = f().numpy(), f().numpy()
    tf.random.set_seed(7)
    assert_allclose([f().numpy(), f().numpy()], [c, d])
    assert (c != d).all()
    tf.random.set_seed(None)


def test_generators_step():
    g, eager = tf.random.Generator.from_seed(3), tf.random.Generator.from_seed(3)
    f = tf.function(lambda: (g.normal([2]), g.uniform([2], maxval=5, dtype=tf.int32), g.uniform_full_int([1])))
    for _ in range(3):
        got, want = f(), (eager.normal([2]), eager.uniform([2], maxval=5, dtype=tf.int32), eager.uniform_full_int([1]))
        for a, b in zip(got, want): np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert g.state.numpy().tolist() == eager.state.numpy().tolist()


# ---- methods, threads, settings

def test_methods_have_tables_of_their_own_that_die_with_the_object():
    class Layer:
        def __init__(self, w): self.w = tf.Variable(w)
        @tf.function
        def __call__(self, x): return x * self.w
        @tf.function(experimental_relax_shapes=True)
        def total(self, x): return tf.reduce_sum(x * self.w)
    a, b, x = Layer(2.0), Layer(3.0), tf.constant(1.0)
    assert (a(x).numpy(), b(x).numpy(), a(x).numpy()) == (2, 3, 2) and a.__call__ is not None and a.total(tf.ones(2)).numpy() == 4
    assert Layer.total.get_concrete_function is not None and a.total is a.total
    alive = weakref.ref(a)
    del a
    gc.collect()
    assert alive() is None


def test_threads():
    f, traces = counted(lambda x: tf.reduce_sum(tf.exp(x)))
    found, errors = {}, []
    def work(n):
        try:
            for k in range(20): found[n, k] = float(f(tf.fill([1 + (n + k) % 5], 0.0)))
        except Exception as error: errors.append(error)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert not errors and all(v == 1 + (n + k) % 5 for (n, k), v in found.items()) and len(traces) == 5


def test_run_functions_eagerly():
    seen = []
    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        return x + 1
    x = tf.constant(1.0)
    f(x), f(x)
    tf.config.run_functions_eagerly(True)
    try: f(x), f(x)
    finally: tf.config.run_functions_eagerly(False)
    f(x)
    assert seen == [False, True, True]


def test_retracing_warning(caplog):
    f = tf.function(lambda n: tf.constant(n))
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        for n in range(4): f(n)
        assert not caplog.records
        f(4)
    assert "5 out of the last 5 calls to" in caplog.text and "retracing" in caplog.text


def test_retracing_warning_in_a_loop(caplog):
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        for _ in range(5): tf.function(lambda x: x + 1)(tf.constant(1.0))
    assert "out of the last" in caplog.text


# ---- nesting

def test_functions_in_functions_and_as_arguments():
    square = tf.function(lambda x: x * x)
    twice = tf.function(lambda f, x: f(f(x)))
    assert twice(square, tf.constant(3.0)).numpy() == 81 and twice(lambda x: x + 1, tf.constant(3.0)).numpy() == 5


def test_closures_over_outer_tensors():
    @tf.function
    def outer(x):
        y = x * 2
        @tf.function
        def inner(z): return z + y
        return inner(x) + inner(y)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = outer(x)
    assert z.numpy() == 21 and tape.gradient(z, x).numpy() == 7


def test_an_inner_function_reads_variables_when_it_is_called():
    v = tf.Variable(1.0)
    inner = tf.function(lambda: v * 10)
    @tf.function
    def outer():
        a = inner()
        v.assign_add(1.0)
        return a, inner()
    assert [float(x) for x in outer()] == [10, 20] and inner().numpy() == 20


def test_recursion_by_python_values():
    @tf.function
    def factorial(n): return tf.constant(1) if n == 0 else n * factorial(n - 1)
    assert factorial(5).numpy() == 120


def test_endless_recursion_is_told():
    @tf.function
    def f(x): return f(x)
    with pytest.raises(RecursionError): f(tf.constant(1.0))
    assert tf.function(lambda x: x + 1)(tf.constant(1.0)).numpy() == 2


def test_outputs_of_all_sorts():
    v = tf.Variable(5.0)
    @tf.function
    def f(x):
        return {"none": None, "number": 3, "pair": (x, [x + 1]), "variable": v,
                "ragged": tf.RaggedTensor.from_row_lengths(x, [1, 2]), "text": "a"}
    y = f(tf.constant([1.0, 2.0, 3.0]))
    assert y["none"] is None and y["number"].numpy() == 3 and y["pair"][1][0].numpy().tolist() == [2, 3, 4]
    assert isinstance(y["variable"], tf.Tensor)
    assert y["ragged"].to_list() == [[1], [2, 3]] and y["text"].numpy() == b"a" and tf.function(lambda: None)() is None
    with pytest.raises(TypeError, match="a traced function returns tensors"): tf.function(lambda: object())()


def test_leaks_are_told():
    kept = []
    @tf.function
    def f(x):
        kept.append(x + 1)
        return x
    f(tf.constant(1.0))
    with pytest.raises(TypeError, match="graph tensor"): kept[0] + 1
    with pytest.raises(ValueError, match="cannot be accessed here"): tf.function(lambda: kept[0] + 1)()
    with pytest.raises(AttributeError): kept[0].numpy()
    with pytest.raises(TypeError): bool(kept[0])


def test_an_exception_leaves_nothing_behind():
    fail = [True]
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            if fail: raise KeyError("oops")
        return tape.gradient(y, x)
    with pytest.raises(KeyError): f(tf.constant(1.0))
    assert tf.executing_eagerly() and (tf.constant(1.0) + 1).numpy() == 2
    fail.clear()
    assert f(tf.constant(3.0)).numpy() == 6
    from tfedu.core.trace import GRAPH, UNUSUAL
    assert GRAPH.get() is None and not UNUSUAL


def test_wrong_shapes_are_told_while_tracing():
    with pytest.raises(tf.errors.InvalidArgumentError): tf.function(lambda x: tf.matmul(x, x))(tf.ones((2, 3)))


def test_name_scopes():
    @tf.function
    def f(x):
        with tf.name_scope("layer"): return tf.exp(x) + 1
    names = [n.name for n in f.get_concrete_function(tf.TensorSpec([])).graph.nodes]
    assert "layer/exp" in names


def test_symbolic_tensors_refuse_python():
    def check(use, error):
        with pytest.raises(error): tf.function(use, autograph=False)(tf.constant([1.0, 2.0]))
    check(lambda x: 1 if x[0] > 0 else 2, TypeError)
    check(lambda x: [v + 1 for v in x], TypeError)
    check(lambda x: int(x[0]), TypeError)
    check(lambda x: len(x), TypeError)
    check(lambda x: x.numpy(), AttributeError)
    check(lambda x: np.array(x), NotImplementedError)


# ---- gradients

def test_gradients_inside_outside_and_both():
    f = tf.function(lambda x: tf.reduce_sum(x ** 3))
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)
    x = tf.constant([1.0, 2.0])
    assert_allclose(slope(x), [3, 12])
    with tf.GradientTape() as outer:
        outer.watch(x)
        dy = slope(x)
    assert_allclose(outer.gradient(dy, x), [6, 12])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        dy = inner.gradient(y, x)
    assert_allclose(outer.gradient(dy, x), [6, 12])


def test_second_derivative_inside():
    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.nn.l2_normalize(x) ** 3)
            dy = inner.gradient(y, x)
        return outer.gradient(dy, x)
    x = tf.constant([1.0, 2.0, 3.0])
    assert_allclose(f(x), f.python_function(x), rtol=1e-5)


def test_persistent_tapes_and_jacobians():
    f = tf.function(lambda x: tf.stack([x[0] * x[1], tf.sin(x[0])]))
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        z = f(x * 2)
    assert_allclose(tape.jacobian(y, x), [[2, 1], [np.cos(1), 0]], rtol=1e-6)
    assert_allclose(tape.gradient(z, x), [8 + 2 * np.cos(2), 4], rtol=1e-6)


def test_forward_mode_over_and_inside():
    f = tf.function(lambda x: x ** 3)
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc: y = f(x)
    assert acc.jvp(y).numpy() == 12
    @tf.function
    def inside(x):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc: y = x ** 3
        return acc.jvp(y)
    assert inside(x).numpy() == 12


def test_custom_gradients_and_recomputing():
    @tf.custom_gradient
    def clipped(x): return x * 1, lambda g: tf.clip_by_value(g, -1.0, 1.0)
    again = tf.recompute_grad(lambda x: tf.sin(x) * x)
    x = tf.constant(2.0)
    for f in (lambda x: clipped(x * 5), lambda x: again(x), lambda x: tf.stop_gradient(x) * x):
        def slope(f):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x).numpy()
        assert_allclose(slope(tf.function(f)), slope(f), rtol=1e-6)


def test_variables_get_gradients():
    w, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([0.5, 0.5])
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x @ w + b)))
    x = tf.ones((3, 2))
    def slopes(f):
        with tf.GradientTape() as tape: y = f(x)
        return tape.gradient(y, [w, b])
    for a, c in zip(slopes(f), slopes(f.python_function)): assert_allclose(a, c, rtol=1e-6)


def test_gathered_rows_stay_rows():
    table = tf.Variable(np.ones((100, 2), np.float32))
    f = tf.function(lambda ids: tf.reduce_sum(tf.gather(table, ids)))
    with tf.GradientTape() as tape: y = f(tf.constant([3, 5, 3]))
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices) and sorted(g.indices.numpy().tolist()) == [3, 3, 5]


def test_training_step():
    w = tf.Variable([1.0, 1.0])
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), tf.constant([3.0, 7.0, 12.0])
    def step(w, optimizer):
        with tf.GradientTape() as tape: loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss
    other = tf.Variable([1.0, 1.0])
    eager, traced = tf.keras.optimizers.Adam(0.1), tf.keras.optimizers.Adam(0.1)
    graph = tf.function(lambda: step(w, traced))
    for _ in range(5): assert_allclose(graph(), step(other, eager), rtol=1e-5)
    assert_allclose(w.numpy(), other.numpy(), rtol=1e-5)


# ---- shapes

def test_unknown_sizes():
    seen = []
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        seen.append((x.shape.as_list(), tf.reshape(x, [-1]).shape.as_list(), tf.reduce_sum(x, 1).shape.as_list(),
                     tf.where(x > 0).shape.as_list()))
        n = tf.shape(x)[0]
        return tf.reshape(x, [n * 3]), tf.range(n), tf.zeros([n, 2])
    for k in (1, 4): assert [y.shape.as_list() for y in f(tf.ones((k, 3)))] == [[3 * k], [k], [k, 2]]
    assert seen == [([None, 3], [None], [None], [None, 2])]


def test_results_that_depend_on_numbers_have_unknown_sizes():
    f = tf.function(lambda x, n: (tf.boolean_mask(x, x > 0), tf.unique(x)[0], tf.range(n), tf.argmax(x)))
    outs = f.get_concrete_function(tf.TensorSpec([3]), tf.TensorSpec([], tf.int32)).structured_outputs
    assert [y.shape.as_list() for y in outs] == [[None], [None], [None], []]
    got = f(tf.constant([1.0, 1.0, -1.0]), tf.constant(4))
    assert [y.numpy().tolist() for y in got] == [[1, 1], [1, -1], [0, 1, 2, 3], 0]


def test_a_tensor_array_cannot_leave_its_function():
    def filled(x):
        array = tf.TensorArray(tf.float32, size=2)
        return array.write(0, x).write(1, x + 1)
    x = tf.constant([1., 2.])
    for f in (filled, lambda x: {"all": [x, filled(x)]}, lambda x: tf.function(filled)(x).stack()):
        with pytest.raises(TypeError, match=r"returns a TensorArray.*return its stack\(\) or concat\(\)"): tf.function(f)(x)
    np.testing.assert_array_equal(tf.function(lambda x: filled(x).stack())(x), [[1., 2.], [2., 3.]])
    def step(i, array): return i + 1, array.write(i, x)
    loop = tf.function(lambda: tf.while_loop(lambda i, _: i < 2, step, (0, tf.TensorArray(tf.float32, 2)))[1].stack())
    np.testing.assert_array_equal(loop(), [[1., 2.]] * 2)   # between the steps of a loop it may


@pytest.mark.parametrize("f, args", [
    (lambda x, p: tf.transpose(x, p), (np.ones([2, 3, 4], np.float32), [2, 0, 1])),
    (lambda x, p: tf.transpose(x, p), (np.ones([2, 3], np.float32), [1, 0])),
    (lambda x, p: tf.einsum("ijk->kij", tf.transpose(x, p)), (np.ones([2, 3, 4], np.float32), [1, 2, 0])),
    (tf.math.unsorted_segment_sum, (np.ones([4, 2], np.float32), [0, 0, 1, 5], 7)),
    (tf.math.unsorted_segment_max, (np.ones([4, 2], np.float32), [0, 0, 1, 5], 9)),
    (lambda n: tf.zeros([n, 3]), (2,)), (lambda n: tf.zeros(n), ([2, 5],)),
    (lambda x, n: tf.reshape(x, [n, -1]), (np.ones(6, np.float32), 3)),
    (lambda x, r: tf.repeat(x, r), (np.ones(3, np.float32), [1, 2, 2])), (lambda x, d: tf.one_hot(x, d), ([1, 2], 5)),
    (lambda x, a: tf.concat([x, x], a), (np.ones([2, 3]), 1)), (lambda x, a: tf.argmax(x, a), (np.ones([2, 3]), 1)),
    (lambda x, n: tf.math.top_k(x, n)[0], (np.arange(9.), 2)), (lambda x, n: tf.tile(x, [n]), (np.arange(9.), 2))])
def test_a_guessed_shape_is_not_wrong(f, args):
    args = [tf.constant(x) for x in args]
    concrete = tf.function(f).get_concrete_function(*args)
    y = concrete(*args)
    np.testing.assert_array_equal(y, f(*args))
    assert concrete.structured_outputs.shape.is_compatible_with(y.shape)


@pytest.fixture
def five():
    tf.random.set_seed(5)
    yield
    tf.random.set_seed(None)


def several(draw, *order):
    "What functions with one text give, called in this order."
    functions = [tf.function(draw) for _ in range(1 + max(order))]
    return [tf.nest.map_structure(lambda x: x.numpy().tolist(), functions[i]()) for i in order]


@pytest.mark.parametrize("draw", [
    lambda: tf.random.normal([4], seed=1), lambda: tf.random.uniform([4]), lambda: tf.random.shuffle(tf.range(40), seed=1),
    lambda: tf.nn.dropout(tf.ones(40), 0.5, seed=1), lambda: tf.nn.dropout(tf.ones(40), 0.5), lambda: tf.random.gamma([4], 2., seed=1),
    lambda: tf.random.categorical([[0.] * 40], 8, seed=1), lambda: tf.image.random_brightness(tf.ones([4, 4, 3]), 0.5, seed=1),
    lambda: tf.image.random_flip_left_right(tf.reshape(tf.range(480.), [10, 4, 4, 3])), lambda: tf.random.truncated_normal([4]),
    lambda: tf.image.random_crop(tf.reshape(tf.range(400.), [20, 20, 1]), [5, 5, 1], seed=2),
    lambda: tf.random.uniform([4], 0, 1000, tf.int32, 3)])
def test_every_function_draws_from_the_start(draw, five):
    a, b, c, d = several(draw, 0, 1, 0, 1)
    assert a == b and c == d and a != c
    tf.random.set_seed(5)
    assert several(draw, 0, 0, 1) == [a, c, a]


def test_seeds_in_functions_as_in_tensorflow(five):
    "What TensorFlow 2.21 draws after set_seed(5)."
    one, two = (lambda: tf.random.uniform([], seed=1)), (lambda: (tf.random.uniform([]), tf.random.uniform([])))
    assert_allclose(several(one, 0, 1, 0, 1), [0.3875184, 0.3875184, 0.9859231, 0.9859231])
    assert_allclose(several(two, 0, 0), [(0.1828648, 0.3875184), (0.6730766, 0.9859231)], rtol=1e-6)
    inner = tf.function(one)
    outer = tf.function(lambda: (inner(), inner()))
    assert_allclose([outer(), outer()], [[0.3875184] * 2, [0.9859231] * 2])
    assert_allclose(inner(), 0.3875184)
    by_kind = tf.function(lambda n: tf.random.uniform([], seed=1))
    assert_allclose([by_kind(1), by_kind(2), by_kind(1)], [0.3875184, 0.3875184, 0.9859231])
    @tf.function
    def loop():
        r = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3): r = r.write(i, tf.random.uniform([], seed=1))
        return r.stack()
    assert_allclose(loop(), [0.3875184, 0.9859231, 0.9647], rtol=1e-6)
    assert_allclose(loop(), [0.8333188, 0.0816103, 0.9182934], rtol=1e-5)


def test_a_function_starts_anew_after_set_seed(five):
    f = tf.function(lambda: tf.random.uniform([], seed=1))
    first = [float(f()), float(f())]
    tf.random.set_seed(5)
    assert [float(f()), float(f())] == first
    tf.random.set_seed(None)
    g = tf.function(lambda: (tf.random.uniform([]), tf.random.uniform([])))
    assert len({float(x) for x in (*g(), *g(), *tf.function(g.python_function)())}) == 6   # no seed at all: nothing repeats


# ---- composites under an input signature

def test_one_graph_serves_all_sparse_tensors_of_a_signature():
    f, traces = counted(lambda s: (tf.sparse.reduce_sum(s), str(s.shape) == "(None, 2)"), input_signature=[tf.SparseTensorSpec([None, 2])])
    for n in (1, 2, 3):
        total, shape = f(tf.sparse.from_dense(np.ones((n, 2), np.float32)))
        assert total.numpy() == 2 * n and shape.numpy()
    assert len(traces) == 1
    with pytest.raises(ValueError, match="incompatible with input_signature"): f(tf.sparse.from_dense(np.ones((2, 3), np.float32)))


def test_one_graph_serves_all_ragged_tensors_of_a_signature():
    f, traces = counted(lambda r: (tf.reduce_sum(r, 1), r.to_tensor()), input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    for rows in ([[1.0, 2.0]], [[], [3.0]], [[1.0], [2.0, 5.0], []]):
        sums, whole = f(tf.ragged.constant(rows))
        assert sums.numpy().tolist() == [sum(row) for row in rows] and whole.shape == (len(rows), max(map(len, rows)))
    assert len(traces) == 1


def test_one_graph_serves_all_ranks_of_a_signature():
    spec = [tf.TensorSpec(None), {"a": tf.SparseTensorSpec([3, None])}]
    f, traces = counted(lambda x, d, n=1: (x * 2.0, tf.sparse.to_dense(d["a"]) * n), input_signature=spec)
    for shape, columns in ((3,), 2), ((3, 2), 5), ((), 1):
        x, y = f(tf.ones(shape), {"a": tf.sparse.from_dense(np.ones((3, columns), np.float32))})
        assert x.shape == shape and y.shape == (3, columns)
    assert len(traces) == 1


def test_inputs_have_the_names_of_arguments_and_a_graph_lists_its_operations():
    S = tf.TensorSpec
    c = tf.function(lambda a, b: a + b).get_concrete_function(S([]), S([]))
    assert [x.name for x in c.inputs] == ["a:0", "b:0"]
    assert [node.name for node in c.graph.get_operations()] == ["a", "b", "add"]
    def f(a, b, *rest, k=None): return a + b["x"] + b["y"][0] + rest[0] + k
    c = tf.function(f).get_concrete_function(S([]), {"x": S([]), "y": [S([])]}, S([], name="zz"), k=S([]))
    assert [x.name for x in c.inputs] == ["a:0", "b:0", "b_1:0", "zz:0", "k:0"]
    assert c(1., {"x": 2., "y": [3.]}, 4., k=5.).numpy() == 15.


# ---- recursion

@tf.function
def even_power(n, x):
    if n == 0: return x
    return odd_power(n - 1, x + 1.0)

@tf.function
def odd_power(n, x):
    if n == 0: return -x
    return even_power(n - 1, x * 2.0)

@tf.function
def total(tree): return total(tree[0]) + total(tree[1]) if isinstance(tree, tuple) else tree

class Doubling(tf.Module):
    @tf.function
    def f(self, n, x):
        if n == 0: return x
        return self.f(n - 1, x) * 2.0


def test_python_values_end_a_recursion(caplog):
    @tf.function
    def factorial(n):
        if n <= 1: return tf.constant(1)
        return n * factorial(n - 1)
    assert factorial(5) == 120 and factorial.experimental_get_tracing_count() == 5
    assert even_power(5, tf.constant(1.0)) == -11.0
    module = Doubling()
    assert module.f(3, tf.constant(1.0)) == 8.0
    assert total(((tf.constant(1), tf.constant(2)), tf.constant(3))) == 6
    @tf.function
    def outer(n, x):
        @tf.function
        def inner(k, y): return y if k == 0 else inner(k - 1, y * 2.0)
        return inner(n, x) + 1.0
    assert outer(3, tf.constant(1.0)) == 9.0
    assert "retracing" not in caplog.text   # one call, although it traced several graphs


def test_a_recursion_that_a_tensor_should_end_says_what_to_do():
    @tf.function
    def factorial(n):
        if n <= 1: return tf.constant(1)
        return n * factorial(n - 1)
    def helper(n): return tf.constant(1) if n <= 1 else n * helper(n - 1)
    @tf.function
    def by_helper(n): return helper(n)
    cond = tf.function(lambda n: tf.cond(n <= 0, lambda: 0, lambda: cond(n - 1)))
    for f, name in ((factorial, "factorial"), (by_helper, "helper"), (cond, "<lambda>")):
        with pytest.raises(RecursionError, match=f"{name} called itself too often while it was traced.*tf.while_loop"): f(tf.constant(5))
    module = Doubling()
    with pytest.raises(RecursionError, match="Doubling.f called itself"): module.f(tf.constant(3), tf.constant(1.0))
    assert factorial(4) == 24   # it still works for what it can do
