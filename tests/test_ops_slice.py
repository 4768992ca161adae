"""The ops of the slice against NumPy: values, dtypes, edge cases, keywords, name=."""
import functools
import itertools
import operator
import threading

import numpy as np
import pytest

import tfedu as tf

NAN, INF = float("nan"), float("inf")
FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8"]
COMPLEX = ["complex64", "complex128"]
RTOL = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-6, "float64": 1e-13, "complex64": 4e-6, "complex128": 1e-12}
BAD = (tf.errors.InvalidArgumentError, ValueError, TypeError)


def public(name):
    return functools.reduce(getattr, name.split("."), tf)


def npd(name):
    return np.dtype(tf.as_dtype(name).as_numpy_dtype)


def wide(array):
    "float16 and bfloat16 references are computed in float64"
    array = np.asarray(array)
    return array.astype(np.float64) if array.dtype.name in ("float16", "bfloat16", "float32") else array


def close(tensor, expected, dtype=None, scale=1.0):
    assert isinstance(tensor, tf.Tensor)
    name = tensor.dtype.name
    if dtype is not None:
        assert name == dtype
    got = np.asarray(tensor.numpy())
    assert got.shape == np.shape(expected), (got.shape, np.shape(expected))
    if name in RTOL:
        np.testing.assert_allclose(wide(got), wide(expected), rtol=RTOL[name] * scale, atol=RTOL[name] * scale)
    else:
        np.testing.assert_array_equal(got, np.asarray(expected))


def data(shape, name, low=-2.0, high=2.0, seed=0):
    rng = np.random.RandomState(seed)
    if name.startswith("complex"):
        return (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(name)
    if "int" in name:
        return rng.randint(0 if name.startswith("u") else -5, 6, shape).astype(name)
    return rng.uniform(low, high, shape).astype(npd(name))


# ----------------------------------------------------------------- elementwise

def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


UNARY = [("negative", np.negative, FLOATS + COMPLEX + ["int32", "int64"]), ("abs", np.abs, FLOATS + ["int32", "int64"]),
         ("square", np.square, FLOATS + COMPLEX + ["int32", "int64"]), ("exp", np.exp, FLOATS + COMPLEX),
         ("tanh", np.tanh, FLOATS + COMPLEX), ("sigmoid", sigmoid, FLOATS), ("nn.sigmoid", sigmoid, FLOATS),
         ("math.sigmoid", sigmoid, FLOATS),
         ("nn.tanh", np.tanh, FLOATS), ("nn.relu", lambda x: np.maximum(x, 0), FLOATS + ["int32", "int64", "uint8"]),
         ("sign", np.sign, FLOATS + ["int32", "int64"])]
POSITIVE = [("sqrt", np.sqrt, FLOATS + COMPLEX), ("math.log", np.log, FLOATS + COMPLEX),
            ("math.rsqrt", lambda x: 1 / np.sqrt(x), FLOATS + COMPLEX),
            ("math.reciprocal", lambda x: 1 / x, FLOATS + COMPLEX)]


@pytest.mark.parametrize("name, fn, dtype, low", [(n, f, d, -2.0) for n, f, ds in UNARY for d in ds]
                         + [(n, f, d, 0.5) for n, f, ds in POSITIVE
                                                                                                         for d in ds])
def test_unary(name, fn, dtype, low, record_property):
    record_property("called", "tf." + name)
    for shape in ((), (0,), (3,), (2, 3)):
        x = data(shape, dtype, low)
        close(public(name)(x), fn(wide(x)), dtype, scale=2)


BINARY = [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("math.add", np.add), ("math.subtract", np.subtract),
          ("math.multiply", np.multiply), ("maximum", np.maximum), ("minimum", np.minimum),
          ("math.squared_difference", lambda x, y: (x - y) ** 2)]
SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((0, 3), (1, 3)), ((2, 1, 3), (4, 1))]


@pytest.mark.parametrize("name, fn", BINARY)
@pytest.mark.parametrize("dtype", FLOATS + ["int32", "int64", "complex64", "complex128"])
def test_binary_broadcasts(name, fn, dtype, record_property):
    record_property("called", "tf." + name)
    if dtype in COMPLEX and name.endswith(("imum", "difference")):
        pytest.skip("not ordered")
    for a, b in SHAPES:
        x, y = data(a, dtype), data(b, dtype, seed=1)
        close(public(name)(x, tf.constant(y)), fn(wide(x), wide(y)), dtype, scale=2)


@pytest.mark.parametrize("dtype", FLOATS)
def test_division_and_power(dtype):
    x, y = data((2, 3), dtype, 0.5, 3), data((3,), dtype, 0.5, 3, 1)
    close(tf.divide(x, y), wide(x) / wide(y), dtype, 2)
    close(tf.truediv(x, y), wide(x) / wide(y), dtype, 2)
    close(tf.pow(x, y), wide(x) ** wide(y), dtype, 4)
    close(tf.math.divide_no_nan(tf.constant(x), tf.zeros_like(x)), np.zeros((2, 3)), dtype)
    for name, fn in (("math.floordiv", np.floor_divide), ("math.mod", np.mod), ("math.floormod", np.mod)):
        a = np.array([7, -7, 5.5, -5.5], npd(dtype))
        b = np.array([2, 2, -2, -2], npd(dtype))
        close(public(name)(a, b), fn(wide(a), wide(b)), dtype)


def test_integer_division_family():
    a, b = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    close(tf.math.floordiv(a, b), a // b, "int32")
    close(tf.math.mod(a, b), a % b, "int32")
    close(tf.math.floormod(a, b), a % b, "int32")
    close(tf.truediv(a, b), a / b, "float64")
    close(tf.divide(a, b), a / b, "float64")
    close(tf.pow(np.array([2, -3]), np.array([5, 3])), [32, -27], "int64")


def test_special_values():
    close(tf.exp([1000.0, -1000.0, NAN]), [INF, 0, NAN])
    close(tf.math.log([0.0, -1.0, INF]), [-INF, NAN, INF])
    close(tf.sqrt([-1.0, 4.0]), [NAN, 2])
    close(tf.sigmoid([-1000.0, 0.0, 1000.0]), [0, 0.5, 1])
    close(tf.sigmoid(np.array([-700.0, 40.0])), [np.exp(-700.0), 1 / (1 + np.exp(-40.0))], "float64")
    assert tf.sigmoid(np.array([-700.0])).numpy()[0] > 0
    close(tf.tanh([-1000.0, 1000.0]), [-1, 1])
    close(tf.nn.relu([-1.0, 0.0, 2.0, NAN, -INF, INF]), [0, 0, 2, NAN, 0, INF])
    close(tf.maximum([1.0, NAN], [NAN, 1.0]), [NAN, NAN])
    close(tf.pow([0.0, 2.0], [0.0, -1.0]), [1, 0.5])
    close(tf.math.divide_no_nan([1.0, 0.0, 4.0], [0.0, 0.0, 2.0]), [0, 0, 2])
    close(tf.math.rsqrt([0.0, 4.0]), [INF, 0.5])
    close(tf.sign([-2.0, 0.0, 3.0]), [-1, 0, 1])
    close(tf.math.log(tf.constant(1e-40, tf.float64)), np.log(1e-40))
    close(tf.constant([127], tf.int8) + tf.constant([1], tf.int8), [-128], "int8")   # integers wrap around
    close(tf.constant([2 ** 31 - 1]) + 1, [-2 ** 31], "int32")


def test_no_numpy_warning_reaches_the_user(recwarn):
    tf.math.log([0.0, -1.0]), tf.exp([1e5]), tf.divide([1.0, 0.0], [0.0, 0.0]), tf.sqrt([-1.0]), tf.reduce_mean(tf.zeros([0]))
    tf.constant([2 ** 31 - 1]) + 1, tf.cast([1e20, NAN], tf.int32), tf.constant([6e4], tf.float16) * 10, tf.reduce_max(tf.zeros([0]))
    assert [str(w.message) for w in recwarn] == []


def test_no_numpy_warning_in_other_threads(recwarn):         # NumPy keeps its error state per context, and a thread starts a new one
    results = []
    thread = threading.Thread(target=lambda: results.append((tf.math.log([0.0]), tf.divide([1.0], [0.0]), tf.exp([1e5]))))
    thread.start(), thread.join()
    assert len(results) == 1 and [str(w.message) for w in recwarn] == []


def test_clip_by_value():
    close(tf.clip_by_value([1.0, 5.0, 9.0], 2.0, 6.0), [2, 5, 6], "float32")
    close(tf.clip_by_value([1, 5, 9], 2, 6), [2, 5, 6], "int32")
    close(tf.clip_by_value([1.0, 5.0], [2.0, 0.0], [3.0, 4.0]), [2, 4])
    close(tf.clip_by_value([[1.0, 5.0], [7.0, -1.0]], tf.constant([2.0, 0.0]), 4.0), [[2, 4], [4, 0]])
    close(tf.clip_by_value([1.0, NAN], 2.0, 6.0), [2, NAN])
    close(tf.clip_by_value(t=[1.0], clip_value_min=2.0, clip_value_max=3.0, name="c"), [2])


# ------------------------------------------------------- comparison and logic

@pytest.mark.parametrize("name, fn", [("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less), ("less_equal", np.less_equal),
                                      ("greater", np.greater), ("greater_equal", np.greater_equal)])
@pytest.mark.parametrize("dtype", FLOATS + INTS)
def test_comparison(name, fn, dtype, record_property):
    record_property("called", "tf." + name), record_property("called", "tf.math." + name)
    x, y = np.array([[1, 2, 3]], npd(dtype)), np.array([[2], [3]], npd(dtype))
    close(public(name)(x, y), fn(x, y), "bool")
    close(public("math." + name)(x, 2), fn(wide(x), 2), "bool")
    if dtype in FLOATS:
        close(public(name)(np.array([NAN, 1], npd(dtype)), np.array([NAN, 1], npd(dtype))), fn(np.array([NAN, 1]), np.array([NAN, 1])))


def test_logic():
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    close(tf.logical_and(a, b), a & b, "bool")
    close(tf.logical_or(a, b), a | b, "bool")
    close(tf.math.logical_xor(a, b), a ^ b, "bool")
    close(tf.logical_not(a), ~a, "bool")
    close(tf.equal(["a", "b"], ["a", "c"]), [True, False], "bool")
    with pytest.raises(BAD):
        tf.logical_and([1], [2])


# ------------------------------------------------------------------ reductions

REDUCE = {"reduce_sum": np.sum, "reduce_mean": np.mean, "reduce_max": np.max, "reduce_min": np.min, "reduce_prod": np.prod}
AXES = [None, 0, 1, -1, [0], [1, 2], [-1, 0], (0, 2), [0, 1, 2], []]


@pytest.mark.parametrize("name", REDUCE)
@pytest.mark.parametrize("dtype", FLOATS + ["int32", "int64"])
def test_reductions(name, dtype, record_property):
    record_property("called", "tf." + name), record_property("called", "tf.math." + name)
    x = data((2, 3, 4), dtype, 0.5, 1.5)
    for axis, keepdims in itertools.product(AXES, (False, True)):
        np_axis = tuple(axis) if isinstance(axis, (list, tuple)) else axis
        if dtype in FLOATS:
            expected = REDUCE[name](wide(x), axis=np_axis, keepdims=keepdims)
        elif name == "reduce_mean":          # integer mean truncates towards zero
            total, count = np.sum(x, axis=np_axis, keepdims=keepdims), x.size // np.sum(x, axis=np_axis, keepdims=keepdims).size
            expected = np.trunc(total / count).astype(dtype)
        else:
            expected = REDUCE[name](x, axis=np_axis, keepdims=keepdims).astype(dtype)
        close(public(name)(x, axis=axis, keepdims=keepdims), expected, dtype, scale=4)
        close(public("math." + name)(tf.constant(x), axis, keepdims), expected, dtype, scale=4)


@pytest.mark.parametrize("name, fn", [("reduce_any", np.any), ("reduce_all", np.all)])
def test_boolean_reductions(name, fn, record_property):
    record_property("called", "tf." + name)
    x = np.array([[True, False, True], [True, True, True]])
    for axis, keepdims in itertools.product((None, 0, 1, -1, [0, 1]), (False, True)):
        close(public(name)(x, axis, keepdims), fn(x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims), "bool")
    close(public(name)(np.zeros(0, bool)), fn(np.zeros(0, bool)))
    with pytest.raises(BAD):
        public(name)([1, 0])


def test_axis_may_be_a_tensor():
    x = data((2, 3), "float32")
    close(tf.reduce_sum(x, tf.constant(1)), x.sum(1), scale=4)
    close(tf.reduce_sum(x, tf.constant([0, 1])), x.sum(), scale=4)
    close(tf.reduce_sum(x, np.int64(0)), x.sum(0), scale=4)


def test_reductions_of_empty_and_scalars():
    empty = tf.zeros([0])
    for name, expected in (("sum", 0), ("prod", 1), ("max", -INF), ("min", INF), ("mean", NAN)):
        close(public("reduce_" + name)(empty), np.float32(expected), "float32")
    close(tf.reduce_max(tf.zeros([0], tf.int32)), np.int32(-2 ** 31), "int32")
    close(tf.reduce_min(tf.zeros([0], tf.int32)), np.int32(2 ** 31 - 1), "int32")
    close(tf.reduce_sum(tf.zeros([0, 3]), 0), np.zeros(3))
    close(tf.reduce_sum(tf.zeros([0, 3]), 1), np.zeros(0))
    close(tf.reduce_sum(5.0), np.float32(5)), close(tf.reduce_mean(5.0, axis=[]), np.float32(5)), close(tf.reduce_max(3), np.int32(3))


def test_reductions_with_nan_inf_and_wraparound():
    for name in ("sum", "mean", "max", "min", "prod"):
        assert np.isnan(public("reduce_" + name)([1.0, NAN, 2.0]).numpy())
    close(tf.reduce_max([-INF, INF]), np.float32(INF))
    close(tf.reduce_sum(tf.constant([100, 100], tf.int8)), np.int8(-56), "int8")
    close(tf.reduce_sum(tf.constant([2 ** 31 - 1, 1])), np.int32(-2 ** 31), "int32")
    close(tf.reduce_mean([1, 2]), np.int32(1)), close(tf.reduce_mean([-1, -2]), np.int32(-1))
    close(tf.reduce_sum(tf.ones([10000], tf.float16)), np.float16(10000), "float16")


def test_logsumexp_is_stable():
    close(tf.reduce_logsumexp([1000.0, 1000.0]), np.float32(1000 + np.log(2)), "float32")
    close(tf.reduce_logsumexp([-INF, -INF]), np.float32(-INF))
    x = data((2, 3), "float64")
    close(tf.reduce_logsumexp(x, axis=1, keepdims=True), np.log(np.exp(x).sum(1, keepdims=True)), "float64")


@pytest.mark.parametrize("bad", [2, -3, [0, 0], [0, -2], [0, 5]])
def test_reduction_axis_errors(bad):
    for name in ("reduce_sum", "reduce_max", "reduce_mean"):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            public(name)(tf.ones([2, 3]), axis=bad)


@pytest.mark.parametrize("name, fn", [("argmax", np.argmax), ("argmin", np.argmin)])
@pytest.mark.parametrize("dtype", FLOATS + INTS)
def test_argmax_argmin(name, fn, dtype, record_property):
    record_property("called", "tf." + name), record_property("called", "tf.math." + name)
    x = np.array([[1, 3, 3], [2, 2, 0]], npd(dtype))          # ties: the first wins
    close(public(name)(x), fn(x, 0), "int64")                # axis 0 is the default
    for axis in (0, 1, -1, -2):
        close(public("math." + name)(x, axis=axis), fn(x, axis), "int64")
    close(public(name)(x, 1, tf.int32), fn(x, 1), "int32")
    close(public(name)(input=x, axis=1, output_type=tf.int32, name="a"), fn(x, 1), "int32")
    close(public(name)(np.zeros((3, 0), npd(dtype))), np.zeros(0), "int64")
    for bad in (lambda: public(name)(x, axis=2), lambda: public(name)(np.zeros((0, 3), npd(dtype)))):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            bad()


# ----------------------------------------------------------------- array shapes

def test_reshape():
    x = np.arange(24)
    for shape in ([2, 12], [4, -1], [-1], [2, 3, 4], (24, 1), [1, -1, 2, 3]):
        close(tf.reshape(x, shape), x.reshape(shape))
    close(tf.reshape([7], []), 7), close(tf.reshape(7, [1, 1]), [[7]]), close(tf.reshape([1, 2], -1), [1, 2])
    close(tf.reshape(x, tf.constant([4, 6])), x.reshape(4, 6)), close(tf.reshape(x, [tf.constant(4), 6]), x.reshape(4, 6))
    close(tf.reshape(x, tf.TensorShape([4, 6])), x.reshape(4, 6))
    close(tf.reshape(np.zeros((0, 3)), [-1, 3]), np.zeros((0, 3))), close(tf.reshape(np.zeros((0, 3)), [3, 0]), np.zeros((3, 0)))
    close(tf.reshape(tensor=["a", "b"], shape=[2, 1], name="r"), np.array([[b"a"], [b"b"]], object), "string")
    for bad in ([5], [5, -1], [-1, -1], [-2, 12], [[24]]):
        with pytest.raises(BAD):
            tf.reshape(x, bad)


def test_transpose():
    x = data((2, 3, 4), "float32")
    close(tf.transpose(x), x.T)
    for perm in itertools.permutations(range(3)):
        close(tf.transpose(x, perm), x.transpose(perm))
        close(tf.transpose(a=x, perm=list(perm), name="t"), x.transpose(perm))
    close(tf.transpose(5), 5), close(tf.transpose([1, 2]), [1, 2])
    z = data((2, 3), "complex64")
    close(tf.transpose(z, conjugate=True), z.conj().T)
    for bad in ([0, 1], [0, 0, 1], [0, 1, 3], [0, 1, 2, 3]):
        with pytest.raises(BAD):
            tf.transpose(x, bad)


def test_expand_dims_and_squeeze():
    x = data((2, 1, 3, 1), "float32")
    for axis in range(-5, 5):
        close(tf.expand_dims(x, axis), np.expand_dims(x, axis))
    close(tf.squeeze(x), x.squeeze())
    for axis in (1, 3, -1, [1], [1, 3], [-1, 1]):
        close(tf.squeeze(x, axis), np.squeeze(x, tuple(axis) if isinstance(axis, list) else axis))
    close(tf.squeeze(input=x, axis=[1], name="s"), x.squeeze(1)), close(tf.expand_dims(input=5, axis=0, name="e"), [5])
    for bad in (lambda: tf.squeeze(x, 0), lambda: tf.squeeze(x, 4), lambda: tf.expand_dims(x, 5), lambda: tf.expand_dims(x, -6)):
        with pytest.raises(BAD):
            bad()


@pytest.mark.parametrize("dtype", FLOATS + INTS + COMPLEX)
def test_concat_stack_split_unstack(dtype):
    a, b = data((2, 3), dtype), data((2, 3), dtype, seed=1)
    for axis in (0, 1, -1, -2):
        close(tf.concat([a, b], axis), np.concatenate([a, b], axis), dtype)
    for axis in (0, 1, 2, -1, -3):
        close(tf.stack([a, tf.constant(b)], axis), np.stack([a, b], axis), dtype)
    for part, expected in zip(tf.unstack(a, axis=1), a.T, strict=True):
        close(part, expected, dtype)
    for part, expected in zip(tf.split(a, 3, axis=1), np.split(a, 3, 1), strict=True):
        close(part, expected, dtype)
    for part, expected in zip(tf.split(a, [1, -1], -1), np.split(a, [1], 1), strict=True):
        close(part, expected, dtype)


def test_concat_and_stack_details():
    close(tf.concat([[1], np.zeros(0, np.int32), [2, 3]], 0), [1, 2, 3], "int32")
    close(tf.concat(values=[["a"], ["b"]], axis=0, name="c"), np.array([b"a", b"b"], object), "string")
    close(tf.concat([[[1, 2]]], 0), [[1, 2]]), close(tf.concat([1.0 * tf.ones([2]), [5.0]], 0), [1, 1, 5])
    close(tf.stack([1, 2, 3]), [1, 2, 3]), close(tf.stack(values=[[1], [2]], axis=-1, name="s"), [[1, 2]])
    close(tf.stack([tf.Variable(1.0), 2.0]), [1, 2], "float32")
    close(tf.stack([tf.constant([1, 2]), [3, 4]]), [[1, 2], [3, 4]])
    assert [int(x) for x in tf.unstack([1, 2, 3], num=3)] == [1, 2, 3]
    assert tf.unstack(tf.zeros([0, 2])) == []
    sizes = tf.split(value=tf.range(6), num_or_size_splits=tf.constant([1, 2, 3]), axis=0, num=3, name="s")
    assert [x.shape[0] for x in sizes] == [1, 2, 3]
    for bad in (lambda: tf.concat([[1], [[2]]], 0), lambda: tf.concat([[[1]], [[2, 3]]], 0), lambda: tf.concat([[1], [2]], 1),
                lambda: tf.concat([1, 2], 0), lambda: tf.concat([tf.constant([1]), tf.constant([1.0])], 0), lambda: tf.stack([[1], [2, 3]]),
                lambda: tf.stack([1, 2], axis=2), lambda: tf.stack([tf.constant(1), tf.constant(1.0)]),
                lambda: tf.split(tf.range(4), 3), lambda: tf.split(tf.range(4), [1, 1]), lambda: tf.split(tf.range(4), [-1, -1]),
                lambda: tf.unstack(1), lambda: tf.unstack([1, 2], num=3), lambda: tf.unstack([1, 2], axis=1)):
        with pytest.raises(BAD):
            bad()


def test_gather():
    x = np.arange(24).reshape(2, 3, 4)
    for axis in (0, 1, 2, -1, -2):
        for index in (1, [0, 1], [[1, 0], [0, 0]], np.zeros((0,), np.int32)):
            close(tf.gather(x, index, axis=axis), np.take(x, index, axis))
    index = np.array([[2, 0], [1, 1]])
    close(tf.gather(x, index, batch_dims=1), np.stack([x[i][index[i]] for i in range(2)]))
    close(tf.gather(x, index, axis=2, batch_dims=1), np.stack([x[i][:, index[i]] for i in range(2)]))
    close(tf.gather(x, index, axis=1, batch_dims=-1 + 2), np.stack([x[i][index[i]] for i in range(2)]))
    close(tf.gather(params=x, indices=np.int64(1), name="g"), x[1])
    close(tf.gather(["a", "b"], [1, 0]), np.array([b"b", b"a"], object), "string")
    close(tf.gather(tf.Variable([1.0, 2.0]), [1]), [2.0])
    for bad in (lambda: tf.gather(x, [2]), lambda: tf.gather(x, [-1]), lambda: tf.gather(x, [0.5]), lambda: tf.gather(x, [0], axis=3),
                lambda: tf.gather(5, [0]), lambda: tf.gather(x, [[0], [0], [0]], batch_dims=1)):
        with pytest.raises(BAD):
            bad()


def test_one_hot():
    close(tf.one_hot([0, 2, -1, 5], 3), [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]], "float32")
    close(tf.one_hot([0, 1], 2, on_value=5, off_value=-1), [[5, -1], [-1, 5]], "int32")
    close(tf.one_hot([0, 1], 2, on_value=0.5), [[0.5, 0], [0, 0.5]], "float32")
    close(tf.one_hot([1], 2, on_value=True, off_value=False), [[False, True]], "bool")
    close(tf.one_hot([1], 2, dtype=tf.int64), [[0, 1]], "int64"), close(tf.one_hot(1, 3), [0, 1, 0])
    index = np.array([[0, 1], [2, 0]])
    hot = np.eye(3)[index]
    for axis in (-1, 2):
        close(tf.one_hot(index, 3, axis=axis), hot)
    close(tf.one_hot(index, 3, axis=0), np.moveaxis(hot, -1, 0)), close(tf.one_hot(index, 3, axis=1), np.moveaxis(hot, -1, 1))
    close(tf.one_hot(indices=[0], depth=tf.constant(2), on_value=1.0, off_value=0.0, axis=-1, dtype=tf.float32, name="o"), [[1, 0]])
    close(tf.one_hot(np.zeros(0, np.int64), 3), np.zeros((0, 3))), close(tf.one_hot(tf.constant([1], tf.uint8), 2), [[0, 1]])
    for bad in (lambda: tf.one_hot([0], 2, on_value=5.0, off_value=-1, dtype=tf.int32), lambda: tf.one_hot([0.5], 2),
                lambda: tf.one_hot([0], 2, on_value=1.0, off_value=1), lambda: tf.one_hot([0], -1), lambda: tf.one_hot([0], 2, axis=3)):
        with pytest.raises(BAD):
            bad()


def test_tile_pad_broadcast():
    x = data((2, 3), "float32")
    close(tf.tile(x, [2, 1]), np.tile(x, (2, 1))), close(tf.tile([1, 2], [0]), [])
    close(tf.tile(input=[1], multiples=[3], name="t"), [1, 1, 1])
    pads = [[1, 0], [0, 2]]
    close(tf.pad(x, pads), np.pad(x, pads)), close(tf.pad(x, tf.constant(pads), constant_values=7), np.pad(x, pads, constant_values=7))
    close(tf.pad([1, 2, 3], [[2, 2]], "REFLECT"), [3, 2, 1, 2, 3, 2, 1])
    close(tf.pad([1, 2, 3], [[2, 2]], "symmetric"), [2, 1, 1, 2, 3, 3, 2])
    close(tf.pad(tensor=[1], paddings=[[1, 1]], mode="CONSTANT", constant_values=9, name="p"), [9, 1, 9])
    close(tf.broadcast_to([1, 2], [3, 2]), [[1, 2]] * 3), close(tf.broadcast_to(5, [2]), [5, 5])
    for bad in (lambda: tf.tile(x, [2]), lambda: tf.tile([1], [-1]), lambda: tf.pad(x, [[1, 1]]), lambda: tf.pad([1, 2], [[-1, 0]]),
                lambda: tf.pad([1, 2], [[2, 0]], "REFLECT"), lambda: tf.pad([1], [[1, 1]], "WRAP"), lambda: tf.broadcast_to([1, 2], [3])):
        with pytest.raises(BAD):
            bad()


def test_makers():
    close(tf.zeros([2, 3]), np.zeros((2, 3)), "float32"), close(tf.ones(3, tf.int32), np.ones(3), "int32"), close(tf.zeros([]), 0.0)
    close(tf.zeros(tf.constant([1, 2]), "float64"), np.zeros((1, 2)), "float64")
    close(tf.ones(tf.TensorShape([2]), tf.bool), [True, True], "bool")
    close(tf.zeros([1], tf.string), np.array([b""], object), "string")
    close(tf.zeros_like([1, 2]), [0, 0], "int32"), close(tf.ones_like([1.0], dtype=tf.int64), [1], "int64")
    close(tf.zeros_like(tf.Variable([1.0])), [0.0])
    close(tf.fill([2, 2], 9), np.full((2, 2), 9), "int32"), close(tf.fill([], 1.5), 1.5, "float32")
    close(tf.fill(dims=[1], value="a", name="f"),
                                                                                                           np.array([b"a"], object))
    for dtype in FLOATS + INTS + COMPLEX + ["bool"]:
        assert tf.zeros([2], dtype).dtype == tf.ones([2], dtype).dtype == dtype
    close(tf.identity([1, 2]), [1, 2]), close(tf.stop_gradient([1.0]), [1.0])
    with pytest.raises(BAD):
        tf.fill([-1], 0)
    with pytest.raises(BAD):
        tf.zeros([2, -1])


def test_range_and_linspace():
    close(tf.range(5), np.arange(5), "int32"), close(tf.range(2, 8, 3), [2, 5], "int32"), close(tf.range(5, 2, -1), [5, 4, 3])
    close(tf.range(3.0), [0, 1, 2], "float32"), close(tf.range(0, 1, 0.25), [0, 0.25, 0.5, 0.75], "float32")
    close(tf.range(0), [], "int32")
    close(tf.range(3, dtype=tf.float64), [0, 1, 2], "float64"), close(tf.range(tf.constant(3, tf.int64)), [0, 1, 2], "int64")
    close(tf.range(start=1, limit=3, delta=1, name="r"), [1, 2]), close(tf.range(3, delta=2), [0, 2])
    close(tf.range(0.0, 1.0, 0.1), np.arange(10) / 10)
    for bad in (lambda: tf.range(0, 5, 0), lambda: tf.range(5, 2), lambda: tf.range([1, 2])):
        with pytest.raises(BAD):
            bad()
    close(tf.linspace(0.0, 1.0, 5), [0, 0.25, 0.5, 0.75, 1], "float32"), close(tf.linspace(1.0, 2.0, 1), [1])
    close(tf.linspace(np.float64(0), np.float64(3), num=4, name="l"), [0, 1, 2, 3], "float64")
    close(tf.linspace([0.0, 1.0], [1.0, 3.0], 3), [[0, 1], [0.5, 2], [1, 3]])
    close(tf.linspace([0.0, 1.0], [1.0, 3.0], 3, axis=-1), [[0, 0.5, 1], [1, 2, 3]])
    assert tf.linspace(0.0, 1.0, 7).numpy()[-1] == 1.0


# ----------------------------------------------------------------- where, cast

def test_where():
    c = np.array([[True, False], [False, True]])
    close(tf.where(c), np.argwhere(c), "int64"), close(tf.where([0, 3, 0, 1]), [[1], [3]], "int64")
    close(tf.where(np.zeros((0,), bool)), np.zeros((0, 1)), "int64"), close(tf.where([0.0, 0.5, NAN]), [[1], [2]], "int64")
    close(tf.where(c, 1, 0), [[1, 0], [0, 1]], "int32"), close(tf.where(c, [[1.0], [2.0]], 0.0), [[1, 0], [0, 2]], "float32")
    close(tf.where([True, False], tf.ones([3, 2]), tf.zeros([3, 2])), [[1, 0]] * 3), close(tf.where(True, 1.0, [5.0, 6.0]), [1, 1])
    close(tf.where(condition=c, x=["a"], y="b", name="w"), np.where(c, b"a", b"b").astype(object), "string")
    for bad in (lambda: tf.where(c, 1.0), lambda: tf.where(c, None, 1.0), lambda: tf.where([True, False, True], [1, 2], [3, 4]),
                lambda: tf.where(c, tf.constant(1), tf.constant(1.0)), lambda: tf.where([1, 0], 1, 2)):
        with pytest.raises(BAD):
            bad()


@pytest.mark.parametrize("source", FLOATS + INTS + ["bool"])
@pytest.mark.parametrize("target", FLOATS + INTS + COMPLEX + ["bool"])
def test_cast_of_small_numbers(source, target):
    values = np.array([0, 1, 3], npd(source))
    close(tf.cast(values, target), values.astype(npd(target)), target)
    cast = tf.cast(x=tf.Variable(values), dtype=target, name="c")             # TF hands a Variable of that dtype back as it is
    close(tf.convert_to_tensor(cast), values.astype(npd(target)), target)


@pytest.mark.filterwarnings("ignore")                 # complex to real warns that it drops a part
def test_cast_details():
    close(tf.cast([1.9, -1.9, 2.5, -0.5], tf.int32), [1, -1, 2, 0], "int32")           # truncates towards zero
    close(tf.cast([300, -5], tf.uint8), [44, 251], "uint8"), close(tf.cast([2 ** 31], tf.int32), [-2 ** 31], "int32")   # wraps around
    close(tf.cast([0.0, 2.0, NAN, -0.0], tf.bool), [False, True, True, False], "bool")
    close(tf.cast(np.array([1e300]), tf.float32), [INF], "float32")
    close(tf.cast(np.array([1 + 2j]), tf.float32), [1.0], "float32"), close(tf.cast(np.array([1 + 2j]), tf.int32), [1], "int32")
    close(tf.cast([1.5], tf.complex64), [1.5 + 0j], "complex64"), close(tf.cast(np.array([1 + 2j]), tf.complex64), [1 + 2j], "complex64")
    close(tf.cast([1.00390625], tf.bfloat16), [1.0], "bfloat16"), close(tf.cast([2049.0], tf.float16), [2048.0], "float16")   # ties to even
    assert tf.cast(tf.constant([NAN]), tf.float16).numpy()[0] != 0
    x = tf.constant([1.0])
    close(tf.cast(x, tf.float32), [1.0]), close(tf.cast([True, False], "int64"), [1, 0], "int64")
    for bad in (lambda: tf.cast(["1"], tf.int32), lambda: tf.cast([1], tf.string), lambda: tf.cast([1], "nonsense")):
        with pytest.raises((*BAD, tf.errors.UnimplementedError)):
            bad()


def test_saturate_cast():
    close(tf.saturate_cast([300.0, -5.0, 7.9], tf.uint8), [255, 0, 7], "uint8")
    close(tf.saturate_cast([1000, -1000], tf.int8), [127, -128], "int8")


# ------------------------------------------------------------------------ matmul

@pytest.mark.parametrize("dtype", FLOATS + ["int32", "int64"] + COMPLEX)
@pytest.mark.parametrize("a, b", [((2, 3), (3, 4)), ((1, 1), (1, 1)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
                                  ((6, 1, 2, 3), (5, 3, 4)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((0, 2, 3), (0, 3, 4))])
def test_matmul(dtype, a, b):
    x, y = data(a, dtype), data(b, dtype, seed=1)
    expected = np.matmul(wide(x), wide(y))
    tx, ty = (np.swapaxes(v, -1, -2) for v in (x, y))
    close(tf.matmul(x, y), expected, dtype, 8)
    close(tf.linalg.matmul(tx, y, transpose_a=True), expected, dtype, 8)
    close(tf.matmul(x, ty, False, True), expected, dtype, 8)
    close(tf.matmul(a=tx, b=ty, transpose_a=True, transpose_b=True, name="m"), expected, dtype, 8)
    if dtype not in ("int32", "int64"):
        close(tf.matmul(tx.conj() if dtype in COMPLEX else tx, y, adjoint_a=True), expected, dtype, 8)
        close(tf.matmul(x, ty.conj() if dtype in COMPLEX else ty, adjoint_b=True), expected, dtype, 8)


def test_matmul_errors():
    m = tf.ones([2, 3])
    for bad in (lambda: tf.matmul(m, m), lambda: tf.matmul(tf.ones([3]), tf.ones([3, 2])), lambda: tf.matmul(m, 2.0),
                lambda: tf.matmul(tf.ones([2, 2, 3]), tf.ones([3, 3, 2])), lambda: tf.matmul([[True]], [[True]]),
                lambda: tf.matmul(m, m, transpose_a=True, adjoint_a=True), lambda: tf.matmul(m, tf.ones([3, 2], tf.float64))):
        with pytest.raises(BAD):
            bad()


# ------------------------------------------------------- softmax, cross entropies

def np_softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape, axis", [((3,), -1), ((2, 3), -1), ((2, 3), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((0, 3), -1)])
def test_softmax(dtype, shape, axis):
    x = data(shape, dtype)
    expected = np_softmax(wide(x), axis)
    close(tf.nn.softmax(x, axis), expected, dtype, 2)
    close(tf.nn.log_softmax(logits=x, axis=axis, name="l"), np.log(expected), dtype, 2)
    if axis == -1:
        close(tf.nn.softmax(x), expected, dtype, 2)


def test_softmax_at_extremes():
    close(tf.nn.softmax([[1000.0, 0.0], [-1000.0, 0.0], [-INF, 0.0]]), [[1, 0], [0, 1], [0, 1]])
    close(tf.nn.log_softmax([1000.0, 0.0]), [0, -1000]), close(tf.nn.softmax([1e4, 1e4]), [0.5, 0.5])
    close(tf.nn.softmax(tf.constant([6e4, 0], tf.float16)), [1, 0], "float16")
    for bad in ([1, 2], [True]):
        with pytest.raises(BAD):
            tf.nn.softmax(bad)
    with pytest.raises(BAD):
        tf.nn.softmax([[1.0]], axis=2)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_sparse_softmax_cross_entropy(dtype, index):
    logits, labels = data((4, 3), dtype), np.array([0, 2, 1, 1], index)
    expected = -np.log(np_softmax(wide(logits)))[np.arange(4), labels]
    close(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits), expected, dtype, 4)
    close(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels, name="x"), expected, dtype, 4)
    close(tf.nn.sparse_softmax_cross_entropy_with_logits(labels.reshape(2, 2), logits.reshape(2, 2, 3)), expected.reshape(2, 2), dtype, 4)


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_cross_entropy(dtype):
    logits, labels = data((4, 3), dtype), np_softmax(data((4, 3), "float64", seed=1)).astype(npd(dtype))
    expected = -(wide(labels) * np.log(np_softmax(wide(logits)))).sum(-1)
    close(tf.nn.softmax_cross_entropy_with_logits(labels, logits), expected, dtype, 4)
    close(tf.nn.softmax_cross_entropy_with_logits(labels=labels.T, logits=logits.T, axis=0, name="x"), expected, dtype, 4)
    close(tf.nn.softmax_cross_entropy_with_logits(labels=labels.reshape(2, 2, 3), logits=logits.reshape(2, 2, 3)), expected.reshape(2, 2),
          dtype, 4)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sigmoid_cross_entropy(dtype):
    logits, labels = data((4, 3), dtype), data((4, 3), dtype, 0, 1, 1)
    p = sigmoid(wide(logits))
    expected = -(wide(labels) * np.log(p) + (1 - wide(labels)) * np.log(1 - p))
    close(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits), expected, dtype, 4)
    close(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels, name="x"), expected, dtype, 4)


def test_cross_entropies_at_extreme_logits():
    close(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=[[1000.0, 0.0], [1000.0, 0.0]]), [0, 1000])
    close(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.5, 0.5]], logits=[[1000.0, 0.0]]), [500])
    close(tf.nn.sigmoid_cross_entropy_with_logits(labels=[0.0, 1.0, 0.5, 1.0], logits=[1000.0, 1000.0, -1000.0, -1000.0]),
          [1000, 0, 500, 1000])
    assert tf.nn.sigmoid_cross_entropy_with_logits(labels=[0.0], logits=[-80.0]).numpy()[0] > 0
    for call, labels, logits in ((tf.nn.sparse_softmax_cross_entropy_with_logits, [0, 1], [[1e4, -1e4], [1e4, -1e4]]),
                                 (tf.nn.softmax_cross_entropy_with_logits, [[1.0, 0.0], [0.0, 1.0]], [[1e4, -1e4], [1e4, -1e4]]),
                                 (tf.nn.sigmoid_cross_entropy_with_logits, [[1.0, 0.0], [0.0, 1.0]], [[1e4, -1e4], [1e4, -1e4]])):
        logits = tf.constant(logits)
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = call(labels=labels, logits=logits)
        gradient = tape.gradient(loss, logits).numpy()
        assert np.isfinite(loss.numpy()).all() and np.isfinite(gradient).all() and np.abs(gradient).max() <= 1.0


def test_cross_entropy_errors():
    sparse, dense, binary = (public("nn." + n) for n in ("sparse_softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
                                                         "sigmoid_cross_entropy_with_logits"))
    good = [[1.0, 0.0], [1.0, 0.0]]
    for bad in (lambda: sparse(labels=[0, 2], logits=good), lambda: sparse(labels=[0, -1], logits=good),
                lambda: sparse(labels=[0], logits=good),
                lambda: sparse(labels=[0.0, 1.0], logits=good), lambda: sparse(labels=[[0, 1]], logits=good),
                lambda: sparse(labels=0, logits=1.0),
                lambda: dense(labels=[[0.5, 0.5]], logits=[[1.0, 0.0, 1.0]]), lambda: binary(labels=[0.0], logits=[1.0, 2.0]),
                lambda: sparse(labels=[0, 1], logits=[[1, 0], [1, 0]]), lambda: binary(labels=tf.constant([1]), logits=[2.0])):
        with pytest.raises(BAD):
            bad()


# ------------------------------------------------- keywords, name=, Variables in

M, V = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3), np.arange(1.0, 4.0, dtype=np.float32)
CALLS = [(n, {"x": M, "y": V}) for n in "add subtract multiply divide truediv maximum minimum pow equal not_equal less less_equal greater "
         "greater_equal math.floordiv math.mod math.floormod math.squared_difference math.divide_no_nan".split()]
CALLS += [(n, {"x": M}) for n in "negative abs square sqrt exp math.log tanh sigmoid sign math.reciprocal math.rsqrt".split()]
CALLS += [(n, {"input_tensor": M, "axis": 1, "keepdims": True}) for n in "reduce_sum reduce_mean reduce_max reduce_min reduce_prod "
          "reduce_logsumexp".split()]
CALLS += [("nn.relu", {"features": M}), ("nn.softmax", {"logits": M, "axis": 0}), ("nn.log_softmax", {"logits": M, "axis": 0}),
          ("reshape", {"tensor": M, "shape": [3, 2]}), ("transpose", {"a": M, "perm": [1, 0]}), ("concat", {"values": [M, M], "axis": 0}),
          ("stack", {"values": [M, M], "axis": 1}), ("gather", {"params": M, "indices": [1, 0]}),
          ("one_hot", {"indices": [0, 1], "depth": 2}),
          ("matmul", {"a": M, "b": M.T}), ("argmax", {"input": M, "axis": 1}), ("argmin", {"input": M, "axis": 1}),
          ("where", {"condition": M > 2, "x": M, "y": V}), ("cast", {"x": M, "dtype": tf.int32}),
          ("squeeze", {"input": M[:1], "axis": [0]}),
          ("expand_dims", {"input": M, "axis": 0}), ("tile", {"input": M, "multiples": [1, 2]}),
          ("pad", {"tensor": M, "paddings": [[1, 1], [0, 0]]}),
          ("fill", {"dims": [2], "value": 1.0}), ("linspace", {"start": 0.0, "stop": 1.0, "num": 3}), ("identity", {"input": M}),
          ("stop_gradient", {"input": M}), ("zeros", {"shape": [2], "dtype": tf.int32}), ("ones", {"shape": [2], "dtype": tf.int32}),
          ("zeros_like", {"input": M, "dtype": tf.int32}), ("ones_like", {"input": M, "dtype": tf.int32}), ("shape", {"input": M}),
          ("rank", {"input": M}), ("size", {"input": M}), ("add_n", {"inputs": [M, M]}), ("broadcast_to", {"input": V, "shape": [2, 3]}),
          ("clip_by_value", {"t": M, "clip_value_min": 2.0, "clip_value_max": 3.0}),
          ("nn.sparse_softmax_cross_entropy_with_logits", {"labels": [0, 2], "logits": M}),
          ("nn.softmax_cross_entropy_with_logits", {"labels": M / M.sum(1, keepdims=True), "logits": M}),
          ("nn.sigmoid_cross_entropy_with_logits", {"labels": M / 10, "logits": M}), ("math.logical_and", {"x": M > 1, "y": V > 1}),
          ("logical_not", {"x": M > 1}), ("reduce_any", {"input_tensor": M > 1, "axis": 0}), ("convert_to_tensor", {"value": M})]


@pytest.mark.parametrize("name, kw", CALLS, ids=[c[0] for c in CALLS])
def test_positions_keywords_and_name_agree(name, kw, record_property):
    record_property("called", "tf." + name)
    op = public(name)
    expected = op(*kw.values()).numpy()
    for result in (op(**kw), op(**kw, name="given"), op(*list(kw.values())[:1], **dict(list(kw.items())[1:]))):
        np.testing.assert_array_equal(result.numpy(), expected)
    first, *rest = kw.items()
    if isinstance(first[1], np.ndarray) and first[1].dtype == np.float32:      # a Variable or a Tensor may stand for the array
        np.testing.assert_array_equal(op(tf.Variable(first[1]), **dict(rest)).numpy(), expected)
        np.testing.assert_array_equal(op(**{first[0]: tf.constant(first[1])}, **dict(rest)).numpy(), expected)
    for bad in (lambda: op(**kw, no_such_argument=1), lambda: op()):
        with pytest.raises((TypeError, ValueError)):
            bad()


def test_inputs_are_not_changed():
    x = np.array([-1.0, 2.0], np.float32)
    t = tf.constant(x)
    for op in (tf.nn.relu, tf.nn.softmax, tf.exp, operator.neg, lambda v: tf.reshape(v, [2, 1]), lambda v: tf.clip_by_value(v, 0, 1)):
        op(t)
    close(t, x)
    y = tf.reshape(t, [2, 1])
    y.numpy()[:] = 5
    close(t, x), close(y, x[:, None])


def test_add_n_and_many_outputs():
    close(tf.add_n([tf.ones([2]), [1.0, 2.0], tf.Variable([1.0, 1.0])]), [3, 4])
    for bad in (lambda: tf.add_n([]), lambda: tf.add_n([tf.ones([2]), tf.ones([3])]),
                lambda: tf.add_n([tf.ones([2]), tf.constant([1, 1])])):
        with pytest.raises(BAD):
            bad()
