"""Saved models: programs that run without their source, in another process too; signatures, assets, training; what cannot be saved."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfedu as tf
from tfedu.program.graph_data import public_function


def there_and_back(obj, folder, **kw):
    tf.saved_model.save(obj, str(folder), **kw)
    return tf.saved_model.load(str(folder))


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w, self.b = tf.Variable([[1., 2.], [3., 4.]], name="w"), tf.Variable([0.5, -0.5], name="b")
        self.steps = tf.Variable(0, dtype=tf.int64, trainable=False)

    @tf.function
    def __call__(self, x, training=False):
        y = tf.matmul(x, self.w) + self.b
        return tf.nn.relu(y) * 2. if training else tf.nn.relu(y)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
    def both(self, x): return {"mean": tf.reduce_mean(x, 0), "shape": tf.shape(x), "pair": (x[0], x[-1])}

    @tf.function(input_signature=[])
    def count(self): return self.steps.assign_add(1)


X = tf.constant([[1., -1.], [2., 0.5], [0., 0.]])


def test_all_graphs_come_back(tmp_path):
    net = Net()
    expected = [net(X), net(X, training=True), net(X[:2])]
    loaded = there_and_back(net, tmp_path)
    for a, b in zip(expected, [loaded(X), loaded(X, training=True), loaded(X[:2])], strict=True): np.testing.assert_array_equal(a.numpy(),
        b.numpy())
    np.testing.assert_array_equal(loaded(X, True).numpy(), expected[1].numpy())
    with pytest.raises(ValueError, match="Could not find matching function"): loaded(tf.constant([[1, 2]]))
    with pytest.raises(ValueError, match="Could not find matching function"): loaded(X, training=None)
    with pytest.raises(TypeError): loaded(X, wrong=1)


def test_structures_and_sizes(tmp_path):
    loaded = there_and_back(Net(), tmp_path)
    for rows in (1, 3, 7):
        x = tf.reshape(tf.range(2. * rows), [rows, 2])
        found = loaded.both(x)
        np.testing.assert_array_equal(found["mean"].numpy(), x.numpy().mean(0))
        assert found["shape"].numpy().tolist() == [rows, 2] and found["pair"][1].numpy().tolist() == x.numpy()[-1].tolist()


def test_changes_of_variables(tmp_path):
    net = Net()
    net.count()
    loaded = there_and_back(net, tmp_path)
    assert [int(loaded.count()) for _ in range(3)] == [2, 3, 4] and int(loaded.steps) == 4 and int(net.steps) == 1
    assert loaded.w.trainable and not loaded.steps.trainable and loaded.w.name == "w:0" and len(loaded.trainable_variables) == 2


def test_gradients_and_training(tmp_path):
    net = Net()
    net(X)
    loaded = there_and_back(net, tmp_path)
    grads = []
    for m in (net, loaded):
        with tf.GradientTape() as tape: loss = tf.reduce_sum(m(X) ** 2)
        grads.append([g.numpy() for g in tape.gradient(loss, [m.w, m.b])])
    for a, b in zip(*grads, strict=True): np.testing.assert_allclose(a, b)
    optimizer, losses = tf.keras.optimizers.SGD(0.01), []
    for _ in range(5):
        with tf.GradientTape() as tape: losses.append(loss := tf.reduce_sum(loaded(X) ** 2))
        optimizer.apply_gradients(zip(tape.gradient(loss, [loaded.w, loaded.b]), [loaded.w, loaded.b], strict=True))
    assert losses[-1] < losses[0]


def test_second_derivatives_and_use_inside_a_function(tmp_path):
    m = tf.Module()
    m.f = tf.function(lambda x: x ** 3, input_signature=[tf.TensorSpec([])])
    m.f(tf.constant(1.))
    loaded = there_and_back(m, tmp_path)
    x = tf.constant(2.)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = loaded.f(x)
        first = inner.gradient(y, x)
    assert float(first) == 12 and float(outer.gradient(first, x)) == 12
    assert float(tf.function(lambda x: loaded.f(x) + 1.)(x)) == 9


def test_a_step_of_training_is_saved_with_its_gradient(tmp_path):
    class Step(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([1., 2.])
        @tf.function(input_signature=[tf.TensorSpec([2])])
        def step(self, x):
            with tf.GradientTape() as tape: loss = tf.reduce_sum((self.w * x - 1.) ** 2)
            self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
            return loss
    m = Step()
    loaded = there_and_back(m, tmp_path)
    x = tf.constant([1., 0.5])
    for _ in range(4): assert float(m.step(x)) == pytest.approx(float(loaded.step(x)))
    np.testing.assert_allclose(m.w.numpy(), loaded.w.numpy(), rtol=1e-6)


# -- signatures ----------------------------------------------------------------------------------------------------------------------

def test_signatures(tmp_path):
    net = Net()
    net(X)
    tf.saved_model.save(net, str(tmp_path), signatures={"serving_default": net.__call__.get_concrete_function(tf.TensorSpec([None, 2],
        name="x")), "mean": mean})
    loaded = tf.saved_model.load(str(tmp_path))
    assert sorted(loaded.signatures) == ["mean", "serving_default"] and len(loaded.signatures) == 2
    serve = loaded.signatures["serving_default"]
    assert list(found := serve(x=X)) == ["output_0"]
    np.testing.assert_array_equal(found["output_0"].numpy(), net(X).numpy())
    assert loaded.signatures["mean"](values=tf.constant([1., 3.]))["mean"].numpy() == 2
    assert list(serve.structured_input_signature[1]) == ["x"] and list(serve.structured_outputs) == ["output_0"]
    with pytest.raises(TypeError): serve()
    loaded.w.assign(loaded.w * 2.)
    assert not np.array_equal(serve(x=X)["output_0"].numpy(), net(X).numpy())   # the variables are those of the object


@tf.function(input_signature=[tf.TensorSpec([None], name="values")])
def mean(values): return {"mean": tf.reduce_mean(values)}


def test_signatures_that_are_none(tmp_path):
    net = Net()
    with pytest.raises(ValueError, match="Decorate it"): tf.saved_model.save(net, str(tmp_path), signatures=lambda x: x)
    with pytest.raises(ValueError, match="input_signature"): tf.saved_model.save(net, str(tmp_path), signatures=net.__call__)
    with pytest.raises(ValueError, match="non-flat outputs"): tf.saved_model.save(net, str(tmp_path), signatures=net.both)
    with pytest.raises(ValueError, match="texts as names"): tf.saved_model.save(net, str(tmp_path), signatures={1: mean})
    assert not tf.saved_model.contains_saved_model(str(tmp_path))


# -- objects -------------------------------------------------------------------------------------------------------------------------

def test_objects_lists_sharing_and_cycles(tmp_path):
    m, child = tf.Module(), tf.Module()
    child.v, child.parent = tf.Variable([1.]), m
    m.items, m.pair, m.table, m.again = [child, tf.Variable(2.)], (child, tf.Variable(3.)), {"a": child}, child
    loaded = there_and_back(m, tmp_path)
    assert loaded.items[0] is loaded.again is loaded.pair[0] is loaded.table["a"] and loaded.again.parent is loaded
    assert isinstance(loaded.pair, tuple) and float(loaded.pair[1]) == 3


def test_assets_are_copied(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    for name in ("one", "two"): (tmp_path / name / "words.txt").write_text(name)
    m = tf.Module()
    m.a, m.b = tf.saved_model.Asset(str(tmp_path / "one" / "words.txt")), tf.saved_model.Asset(str(tmp_path / "two" / "words.txt"))
    tf.saved_model.save(m, str(tmp_path / "model"))
    os.rename(tmp_path / "model", tmp_path / "moved")
    loaded = tf.saved_model.load(str(tmp_path / "moved"))
    assert [Path(x.asset_path.numpy().decode()).read_text() for x in (loaded.a, loaded.b)] == ["one", "two"]


def test_every_kind_of_argument(tmp_path):
    m = tf.Module()
    @tf.function
    def f(x, n=2, mode="add", *rest, scale=1.5, **more):
        return x * scale + float(n) if mode == "add" else x * float(n) + sum(rest) + more.get("z", 0.)
    calls = [((1.,), {}), ((1.,), {"n": 3}), ((1., 2, "mul", tf.constant(5.)), {}), ((1.,), {"mode": "mul", "z": tf.constant(9.)}),
        ((1.,), {"scale": 2.5})]
    expected = [float(f(tf.constant(*a[:1]), *a[1:], **k)) for a, k in calls]
    m.f = f
    loaded = there_and_back(m, tmp_path)
    assert [float(loaded.f(tf.constant(*a[:1]), *a[1:], **k)) for a, k in calls] == expected
    assert float(loaded.f(np.float32(1.))) == expected[0] and float(loaded.f(1.)) == expected[0]


def test_ragged_and_sparse(tmp_path):
    m = tf.Module()
    m.f = tf.function(lambda r: tf.reduce_sum(r, 1))
    m.g = tf.function(lambda s: tf.sparse.to_dense(s) * 2.)
    ragged, sparse = tf.ragged.constant([[1., 2.], [3.]]), tf.sparse.from_dense([[0., 1.], [2., 0.]])
    expected = m.f(ragged).numpy(), m.g(sparse).numpy()
    loaded = there_and_back(m, tmp_path)
    np.testing.assert_array_equal(loaded.f(ragged).numpy(), expected[0])
    np.testing.assert_array_equal(loaded.g(sparse).numpy(), expected[1])


PROGRAMS = {
    "captured": lambda x: x + tf.constant([1., 2.]), "slices": lambda x: x[..., ::-1] + x[:1],
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "conv": lambda x: tf.nn.conv1d(x[None, :, :], tf.ones([2, 2, 3]), 1, "SAME"),
    "split": lambda x: tf.split(x, 2, 1)[1] + tf.unstack(x, axis=1)[0][:, None],
    "cast": lambda x: tf.cast(x, tf.int32) + tf.cast(x > 0., tf.int32), "softmax": lambda x: tf.nn.softmax(x, -1),
    "norm": lambda x: tf.linalg.norm(x, axis=0),
    "moments": lambda x: tf.nn.moments(x, [0]), "gather": lambda x: tf.gather(x, [1, 0], axis=1),
    "where": lambda x: tf.where(x > 0., x, -x),
    "topk": lambda x: tf.math.top_k(x, 1), "text": lambda x: tf.fill([2], "a"), "onehot": lambda x: tf.one_hot([0, 2], 3),
    "concat": lambda x: tf.concat([x, x], 0),
    "size": lambda x: tf.zeros([tf.shape(x)[0], 3]) + 1., "dtype": lambda x: tf.cast(x, tf.bfloat16),
    "svd": lambda x: tf.linalg.svd(x, compute_uv=False),
    "sort": lambda x: tf.sort(x, direction="DESCENDING"), "pad": lambda x: tf.pad(x, [[1, 1], [0, 0]], constant_values=7.),
    "unique": lambda x: tf.unique(tf.constant([1, 1, 2])),
    "cumsum": lambda x: tf.cumsum(x, reverse=True, exclusive=True), "clip": lambda x: tf.clip_by_value(x, -0.5, 0.5),
    "nothing": lambda x: None, "list": lambda x: [x, None, {"a": x}],
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("rows", [3, None])
def test_programs(tmp_path, name, rows):
    m = tf.Module()
    m.f = tf.function(PROGRAMS[name], input_signature=[tf.TensorSpec([rows, 2])])
    expected = m.f(X)
    found = there_and_back(m, tmp_path).f(X)
    for a, b in zip(tf.nest.flatten(expected), tf.nest.flatten(found), strict=True):
        if a is not None:
            assert a.dtype is b.dtype
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_another_process_needs_no_source(tmp_path):
    net = Net()
    tf.saved_model.save(net, str(tmp_path), signatures=net.__call__.get_concrete_function(tf.TensorSpec([None, 2], name="x")))
    code = ("import sys, tfedu as tf; m = tf.saved_model.load(sys.argv[1]); "
            "print(m.signatures['serving_default'](x=tf.constant([[1., 1.]]))['output_0'].numpy().tolist())")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert done.stdout.strip() == "[[4.5, 5.5]]", done.stderr


# -- refusals ------------------------------------------------------------------------------------------------------------------------

def test_what_cannot_be_saved_says_where(tmp_path):
    m = tf.Module()
    m.v, optimizer = tf.Variable([1.]), tf.keras.optimizers.SGD(0.1)
    def step(x):
        optimizer.apply_gradients([(x, m.v)])   # this line
        return x
    m.step = tf.function(step, input_signature=[tf.TensorSpec([1])])
    with pytest.raises(AssertionError, match="apply_gradients.*cannot be saved.*untracked object SGD") as error:
        tf.saved_model.save(m, str(tmp_path))
    assert "# this line" in str(error.value) and "test_saved_model.py" in str(error.value)
    assert not tf.saved_model.contains_saved_model(str(tmp_path))


def test_variables_of_nobody(tmp_path):
    m, stray = tf.Module(), tf.Variable(1.)
    m.f = tf.function(lambda x: x + stray, input_signature=[tf.TensorSpec([])])
    with pytest.raises(AssertionError, match="untracked object"): tf.saved_model.save(m, str(tmp_path))


def test_objects_as_arguments(tmp_path):
    m = tf.Module()
    m.f = tf.function(lambda x, y: x)
    m.f(tf.constant(1.), object())
    with pytest.raises(tf.errors.UnimplementedError, match="Python object"): tf.saved_model.save(m, str(tmp_path))


def test_what_is_no_object_and_no_folder(tmp_path):
    with pytest.raises(ValueError, match="Trackable"): tf.saved_model.save(5, str(tmp_path))
    with pytest.raises(OSError, match="does not exist"): tf.saved_model.load(str(tmp_path))
    tf.saved_model.save(tf.Module(), str(tmp_path))
    with pytest.raises(RuntimeError, match="tags"): tf.saved_model.load(str(tmp_path), tags=["train"])
    assert tf.saved_model.load(str(tmp_path), tags="serve", options=tf.saved_model.LoadOptions()).tensorflow_version


def test_options():
    policy = tf.saved_model.experimental.VariablePolicy
    assert policy.from_obj("save_variable_devices") is policy.SAVE_VARIABLE_DEVICES and policy.from_obj(None) is policy.NONE
    options = tf.saved_model.SaveOptions(experimental_variable_policy="expand_distributed_variables", namespace_whitelist=["x"])
    assert options.experimental_variable_policy is policy.EXPAND_DISTRIBUTED_VARIABLES and options.namespace_whitelist == ["x"]
    assert tf.saved_model.SERVING == "serve" and tf.saved_model.SAVED_MODEL_SCHEMA_VERSION == 1
    assert tf.saved_model.VARIABLES_FILENAME == "variables"


def test_no_function_that_touches_the_world_can_be_named():
    for name in ("tf.io.read_file", "tf.io.write_file", "tf.io.gfile.rmtree", "tf.py_function", "tf.numpy_function", "tf.random.set_seed",
        "tf.saved_model.load",
                 "tf.train.Checkpoint", "os.system", "builtins.exec", "tf.function",
                 "tf.Variable", "tf.map_fn", ""):
        assert public_function(name) is None, name


# -- what is served, and what is hidden -----------------------------------------------------------------------------------------------

ONE = [tf.TensorSpec([None], name="x")]


class Served(tf.Module):
    @tf.function(input_signature=ONE)
    def __call__(self, x): return x * 2.


class Method(tf.Module):
    @tf.function(input_signature=ONE)
    def twice(self, x): return x * 2.


def holding(**parts):
    m = tf.Module()
    for name, part in parts.items(): setattr(m, name, part)
    return m


def double(signature=ONE): return tf.function(lambda x: x * 2., input_signature=signature)


@pytest.mark.parametrize("make", [Served, Method, lambda: holding(f=double()), lambda: holding(_f=double()),
    lambda: holding(f=double(None).get_concrete_function(*ONE)), lambda: holding(f=double(), g=double(None)),
    lambda: holding(f=double(), g=tf.function(lambda x: {"a": [x]}, input_signature=ONE))])
def test_one_function_that_fits_is_served(make, tmp_path):
    loaded = there_and_back(make(), tmp_path)
    assert list(loaded.signatures) == ["serving_default"]
    assert loaded.signatures["serving_default"](x=tf.constant([3.]))["output_0"].numpy().tolist() == [6.]


@pytest.mark.parametrize("make", [lambda: holding(f=double(), g=double()), lambda: holding(k=Method()), lambda: holding(f=double(None)),
    lambda: holding(f=tf.function(lambda x: {"a": [x]}, input_signature=ONE)), lambda: holding(f=tf.function(lambda x: None, ONE)),
    lambda: holding(f=tf.function(lambda r: r.flat_values, input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)]))])
def test_where_there_is_a_choice_or_nothing_fits_nothing_is_served(make, tmp_path):
    assert list(there_and_back(make(), tmp_path).signatures) == []


def test_signatures_that_were_named_or_forbidden(tmp_path):
    m = Method()
    assert list(there_and_back(m, tmp_path / "a", signatures={"b": m.twice}).signatures) == ["b"]
    assert list(there_and_back(m, tmp_path / "b", signatures={}).signatures) == []
    with pytest.raises(ValueError, match="non-flat"): tf.saved_model.save(m, str(tmp_path / "c"), tf.function(lambda: None, []))


def test_a_generator_comes_back_where_it_stood(tmp_path):
    m = holding(g=tf.random.Generator.from_seed(3))
    m.f = tf.function(lambda n: m.g.normal([n, 2]), input_signature=[tf.TensorSpec([], tf.int32)])
    m.k = tf.function(lambda: m.g.uniform([3], maxval=10, dtype=tf.int32), input_signature=[])
    m.f(2)
    loaded = there_and_back(m, tmp_path)
    for _ in range(2):
        assert m.f(2).numpy().tolist() == loaded.f(2).numpy().tolist()
        assert m.k().numpy().tolist() == loaded.k().numpy().tolist()


def test_variables_under_private_names(tmp_path):
    m = holding(_w=tf.Variable(3.), _parts=[tf.Variable(4.)])
    m.f = tf.function(lambda x: m._w * x + m._parts[0], input_signature=ONE)
    assert there_and_back(m, tmp_path).f([2.]).numpy().tolist() == [10.]


def test_a_file_asks_a_generator_for_nothing_but_draws():
    state = tf.random.Generator.from_seed(1).state.value()
    with pytest.raises(ValueError, match="'reset' is none of"): public_function("drawn")("reset", 1, state, (state,), {})
