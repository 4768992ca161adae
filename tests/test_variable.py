"""tf.Variable, its in-place updates, and tf.Module."""
import copy
import operator

import numpy as np
import pytest

import tfedu as tf

INVALID = (ValueError, tf.errors.InvalidArgumentError)


def same(value, expected, dtype=None):
    np.testing.assert_array_equal(np.asarray(value.numpy()), np.asarray(expected))
    assert tuple(value.shape) == np.shape(expected)
    if dtype is not None:
        assert value.dtype == dtype


def slices(values, indices, **kw):
    return tf.IndexedSlices(values=tf.constant(values), indices=tf.constant(indices), **kw)


# ------------------------------------------------------------------- creation

@pytest.mark.parametrize("initial, kw, expected, dtype", [
    (1.5, {}, 1.5, "float32"), (3, {}, 3, "int32"), ([1, 2], {"dtype": tf.float32}, [1.0, 2.0], "float32"),
    (np.ones(2), {}, [1, 1], "float64"),
    (True, {}, True, "bool"), ("a", {}, b"a", "string"), (lambda: 3.0, {}, 3.0, "float32"), (lambda: tf.ones([2]), {}, [1, 1], "float32"),
    ([1.0, 2.0], {"shape": [2]}, [1, 2], "float32"), ([1.0, 2.0], {"dtype": "float64"}, [1, 2], "float64"), (1j, {}, 1j, "complex128"),
])
def test_creation(initial, kw, expected, dtype):
    same(tf.Variable(initial, **kw), expected, dtype)


def test_creation_from_tensors_and_variables_copies():
    source = np.zeros(2, np.float32)
    first = tf.Variable(source)
    source[:] = 9
    same(first, [0, 0])
    tensor = tf.constant([1.0, 2.0])
    a = tf.Variable(tensor)
    b = tf.Variable(a)
    a.assign_add([1.0, 1.0])
    same(tensor, [1, 2]), same(a, [2, 3]), same(b, [1, 2])


@pytest.mark.parametrize("make", [lambda: tf.Variable(), lambda: tf.Variable(None), lambda: tf.Variable([1.0, 2.0], shape=[3]),
                                  lambda: tf.Variable([[1], [2, 3]]), lambda: tf.Variable(1.0, constraint=3), lambda: tf.Variable(object()),
                                  lambda: tf.Variable(tf.constant(1.0), dtype=tf.int32)])
def test_creation_errors(make):
    with pytest.raises((ValueError, TypeError)):
        make()


def test_attributes():
    v = tf.Variable([[1.0, 2.0]], name="v")
    assert v.name == "v:0" and v.dtype is tf.float32 and v.shape == (1, 2) and v.get_shape() == [1, 2]
    assert isinstance(v.shape, tf.TensorShape)
    assert v.trainable is True and tf.Variable(1.0, trainable=False).trainable is False and tf.Variable(1).trainable is True
    assert v.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert tf.Variable(1.0).name == "Variable:0" and tf.Variable(0.0, name="v").name == "v:0"      # names need not be unique
    def keep(x):
        return x
    assert v.constraint is None and tf.Variable(1.0, constraint=keep).constraint is keep
    assert isinstance(v, tf.Variable) and not isinstance(tf.constant(1), tf.Variable)
    with pytest.raises(AttributeError):
        v.no_such_attribute
    for attribute in ("shape", "dtype", "name", "trainable"):
        with pytest.raises(AttributeError):
            setattr(v, attribute, None)


@pytest.mark.parametrize("make, text", [
    (lambda: tf.Variable(1), "<tf.Variable 'Variable:0' shape=() dtype=int32, numpy=1>"),
    (lambda: tf.Variable(1.5, name="v"), "<tf.Variable 'v:0' shape=() dtype=float32, numpy=1.5>"),
    (lambda: tf.Variable([1.0, 2.0], name="w"), "<tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
    (lambda: tf.Variable([[1, 2], [3, 4]]),
     "<tf.Variable 'Variable:0' shape=(2, 2) dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>"),
    (lambda: tf.Variable("a"), "<tf.Variable 'Variable:0' shape=() dtype=string, numpy=b'a'>"),
    (lambda: tf.Variable([1.0], shape=[None]), "<tf.Variable 'Variable:0' shape=(None,) dtype=float32, numpy=array([1.], dtype=float32)>"),
])
def test_repr(make, text):
    assert repr(make()) == text and str(make()) == text


# ----------------------------------------------------------------- assignment

def test_assign_family_and_return_values():
    v = tf.Variable([1.0, 2.0])
    for update, expected in ((lambda: v.assign([3, 4]), [3, 4]), (lambda: v.assign_add([1.0, 1.0]), [4, 5]),
                             (lambda: v.assign_sub(tf.constant([2.0, 2.0])), [2, 3]), (lambda: v.assign(v * 2), [4, 6]),
                             (lambda: v.assign(value=np.array([7.0, 8.0])), [7, 8]), (lambda: v.assign_add(delta=[1, 1]), [8, 9])):
        result = update()
        same(result, expected), same(v, expected)
        np.testing.assert_array_equal(tf.convert_to_tensor(result).numpy(), expected)
    assert v.assign([0.0, 0.0], read_value=False) is None and v.assign_add([1.0, 1.0], read_value=False) is None
    assert v.assign_sub([3.0, 1.0], use_locking=False, name="n", read_value=False) is None
    same(v, [-2, 0])
    v.assign([0.0, 0.0]).assign_add([1.0, 2.0]).assign_sub([0.0, 1.0])        # the result is the variable again
    same(v, [1, 1])
    w = tf.Variable([1.0, 1.0])
    v.assign(w), w.assign_add([1.0, 1.0])
    same(v, [1, 1])


def test_assign_from_an_array_copies_it():
    v, source = tf.Variable([0.0, 0.0]), np.ones(2, np.float32)
    v.assign(source)
    source[:] = 5
    same(v, [1, 1])
    tensor = tf.constant([2.0, 2.0])
    v.assign(tensor), v.assign_add([1.0, 1.0])
    same(tensor, [2, 2])


def test_tensors_read_before_an_update_keep_their_value():
    v = tf.Variable([1.0, 2.0, 3.0])
    read = [v.value(), v.read_value(), tf.convert_to_tensor(v), v + 0.0, tf.identity(v), v[:], tf.reshape(v, [3]),
            tf.reshape(v, [3, 1])[:, 0]]
    array, viewed = v.numpy(), np.array(v)
    v.assign_add([1.0, 1.0, 1.0]), v.scatter_add(slices([5.0], [0])), v.assign_sub([1.0, 0.0, 0.0]), v.scatter_nd_update([[2]], [9.0])
    for tensor in read:
        same(tensor, [1, 2, 3])
    np.testing.assert_array_equal(array, [1, 2, 3]), np.testing.assert_array_equal(viewed, [1, 2, 3])
    array = v.numpy()
    array[:] = 0
    same(v, [6, 3, 9])


@pytest.mark.parametrize("bad", [[1.0, 2.0, 3.0], 1.0, [[1.0, 2.0]], []])
def test_assign_shape_errors(bad):
    v = tf.Variable([1.0, 2.0], name="weights")
    with pytest.raises(ValueError, match="(?i)shape"):
        v.assign(bad)
    for method in (v.assign_add, v.assign_sub):
        with pytest.raises(INVALID, match="(?i)shape"):
            method(bad)
    same(v, [1, 2])


def test_assign_dtype_errors():
    v = tf.Variable([1.0, 2.0])
    for method in (v.assign, v.assign_add, v.assign_sub):
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            method(tf.constant([1, 2]))
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            method(tf.constant([1.0, 2.0], tf.float64))
        with pytest.raises((ValueError, TypeError)):
            method(["a", "b"])
    with pytest.raises((ValueError, TypeError)):
        tf.Variable([1, 2]).assign([1.5, 2])
    same(v, [1, 2])


def test_unknown_dimensions_may_change():
    v = tf.Variable([[1.0, 2.0]], shape=[None, 2])
    assert v.shape.as_list() == [None, 2]
    v.assign([[1.0, 2.0], [3.0, 4.0]])
    assert v.numpy().shape == (2, 2)
    with pytest.raises(ValueError):
        v.assign([[1.0, 2.0, 3.0]])
    free = tf.Variable(1.0, shape=tf.TensorShape(None))
    free.assign([1.0, 2.0])
    assert free.numpy().tolist() == [1, 2]


def test_in_place_operators_are_refused():
    v = tf.Variable(1.0)
    for op in (operator.iadd, operator.isub, operator.imul, operator.itruediv):
        with pytest.raises(RuntimeError, match="assign|not supported"):
            op(v, 1.0)


# -------------------------------------------------------------------- scatter

@pytest.mark.parametrize("name, expected", [("scatter_add", [[12, 2], [3, 4], [6, 6]]), ("scatter_sub", [[-10, 2], [3, 4], [4, 6]]),
                                            ("scatter_mul", [[30, 2], [3, 4], [5, 6]]), ("scatter_div", [[1 / 30, 2], [3, 4], [5, 6]]),
                                            ("scatter_min", [[1, 2], [3, 4], [1, 6]]), ("scatter_max", [[6, 2], [3, 4], [5, 6]])])
def test_scatter_accumulates_duplicates(name, expected):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    neutral = 0.0 if name in ("scatter_add", "scatter_sub") else 1.0 if name in ("scatter_mul",
        "scatter_div") else 100.0 if name == "scatter_min" else -1.0
    result = getattr(v, name)(slices([[5.0, neutral], [6.0, neutral], [1.0, neutral]], [0, 0, 2]))
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-6), np.testing.assert_array_equal(result.numpy(), v.numpy())


def test_scatter_update_and_int64_indices():
    v = tf.Variable([1, 2, 3])
    same(v.scatter_update(tf.IndexedSlices(tf.constant([7, 8]), tf.constant([2, 0], tf.int64)), name="s"), [8, 2, 7])
    same(v.scatter_add(tf.IndexedSlices([1, 1], [0, 1])), [9, 3, 7])
    same(v.scatter_add(tf.IndexedSlices(tf.zeros([0], tf.int32), tf.zeros([0], tf.int32))), [9, 3, 7])


def test_scatter_errors():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(TypeError, match="IndexedSlices"):
        v.scatter_add([1.0, 1.0])
    for bad in (lambda: v.scatter_add(slices([1.0], [2])), lambda: v.scatter_add(slices([1.0], [-1])),
                lambda: v.scatter_add(slices([1.0, 2.0], [0])),
                lambda: v.scatter_update(slices([1], [0])), lambda: v.scatter_nd_add([[5]], [1.0]),
                lambda: v.scatter_nd_update([[0, 0]], [1.0])):
        with pytest.raises((*INVALID, TypeError)):
            bad()
    same(v, [1, 2])


@pytest.mark.parametrize("name, expected", [("scatter_nd_add", [6, 2, 10]), ("scatter_nd_sub", [-4, 2, -4]),
                                            ("scatter_nd_update", [5, 2, 7])])
def test_scatter_nd(name, expected):
    v = tf.Variable([1.0, 2.0, 3.0])
    same(getattr(v, name)([[0], [2]], [5.0, 7.0]), expected)
    w = tf.Variable(np.zeros((2, 3)))
    getattr(w, name)(tf.constant([[0, 1], [1, 2]]), tf.constant([1.0, 2.0], tf.float64))
    sign = -1 if name == "scatter_nd_sub" else 1
    same(w, sign * np.array([[0, 1, 0], [0, 0, 2]]))
    getattr(w, name)([[1]], np.array([[1.0, 1.0, 1.0]]))                      # whole rows
    same(w, sign * np.array([[0, 1, 0], [1, 1, 1 if name == "scatter_nd_update" else 3]]))


def test_batch_scatter_update():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    same(v.batch_scatter_update(slices([[7.0], [8.0]], [[1], [0]])), [[1, 7], [8, 4]])


def test_sparse_read_and_gather_nd():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    same(v.sparse_read([1, 0, 1]), [[3, 4], [1, 2], [3, 4]], "float32"), same(v.gather_nd([[1, 0]]), [3])
    same(v.gather_nd([[0]], name="g"), [[1, 2]])
    assert isinstance(v.sparse_read([0]), tf.Tensor)



# --------------------------------------------------- operators and protocols

def test_operators_give_tensors():
    v = tf.Variable([1.0, 2.0])
    for result, expected in ((v + 1, [2, 3]), (1 + v, [2, 3]), (v * v, [1, 4]), ([2.0, 2.0] - v, [1, 0]), (-v, [-1, -2]), (v ** 2, [1, 4]),
                             (v / 2, [0.5, 1]), (2 / v, [2, 1]), (v // 2, [0, 1]), (v % 2, [1, 0]), (v > 1, [False, True]),
                             (v == v, [True, True]),
                             (v != [1.0, 5.0], [False, True]), (abs(-v), [1, 2]), (v[0], 1), (v[::-1], [2, 1]),
                             (tf.constant([1.0, 1.0]) + v, [2, 3])):
        assert isinstance(result, tf.Tensor)
        same(result, expected)
    m = tf.Variable([[1.0, 2.0]])
    same(m @ [[1.0], [1.0]], [[3]]), same([[1.0], [1.0]] @ m, [[1, 2], [1, 2]])
    same(tf.Variable([True, False]) & True, [True, False]), same(~tf.Variable([True, False]), [False, True])
    with pytest.raises(tf.errors.InvalidArgumentError):
        operator.add(v, tf.constant([1, 2]))


def test_hash_and_ref():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)
    assert v.ref() == v.ref() and v.ref() != w.ref() and v.ref().deref() is v and len({v.ref(), v.ref(), w.ref()}) == 2
    assert {v.ref(): 1}[v.ref()] == 1


def test_python_protocols():
    assert bool(tf.Variable(1.0)) is True and int(tf.Variable(3)) == 3 and float(tf.Variable(1.5)) == 1.5
    np.testing.assert_array_equal(np.asarray(tf.Variable([1.0, 2.0])), [1, 2])
    assert [float(x) for x in tf.Variable([1.0, 2.0])] == [1, 2]
    assert type(tf.Variable(1.5).numpy()) is np.float32


def test_deepcopy_is_independent():
    v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    w = copy.deepcopy(v)
    w.assign_add([1.0, 1.0])
    same(v, [1, 2]), same(w, [2, 3])
    assert w.name == v.name and w.trainable is False and w.ref() != v.ref()


# ------------------------------------------------------------------ tf.Module

class Dense(tf.Module):
    def __init__(self, n_in, n_out, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([n_in, n_out]), name="w")
        self.b = tf.Variable(tf.zeros([n_out]), name="b")
        self.count = tf.Variable(0, trainable=False, name="count")

    def __call__(self, x):
        return x @ self.w + self.b


class TwoLayers(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(2, 3), {"last": Dense(3, 1, name="last"), "more": (tf.Variable(1.0, name="loose"),)}]
        self.alone = tf.Variable(2.0, name="alone")
        self.shared = self.layers[0]
        self.not_a_variable = tf.constant(1.0)


def names(variables):
    return [v.name for v in variables]


def test_module_finds_variables_once_own_first():
    model = TwoLayers()
    assert isinstance(model.variables, tuple) and isinstance(model.trainable_variables, tuple) and isinstance(model.submodules, tuple)
    assert names(Dense(1, 1).variables) == ["b:0", "count:0", "w:0"]           # sorted by attribute name
    assert names(model.variables) == ["alone:0", "loose:0", "b:0", "count:0", "w:0", "b:0", "count:0", "w:0"]
    assert names(model.trainable_variables) == ["alone:0", "loose:0", "b:0", "w:0", "b:0", "w:0"]
    assert len(model.submodules) == 2 and all(m is n for m, n in zip(model.submodules, (model.layers[0], model.layers[1]["last"]),
                                                                     strict=True))
    assert tf.Module().variables == () and tf.Module().submodules == ()
    if hasattr(model, "non_trainable_variables"):                              # newer than 2.4
        assert names(model.non_trainable_variables) == ["count:0", "count:0"]


def test_module_attributes_may_change():
    model = Dense(1, 1)
    model.w = tf.Variable([[5.0]], name="new")
    del model.count
    assert names(model.variables) == ["b:0", "new:0"]
    model.cycle = model                                                        # a module may contain itself
    assert names(model.variables) == ["b:0", "new:0"] and model.submodules == ()


def test_module_names():
    assert tf.Module().name == "module" and Dense(1, 1).name == "dense" and TwoLayers().name == "two_layers"
    assert Dense(1, 1, "x").name == "x"
    for bad in ("1a", "a b", "a-b", ""):
        with pytest.raises(ValueError, match="(?i)name"):
            tf.Module(name=bad)


def test_module_name_scope():
    class Scoped(tf.Module):
        def __init__(self):
            super().__init__(name="outer")
            with self.name_scope:
                self.v = tf.Variable(1.0, name="v")
            self.inner = None

        @tf.Module.with_name_scope
        def __call__(self):
            if self.inner is None:
                self.inner = tf.Variable(2.0, name="inner")
            return self.v * self.inner

    module = Scoped()
    assert float(module()) == 2.0
    assert module.v.name == "outer/v:0" and module.inner.name == "outer/inner:0"
    assert module.name_scope.name == "outer/"
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf.Variable(1.0, name="v").name == "a/b/v:0"
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_module_gradient():
    model = TwoLayers()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model.layers[1]["last"](model.layers[0](tf.ones([1, 2]))) * model.alone)
    gradients = tape.gradient(loss, model.trainable_variables)
    assert [g is None for g in gradients] == [False, True, False, False, False, False]
    assert float(gradients[0]) == 6.0 and float(loss) == 12.0


def test_a_scope_has_a_say_in_how_variables_are_made():
    asked = []
    def still(make, **settings):
        asked.append(settings["name"])
        return make(**{**settings, "trainable": False})
    with tf.variable_creator_scope(still): inside = tf.Variable([1.0], name="inside")
    assert not inside.trainable and tf.Variable(1.0, name="outside").trainable and asked == ["inside"]


def test_what_replicas_do_with_a_variable_is_written_on_it():
    plain = tf.Variable(1.0)
    assert plain.aggregation is tf.VariableAggregation.NONE and plain.synchronization is tf.VariableSynchronization.AUTO
    total = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM, synchronization=tf.VariableSynchronization.ON_READ)
    assert total.aggregation is tf.VariableAggregation.SUM and total.synchronization is tf.VariableSynchronization.ON_READ
