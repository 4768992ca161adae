"""Bad input: the error is of the documented kind, names the op, says what was given and what was expected."""
import operator
import re

import numpy as np
import pytest

import tfedu as tf

Invalid = tf.errors.InvalidArgumentError
SHAPE, DATA, KIND = (Invalid, ValueError), (ValueError, TypeError), (Invalid, TypeError, ValueError)
M, V, I = np.ones((2, 3), np.float32), np.ones(4, np.float32), np.array([1, 2], np.int32)

# name of the case, call, kinds of error, what the message must say (regular expressions, case does not matter)
CASES = [
    # shapes
    ("add", lambda: tf.add(M, V), SHAPE, ["add", r"2, ?3", r"4"]),
    ("operator", lambda: tf.constant(M) * tf.constant(V), SHAPE, ["mul", r"2, ?3", r"4"]),
    ("comparison", lambda: tf.constant(M) < tf.constant(V), SHAPE, ["less", r"2, ?3", r"4"]),
    ("matmul inner", lambda: tf.matmul(M, M), SHAPE, ["matmul", r"2, ?3.*2, ?3"]),
    ("matmul rank", lambda: tf.matmul(V, M), SHAPE, ["matmul"]),
    ("matmul batch", lambda: tf.matmul(np.ones((2, 2, 3)), np.ones((5, 3, 2))), SHAPE, ["matmul", r"2", r"5"]),
    ("reshape", lambda: tf.reshape(M, [4, 2]), SHAPE, ["reshape", "6", r"8|4, ?2"]),
    ("reshape two unknowns", lambda: tf.reshape(M, [-1, -1]), SHAPE, ["reshape", "-1"]),
    ("reshape not a multiple", lambda: tf.reshape(M, [4, -1]), SHAPE, ["reshape", "6", "4"]),
    ("concat", lambda: tf.concat([M, np.ones((3, 2), np.float32)], 0), SHAPE, ["concat", r"2, ?3", r"3, ?2"]),
    ("concat scalars", lambda: tf.concat([1.0, 2.0], 0), SHAPE, ["concat"]),
    ("stack", lambda: tf.stack([tf.constant(M), tf.constant(V)]), SHAPE, ["stack|pack", r"2, ?3", r"4"]),
    ("transpose", lambda: tf.transpose(M, [0, 1, 2]), SHAPE, ["transpose", "2", "3"]),
    ("transpose repeated", lambda: tf.transpose(M, [0, 0]), SHAPE, ["transpose"]),
    ("squeeze", lambda: tf.squeeze(M, 0), SHAPE, ["squeeze", "2|shape"]),
    ("tile", lambda: tf.tile(M, [2]), SHAPE, ["tile", "2"]),
    ("pad", lambda: tf.pad(M, [[1, 1]]), SHAPE, ["pad"]),
    ("split", lambda: tf.split(V, 3), SHAPE, ["split", "4", "3"]),
    ("broadcast_to", lambda: tf.broadcast_to(M, [2, 2]), SHAPE, ["broadcast", r"2, ?3", r"2, ?2"]),
    ("where", lambda: tf.where([True, False], M, V), SHAPE, ["where|select", r"2, ?3", "4"]),
    ("sparse cross entropy", lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=M), SHAPE,
     ["labels", "logits", r"2, ?3"]),
    ("cross entropy", lambda: tf.nn.softmax_cross_entropy_with_logits(labels=np.ones((2, 4), np.float32), logits=M), SHAPE,
     ["labels", "logits", r"2, ?3", r"2, ?4"]),
    ("sigmoid cross entropy", lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=V, logits=M), SHAPE,
     ["labels", "logits", r"2, ?3", "4"]),
    ("label range", lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 7], logits=M), SHAPE, ["label", "7", "3"]),
    ("set_shape", lambda: tf.constant(M).set_shape([3, 2]), SHAPE, [r"2, ?3", r"3, ?2"]),
    ("assign", lambda: tf.Variable(M, name="weights").assign(V), SHAPE, ["weights", r"2, ?3", "4"]),
    ("assign_add", lambda: tf.Variable(M).assign_add(V), SHAPE, [r"2, ?3", "4"]),
    ("constant", lambda: tf.constant([1, 2, 3], shape=(2, 2)), (Invalid, ValueError, TypeError), ["3", "4|2, ?2"]),
    # axes and indices
    ("reduce axis", lambda: tf.reduce_sum(M, axis=5), SHAPE, ["sum", "5", "2"]),
    ("reduce axis twice", lambda: tf.reduce_sum(M, axis=[0, -2]), SHAPE, ["sum", "duplicate|twice|repeat|0"]),
    ("argmax axis", lambda: tf.argmax(M, axis=2), SHAPE, ["argmax", "2"]),
    ("argmax empty", lambda: tf.argmax(np.zeros((0, 2))), SHAPE, ["argmax", "empty|0"]),
    ("expand_dims", lambda: tf.expand_dims(M, 4), SHAPE, ["expand_?dims", "4", "2"]),
    ("stack axis", lambda: tf.stack([M, M], axis=5), SHAPE, ["5"]),
    ("gather", lambda: tf.gather(V, [1, 9]), SHAPE, ["gather", "9", "4"]),
    ("index", lambda: tf.constant(V)[7], (Invalid, IndexError), ["7", "0|4"]),
    ("too many indices", lambda: tf.constant(V)[0, 0], (Invalid, IndexError), ["1"]),
    ("index kind", lambda: tf.constant(V)["a"], (TypeError, IndexError), ["a"]),
    ("slice step", lambda: tf.constant(V)[::0], (Invalid, ValueError), ["stri|step"]),
    ("scatter", lambda: tf.Variable(V).scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([9]))), SHAPE, ["9", "4"]),
    # dtypes
    ("mixed add", lambda: tf.constant([1.0]) + tf.constant([1]), Invalid, ["add", "float", "int32"]),
    ("mixed mul", lambda: tf.constant([1.0], tf.float64) * tf.constant([1.0]), Invalid, ["mul", "double|float64", "float"]),
    ("mixed matmul", lambda: tf.matmul(tf.constant(M), tf.constant(M.T.astype(np.float64))), Invalid,
     ["matmul", "float", "double|float64"]),
    ("mixed concat", lambda: tf.concat([tf.constant([1.0]), tf.constant([1])], 0), Invalid, ["concat", "float", "int32"]),
    ("mixed where", lambda: tf.where([True], tf.constant([1.0]), tf.constant([1])), Invalid, ["where|select", "float", "int32"]),
    ("mixed maximum", lambda: tf.maximum(tf.constant(1.0), tf.constant(1)), Invalid, ["maximum", "float", "int32"]),
    ("python float", lambda: tf.constant([1, 2]) * 1.5, KIND, ["1.5", "int32"]),
    ("python complex", lambda: tf.constant([1.0]) + 1j, KIND, ["1j|complex", "float"]),
    ("exp of ints", lambda: tf.exp(I), KIND, ["exp", "int32"]),
    ("log of ints", lambda: tf.math.log(I), KIND, ["log", "int32"]),
    ("softmax of ints", lambda: tf.nn.softmax(I), KIND, ["softmax", "int32"]),
    ("sum of bools", lambda: tf.reduce_sum([True]), KIND, ["sum", "bool"]),
    ("any of ints", lambda: tf.reduce_any([1]), KIND, ["bool"]),
    ("not of ints", lambda: tf.logical_not(tf.constant([1])), KIND, ["not", "bool"]),
    ("invert floats", lambda: ~tf.constant([1.0]), KIND, ["float|bool"]),
    ("gather by floats", lambda: tf.gather(V, tf.constant([0.5])), KIND, ["gather", "float"]),
    ("one_hot of floats", lambda: tf.one_hot(tf.constant([0.5]), 2), KIND, ["one_?hot", "float"]),
    ("reshape by floats", lambda: tf.reshape(M, tf.constant([3.0, 2.0])), KIND, ["reshape", "float"]),
    ("labels of floats", lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.constant([0.0, 1.0]), logits=M), KIND,
     ["softmax|labels", "float"]),
    ("string arithmetic", lambda: tf.constant(["a"]) * tf.constant(["b"]), KIND, ["mul", "string"]),
    ("cast of strings", lambda: tf.cast(["a"], tf.int32), (*KIND, tf.errors.UnimplementedError), ["cast", "string", "int32"]),
    ("conversion", lambda: tf.convert_to_tensor(tf.constant([1.0]), tf.int32), ValueError, ["int32", "float32"]),
    ("assign dtype", lambda: tf.Variable([1.0]).assign(tf.constant([1])), KIND, ["float32", "int32"]),
    ("dtype name", lambda: tf.constant(1, dtype="floaty"), (TypeError, ValueError), ["floaty"]),
    # values
    ("integer division", lambda: tf.constant([1, 2]) // 0, Invalid, ["zero|0"]),
    ("negative power", lambda: tf.constant([2]) ** -1, Invalid, ["pow", "negative"]),
    ("range delta", lambda: tf.range(0, 5, 0), SHAPE, ["range|delta", "0"]),
    ("negative size", lambda: tf.zeros([2, -3]), SHAPE, ["-3"]),
    ("negative repeat", lambda: tf.tile(V, [-1]), SHAPE, ["tile", "-1"]),
    ("negative padding", lambda: tf.pad(V, [[-1, 0]]), SHAPE, ["pad", "-1"]),
    ("reflect too far", lambda: tf.pad(V, [[4, 0]], "REFLECT"), SHAPE, ["pad", "4"]),
    ("pad mode", lambda: tf.pad(V, [[1, 0]], "WRAP"), ValueError, ["mode", "WRAP"]),
    ("two transposes", lambda: tf.matmul(M, M, transpose_a=True, adjoint_a=True), (ValueError, Invalid), ["transpose_a", "adjoint_a"]),
    ("integer uniform", lambda: tf.random.uniform([2], dtype=tf.int32), ValueError, ["maxval"]),
    ("empty uniform", lambda: tf.random.uniform([2], 5, 2, tf.int32), SHAPE, ["minval|maxval", "5", "2"]),
    ("normal of ints", lambda: tf.random.normal([2], dtype=tf.int32), KIND, ["int32"]),
    # not data
    ("ragged", lambda: tf.constant([[1, 2], [3]]), DATA, ["rectangular|ragged|shape|length"]),
    ("mixed kinds", lambda: tf.constant([1, "a"]), DATA, ["mix|a|str"]),
    ("object", lambda: tf.constant(object()), DATA, ["object"]),
    ("none", lambda: tf.constant(None), DATA, ["none"]),
    ("dict", lambda: tf.add({}, 1), DATA, ["dict|{}"]),
    ("op of none", lambda: tf.add(None, 1.0), DATA, ["none"]),
    ("op of object", lambda: tf.matmul(object(), M), DATA, ["object"]),
    ("huge integer", lambda: tf.constant(2 ** 70), (ValueError, OverflowError), ["range|large|fit|64|int"]),
    ("string where a number is due", lambda: tf.constant("a", dtype=tf.float32), DATA, ["a", "float"]),
    # Python protocols
    ("hash", lambda: hash(tf.constant(1)), TypeError, ["unhashable", r"ref\(\)"]),
    ("truth", lambda: bool(tf.constant([1, 2])), ValueError, ["ambiguous|one element"]),
    ("len", lambda: len(tf.constant(1)), TypeError, ["scalar"]),
    ("item assignment", lambda: operator.setitem(tf.constant([1]), 0, 2), TypeError, ["assign"]),
    ("no such argument", lambda: tf.add(1, 2, nmae="x"), TypeError, ["nmae"]),
    ("missing argument", lambda: tf.add(1), TypeError, ["y|argument|missing"]),
    # optimizers and modules
    ("optimizer option", lambda: tf.keras.optimizers.SGD(0.1, clipnrm=1.0), TypeError, ["clipnrm"]),
    ("negative clip", lambda: tf.keras.optimizers.SGD(0.1, clipnorm=-1.0), ValueError, ["clipnorm", "-1"]),
    ("momentum", lambda: tf.keras.optimizers.SGD(0.1, momentum=2.0), ValueError, ["momentum", "0.*1"]),
    ("module name", lambda: tf.Module(name="not a name"), ValueError, ["not a name"]),
    ("variable without value", lambda: tf.Variable(), (ValueError, TypeError), ["initial_value"]),
]


@pytest.mark.parametrize("call, kinds, says", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_error(call, kinds, says):
    with pytest.raises(kinds) as caught:
        call()
    message = str(caught.value)
    for pattern in says:
        assert re.search(pattern, message, re.I | re.S), f"{pattern!r} is not in: {message}"
    assert len(message) < 1500


@pytest.mark.parametrize("call, kinds", [c[1:3] for c in CASES], ids=[c[0] for c in CASES])
def test_the_same_error_under_a_tape_and_nothing_breaks(call, kinds):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        with pytest.raises(kinds):
            call()
        y = y * v
    assert float(tape.gradient(y, v)) == 27.0


# ------------------------------------------------------------------------ errors

def test_error_classes_carry_what_tf_errors_carry():
    with pytest.raises(tf.errors.OpError) as caught:
        tf.matmul(M, M)
    error = caught.value
    assert isinstance(error, Invalid) and error.error_code == tf.errors.INVALID_ARGUMENT == 3 and error.message
    assert error.message in str(error)
    assert error.op is None


# ------------------------------------------------------------------------ devices

UNKNOWN = ["/GPU:7", "/device:TPU:0", "/CPU:99", "/job:localhost/replica:0/task:0/device:GPU:7"]
DEVICE_ERRORS = (ValueError, RuntimeError, Invalid, tf.errors.NotFoundError)


def add_on(device):
    with tf.device(device):
        return tf.constant([1.0]) + 1.0


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.filterwarnings("ignore:.*device.*")             # tfedu says that it goes elsewhere, TF does so without a word
def test_unknown_device(name):
    before = tf.config.get_soft_device_placement()
    try:
        tf.config.set_soft_device_placement(True)                            # the op goes to a device that exists
        assert add_on(name).numpy() == 2.0 and add_on(name).device == "/job:localhost/replica:0/task:0/device:CPU:0"
        tf.config.set_soft_device_placement(False)
        with pytest.raises(DEVICE_ERRORS, match="(?i)" + name[-5:]):
            add_on(name)
    finally:
        tf.config.set_soft_device_placement(before)
    assert (tf.constant([1.0]) + 1.0).device.endswith("CPU:0")                # the scope is gone


@pytest.mark.parametrize("name", ["no such device", "/cpu:one:2", "/job:x/cpu:0"])
def test_malformed_device_or_other_job(name):
    with pytest.raises(DEVICE_ERRORS, match="(?i)no such device|cpu|job:x"):
        add_on(name)
    assert add_on("/CPU:0").device == add_on("cpu:0").device == add_on(None).device == "/job:localhost/replica:0/task:0/device:CPU:0"


# ----------------------------------------------------------------------- gradients

def test_gradient_twice():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    with pytest.raises(RuntimeError, match="(?i)persistent"):
        tape.gradient(y, v)


@pytest.mark.parametrize("target, source", [(None, "v"), ("y", 1.0), ("y", "text"), ("y", None)])
def test_bad_targets_and_sources(target, source):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    with pytest.raises((TypeError, ValueError, AttributeError)):
        tape.gradient(y if target == "y" else target, v if source == "v" else source)


def test_output_gradient_of_the_wrong_shape_or_dtype():
    v = tf.Variable([1.0, 2.0])
    for bad in (tf.ones([3]), tf.ones([2], tf.float64), tf.constant([1, 1])):
        with tf.GradientTape() as tape:
            y = v * v
        with pytest.raises((Invalid, ValueError, TypeError)):
            tape.gradient(y, v, output_gradients=bad)


# --------------------------------------------------------- bad data is refused, not mangled

@pytest.mark.parametrize("value", [[np.nan], [np.inf], [-0.0], [5e-324], [1.7e308]])
def test_extreme_floats_survive(value):
    np.testing.assert_array_equal(tf.constant(value, tf.float64).numpy(), value)
    assert np.signbit(tf.constant([-0.0]).numpy()[0])


def test_arrays_that_numpy_can_hold_but_tensors_cannot():
    for bad in (np.array([object()]), np.array(["2020-01-01"], "datetime64[D]"), np.array([(1, 2)], [("a", "i4"), ("b", "i4")]),
                np.array([1, None], object)):
        with pytest.raises((ValueError, TypeError)):
            tf.constant(bad)


def test_zero_sized_and_large_rank_tensors_work():
    for shape in ((0,), (0, 3), (3, 0), (1,) * 8):
        x = tf.zeros(shape)
        assert (x + 1.0).shape == x.shape == tf.exp(x).shape and tf.reduce_sum(x, axis=0).shape == shape[1:]
        assert tf.transpose(x).shape == shape[::-1]
