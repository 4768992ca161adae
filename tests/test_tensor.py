"""tf.Tensor, tf.constant and tf.convert_to_tensor, as TensorFlow documents and prints them."""
import copy
import gc
import operator

import numpy as np
import pytest

import tfedu as tf

CPU0 = "/job:localhost/replica:0/task:0/device:CPU:0"
NUMERIC = "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128".split()
BAD_INDEX = (IndexError, TypeError, ValueError, tf.errors.InvalidArgumentError)


def same(tensor, expected, dtype=None):
    assert isinstance(tensor, tf.Tensor)
    if dtype is not None:
        assert tensor.dtype == dtype, tensor
    np.testing.assert_array_equal(np.asarray(tensor.numpy()), np.asarray(expected))
    assert tuple(tensor.shape) == np.shape(expected)


# ---------------------------------------------------------------- tf.constant

@pytest.mark.parametrize("value, dtype", [
    (1, "int32"), (-5, "int32"), ([1, 2], "int32"), (2 ** 31 - 1, "int32"), (2 ** 31, "int64"), ([1, 2 ** 40], "int64"),
    (1.5, "float32"), ([1.0, 2], "float32"), ([1, 2.5], "float32"), ([], "float32"), ([[], []], "float32"),
    (True, "bool"), ([True, False], "bool"), ("a", "string"), (b"a", "string"), (["a", b"b"], "string"), (1j, "complex128"),
    ((1, 2), "int32"), ([(1, 2), (3, 4)], "int32"), (range(3), "int32"),
    (np.float64(1), "float64"), (np.float32(1), "float32"), (np.arange(3, dtype=np.int64), "int64"), (np.ones(2), "float64"),
    (np.int8(3), "int8"), (np.array(["a", "bc"]), "string"), (np.array([True]), "bool"), (np.array(1j, np.complex64), "complex64"),
])
def test_constant_infers_dtype(value, dtype):
    tensor = tf.constant(value)
    assert tensor.dtype.name == dtype
    assert tuple(tensor.shape) == np.shape(np.asarray(value))


@pytest.mark.parametrize("name", NUMERIC)
def test_constant_with_dtype(name):
    dtype = tf.as_dtype(name)
    for value in (1, [1, 2], np.array([1, 2], np.float32 if name == "bfloat16" else np.int64)):
        same(tf.constant(value, dtype=dtype), np.asarray(value).astype(dtype.as_numpy_dtype), dtype)
    assert tf.constant(3, dtype=name).dtype is dtype     # a dtype may be given by name


def test_constant_bool_becomes_a_number_when_asked():
    same(tf.constant(True, dtype=tf.float32), np.float32(1), tf.float32)
    same(tf.constant([True, False], tf.int32), np.array([1, 0], np.int32), tf.int32)


@pytest.mark.parametrize("value, shape, expected", [
    (7, [2, 3], np.full((2, 3), 7)), (7, [], 7), (7, [0], np.zeros(0)), ([1, 2, 3, 4], (2, 2), [[1, 2], [3, 4]]),
    (np.arange(6), [3, 2], [[0, 1], [2, 3], [4, 5]]), ([5], [3], [5, 5, 5]),
])
def test_constant_shape(value, shape, expected):
    same(tf.constant(value, shape=shape), expected)


@pytest.mark.parametrize("value, kw", [
    ([1, [2]], {}), ([[1, 2], [3]], {}), ([[[1], [2]], [[3]]], {}),            # ragged
    (object(), {}), ({1: 2}, {}), (None, {}), ([1, None], {}), ({1, 2}, {}),   # not data
    (["a", 1], {}), (2 ** 64, {}), (1.5, {"dtype": tf.int32}), ("a", {"dtype": tf.float32}), (1, {"dtype": tf.string}),
    (1j, {"dtype": tf.float32}), (1.0, {"dtype": tf.bool}), (1, {"dtype": "no such dtype"}), ([1, 2, 3], {"shape": (2, 2)}),
    (2 ** 31, {"dtype": tf.int32}),            # newest TF wraps around without a word; tfedu does not
])
def test_constant_rejects(value, kw):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        tf.constant(value, **kw)


def test_constant_copies_its_source():
    source = np.zeros(3, np.float32)
    tensors = [tf.constant(source), tf.convert_to_tensor(source), tf.constant(source, dtype=tf.float32), tf.constant(source, shape=[3])]
    source[:] = 9
    for tensor in tensors:
        same(tensor, np.zeros(3))


@pytest.mark.parametrize("source", [np.arange(12).reshape(3, 4).T, np.arange(12)[::-2], np.asfortranarray(np.eye(3)),
                                    np.broadcast_to(np.float32(2), (2, 3)), np.arange(4, dtype=">i4")])
def test_constant_takes_any_memory_layout(source):
    same(tf.constant(source), source)
    assert tf.constant(source).numpy().flags.writeable


def test_constant_of_tensors_and_name():
    same(tf.constant(tf.constant([1.0, 2.0])), [1.0, 2.0])
    same(tf.constant([1, 2], name="c"), [1, 2])
    same(tf.constant(value=[1, 2], dtype=tf.int64, shape=[2, 1], name="c"), [[1], [2]], tf.int64)


# ---------------------------------------------------------- convert_to_tensor

@pytest.mark.parametrize("value, kw, dtype", [
    (1, {}, "int32"), (1, {"dtype_hint": tf.float32}, "float32"), (1.5, {"dtype_hint": tf.int32}, "float32"),
    (1, {"dtype": tf.float64}, "float64"), (np.ones(2), {}, "float64"), (np.ones(2), {"dtype": tf.float32}, "float32"),
    (1, {"dtype": tf.int64, "dtype_hint": tf.float32}, "int64"), ("x", {}, "string"), ([], {"dtype": tf.int32}, "int32"),
])
def test_convert_to_tensor(value, kw, dtype):
    tensor = tf.convert_to_tensor(value, name="t", **kw)
    assert tensor.dtype.name == dtype
    assert tuple(tensor.shape) == np.shape(np.asarray(value))


def test_convert_to_tensor_of_tensors_variables_and_lists_of_them():
    tensor = tf.constant([1.0, 2.0])
    assert tf.convert_to_tensor(tensor) is tensor
    assert tf.convert_to_tensor(tensor, dtype=tf.float32) is tensor
    assert tf.convert_to_tensor(tensor, dtype_hint=tf.int32).dtype == tf.float32
    variable = tf.Variable([1.0, 2.0])
    converted = tf.convert_to_tensor(variable)
    assert isinstance(converted, tf.Tensor) and not isinstance(converted, tf.Variable)
    same(converted, [1.0, 2.0], tf.float32)
    same(tf.convert_to_tensor([tensor[0], 2.0, variable[1]]), [1.0, 2.0, 2.0], tf.float32)
    same(tf.convert_to_tensor([[tensor], [tensor]]), [[[1, 2]], [[1, 2]]], tf.float32)


@pytest.mark.parametrize("make", [tf.constant, tf.Variable])
def test_convert_to_tensor_never_casts_a_tensor(make):
    with pytest.raises(ValueError, match="int32.*float32|float32.*int32"):
        tf.convert_to_tensor(make([1.0]), dtype=tf.int32)


def test_is_tensor():
    assert tf.is_tensor(tf.constant(1)) and tf.is_tensor(tf.Variable(1.0))
    assert not any(tf.is_tensor(x) for x in (1, [1], np.ones(2), None, "a"))


# ------------------------------------------------------------------ operators

BINARY = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv, "mod": operator.mod,
          "pow": operator.pow}
A = np.array([[-7, 5, 3], [8, -2, 1]])
B = np.array([[2, 3, 1], [3, 2, 2]])


@pytest.mark.parametrize("op", BINARY.values(), ids=BINARY)
@pytest.mark.parametrize("name", ["float32", "float64", "int32", "int64"])
def test_arithmetic_operators_and_their_reflections(op, name):
    a, b = A.astype(name), B.astype(name)
    x, y = tf.constant(a), tf.constant(b)
    expected = op(a, b)
    check = np.testing.assert_allclose if name.startswith("f") else np.testing.assert_array_equal
    for result in (op(x, y), op(x, b), op(x, b.tolist()), op(x, tf.Variable(b)), op(tf.Variable(a), y)):
        assert isinstance(result, tf.Tensor) and result.dtype.name == name
        check(result.numpy(), expected, **({"rtol": 1e-6} if name.startswith("f") else {}))
    for result in (op(a, y), op(a.tolist(), y)):                                   # reflected
        assert isinstance(result, tf.Tensor) and result.dtype.name == name
        check(result.numpy(), expected, **({"rtol": 1e-6} if name.startswith("f") else {}))
    check(op(x, 2).numpy(), op(a, np.array(2, name)))
    check(op(3, y).numpy(), op(np.array(3, name), b))
    check(op(x, y[:, :1]).numpy(), op(a, b[:, :1]))                                # broadcasting


@pytest.mark.parametrize("name, result", [("int8", "float32"), ("uint8", "float32"), ("int16", "float32"), ("uint16", "float32"),
                                          ("int32", "float64"), ("int64", "float64"), ("float16", "float16"), ("float32", "float32"),
                                          ("float64", "float64"), ("bfloat16", "bfloat16"), ("complex64", "complex64")])
def test_true_division_of_integers_gives_floats(name, result):
    x = tf.constant([1, 7], dtype=name)
    same(x / 2, np.array([0.5, 3.5]), result)
    same(14 / x, np.array([14.0, 2.0]), result)


@pytest.mark.parametrize("a, b", [(a, b) for a in (-7, 7) for b in (-3, 3)])
def test_floor_division_and_remainder_follow_python(a, b):
    for make in (int, float):
        x, y = tf.constant(make(a)), tf.constant(make(b))
        assert (x // y).numpy() == a // b
        assert (x % y).numpy() == a % b


def test_division_by_zero():
    one = tf.constant([1.0, -1.0, 0.0])
    np.testing.assert_array_equal((one / 0.0).numpy(), [np.inf, -np.inf, np.nan])
    for op in (operator.floordiv, operator.mod):
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)zero"):
            op(tf.constant([1, 2]), 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)negative"):
        operator.pow(tf.constant([2, 3]), -1)


def test_matmul_operator():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for result in (tf.constant(a) @ tf.constant(b), tf.constant(a) @ b, a @ tf.constant(b), a.tolist() @ tf.constant(b)):
        same(result, a @ b, tf.float64)


def test_unary_operators():
    x = tf.constant([-1.5, 2.0])
    same(-x, [1.5, -2.0]), same(abs(x), [1.5, 2.0])
    same(abs(tf.constant([3 + 4j])), [5.0], tf.float64)
    same(abs(tf.constant(3 + 4j, tf.complex64)), 5.0, tf.float32)
    same(-tf.constant([1, -2]), [-1, 2], tf.int32)
    same(~tf.constant([True, False]), [False, True], tf.bool)
    same(~tf.constant([0, 5]), [-1, -6], tf.int32)


@pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.xor])
@pytest.mark.parametrize("a, b", [([True, True, False, False], [True, False, True, False]), ([12, 10, 7], [10, 3, 1])])
def test_logical_and_bitwise_operators(op, a, b):
    expected = op(np.array(a), np.array(b))
    same(op(tf.constant(a), tf.constant(b)), expected)
    same(op(tf.constant(a), b), expected)
    same(op(a, tf.constant(b)), expected)
    same(op(tf.constant(a), a[0]), op(np.array(a), a[0]))


def test_bitwise_operators_need_integers():
    for op in (operator.and_, operator.or_, operator.xor):
        with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError)):
            op(tf.constant([1.0]), tf.constant([1.0]))
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError)):
        operator.inv(tf.constant([1.0]))


@pytest.mark.parametrize("op", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
@pytest.mark.parametrize("name", ["float32", "int32", "uint8", "float64"])
def test_comparisons_are_elementwise_and_broadcast(op, name):
    a, b = np.array([[1, 2, 3]], name), np.array([[2], [3]], name)
    same(op(tf.constant(a), tf.constant(b)), op(a, b), tf.bool)
    same(op(tf.constant(a), 2), op(a, 2), tf.bool)
    same(op(2, tf.constant(a)), op(2, a), tf.bool)
    same(op(tf.constant(a), a), op(a, a), tf.bool)


def test_equality_special_cases():
    x = tf.constant([1, 2])
    assert (x == None) is False and (x != None) is True                      # noqa: E711
    assert not (x == tf.constant([1, 2, 3])) and (x != tf.constant([1, 2, 3]))   # TF 2: shapes that differ are unequal, no error
    same(tf.constant([float("nan")]) == tf.constant([float("nan")]), [False])
    same(tf.constant(["a", "b"]) == "a", [True, False], tf.bool)
    same(tf.constant([True]) == tf.constant([False]), [False])
    same(tf.constant([1j]) != tf.constant([1j]), [False])
    for op in (operator.lt, operator.ge):
        with pytest.raises(tf.errors.InvalidArgumentError):
            op(x, tf.constant([1, 2, 3]))


def test_tensors_are_never_promoted_silently():
    mixed = [(tf.constant([1]), tf.constant([1.0]), "int32", "float"), (tf.constant([1.0], tf.float64), tf.constant([1.0]),
        "double|float64",
             "float"), (tf.constant([1], tf.int64), tf.constant([1]), "int64", "int32")]
    for x, y, first, second in mixed:
        for op in (operator.add, operator.mul, operator.sub):
            with pytest.raises(tf.errors.InvalidArgumentError, match=rf"(?s)({first}).*({second})|({second}).*({first})"):
                op(x, y)
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        operator.truediv(tf.constant([1]), tf.constant([1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        operator.matmul(tf.constant([[1]]), tf.constant([[1.0]]))


@pytest.mark.parametrize("name", NUMERIC)
def test_python_numbers_take_the_tensors_dtype(name):
    x = tf.constant([4, 6], dtype=name)
    for result in (x + 1, 1 + x, x * 2, 2 * x, x - 1, x + np.int64(1)):
        assert result.dtype.name == name
    if not x.dtype.is_integer:
        assert (x + 1.5).dtype.name == (1.5 * x).dtype.name == name
    if x.dtype.is_floating:
        assert (x + np.float32(1.5)).dtype.name == name


def test_python_numbers_that_do_not_fit_raise():
    x = tf.constant([1, 2])
    for make in (lambda: x * 1.5, lambda: 1.5 * x, lambda: x + 1j, lambda: x < "a", lambda: x == 1.5, lambda: tf.constant([1.0]) + 1j):
        with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
            make()
    for make in (lambda: x + None, lambda: x + object(), lambda: x * {}):
        with pytest.raises((TypeError, ValueError)):
            make()


def test_numpy_on_the_left_gives_a_tensor_of_the_tensors_dtype():
    x = tf.constant([1.0, 2.0])
    for result in (np.ones(2) * x, np.float64(2) * x, x * np.ones(2), np.ones(2, np.float32) - x):
        assert isinstance(result, tf.Tensor) and result.dtype == tf.float32


def test_operators_return_notimplemented_for_foreign_types():
    class Other:
        __array_priority__ = 1000
        def __radd__(self, other):
            return "radd"
        def __rmul__(self, other):
            return "rmul"
    assert tf.constant([1.0]) + Other() == "radd"
    assert tf.constant([1.0]) * Other() == "rmul"


def test_string_operators():
    same(tf.constant(["a", "b"]) + "x", np.array([b"ax", b"bx"], object), tf.string)
    same("x" + tf.constant("a"), np.array(b"xa", object), tf.string)


# -------------------------------------------------------------------- slicing

X = np.arange(120).reshape(2, 3, 4, 5)
NEW = None
INDICES = [0, -1, (0, 1), (1, -2, 3), (1, 2, 3, 4), slice(None), slice(1, None), slice(None, -1), (slice(None), slice(None, None, 2)),
           (slice(None), slice(None, None, -1)), (..., 0), (0, ...), (..., slice(1, 3)), (0, ..., 0), ..., NEW, (NEW, 0), (0, NEW, 1),
           (..., NEW), (slice(None), NEW, slice(0, 2)), (slice(None), slice(2, 0, -1), -1), (slice(None), slice(-2, None)),
           (slice(None), slice(5, 9)), (slice(None), slice(2, 1)), slice(0, 100), slice(-100, None), (1, slice(None), ..., 2),
           (slice(None), slice(None), slice(None), slice(4, None, -2)), (NEW, ..., NEW), (slice(None), slice(None), slice(3, 0, -2)), ()]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_slicing_matches_numpy(index):
    same(tf.constant(X)[index], X[index], tf.int64)
    same(tf.Variable(X)[index], X[index], tf.int64)


def test_newaxis_is_none():
    assert tf.newaxis is None
    same(tf.constant([1, 2])[:, tf.newaxis], [[1], [2]])


def test_slicing_with_tensors_and_numpy_integers():
    x, one = tf.constant(X), tf.constant(1)
    same(x[one], X[1])
    same(x[tf.constant(1, tf.int64)], X[1])
    same(x[np.int64(1), np.int32(-1)], X[1, -1])
    same(x[:, one:], X[:, 1:])
    same(x[:, :one], X[:, :1])
    same(x[0, one, ..., tf.constant(-1)], X[0, 1, ..., -1])
    same(x[one:tf.constant(2), ::tf.constant(2)], X[1:2, ::2])


def test_boolean_mask_index():
    x = np.array([[1, 2], [3, 4], [5, 6]])
    mask = np.array([True, False, True])
    same(tf.constant(x)[tf.constant(mask)], x[mask])
    same(tf.constant(x)[tf.constant(x) > 2], x[x > 2])


@pytest.mark.parametrize("index", [3, -4, (0, 0), 1.5, "a", tf.constant(1.5), tf.constant([0, 1]), slice(None, None, 0), (..., ...),
                                   object(), slice("a", None)], ids=lambda v: type(v).__name__)
def test_bad_index_raises(index):
    with pytest.raises(BAD_INDEX):
        operator.getitem(tf.constant([1, 2, 3]), index)


def test_slice_of_empty_zero_d_and_strings():
    same(tf.constant(np.zeros((0, 3)))[:, 1], np.zeros(0))
    same(tf.constant(5)[...], 5)
    same(tf.constant(5)[NEW], [5])
    same(tf.constant(["a", "b", "c"])[::-1], np.array([b"c", b"b", b"a"], object), tf.string)
    with pytest.raises(BAD_INDEX):
        operator.getitem(tf.constant(5), 0)


def test_tensors_cannot_be_assigned_to():
    with pytest.raises(TypeError):
        tf.constant([1, 2])[0] = 5
    with pytest.raises(TypeError):
        del tf.constant([1, 2])[0]


# ------------------------------------------------- Python and NumPy protocols

def test_array_protocol():
    x = tf.constant([[1.0, 2.0]])
    assert isinstance(np.asarray(x), np.ndarray) and np.asarray(x).dtype == np.float32
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.array(x, dtype=np.int32).tolist() == [[1, 2]]
    np.testing.assert_array_equal(np.array([tf.constant(1.0), tf.constant(2.0)]), [1.0, 2.0])
    np.testing.assert_array_equal(np.sqrt(tf.constant([4.0])), [2.0])
    assert np.sum(tf.constant([1.0, 2.0])) == 3.0


def test_numpy_returns_a_copy():
    x = tf.constant([1.0, 2.0])
    array = x.numpy()
    array[:] = 9
    same(x, [1.0, 2.0])
    view = np.asarray(x)                       # may share memory, but must then be read-only
    if np.shares_memory(view, np.asarray(x)):
        assert not view.flags.writeable
    sliced = x[:1].numpy()
    sliced[:] = 9
    same(x, [1.0, 2.0])


@pytest.mark.parametrize("value, kind", [(1.5, np.float32), (1, np.int32), (True, np.bool_), ("a", bytes), (1j, np.complex128)])
def test_numpy_of_a_scalar_is_a_scalar(value, kind):
    assert type(tf.constant(value).numpy()) is kind
    assert type(tf.reduce_max(tf.constant([1.5, 2.5])).numpy()) is np.float32


def test_len_iter_contains():
    x = tf.constant([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    rows = list(x)
    assert len(rows) == 3 and all(isinstance(r, tf.Tensor) for r in rows)
    same(rows[1], [3, 4], tf.int32)
    a, b = tf.constant([1.0, 2.0])
    assert (a.numpy(), b.numpy()) == (1.0, 2.0)
    assert list(tf.constant([], tf.int32)) == []
    assert [int(v) for v in reversed(tf.constant([1, 2]))] == [2, 1]
    assert 1 in tf.constant([1, 2]) and 3 not in tf.constant([1, 2])
    for bad in (len, iter):
        with pytest.raises(TypeError, match="(?i)scalar"):
            bad(tf.constant(1))


@pytest.mark.parametrize("value, truth", [(0, False), (2, True), (0.0, False), (float("nan"), True), (True, True), ([1], True),
                                          ([[0]], False),
                                          ("", False), ("a", True)])
def test_bool(value, truth):
    assert bool(tf.constant(value)) is truth


def test_bool_of_many_elements_raises():
    with pytest.raises(ValueError, match="(?i)ambiguous|more than one|one element"):
        bool(tf.constant([1, 2]))


def test_python_number_conversions():
    assert int(tf.constant(1.75)) == 1 and float(tf.constant(2)) == 2.0 and complex(tf.constant(1j)) == 1j
    assert type(int(tf.constant(1.75))) is int and type(float(tf.constant(2))) is float
    assert operator.index(tf.constant(2)) == 2 and [10, 20, 30][tf.constant(1, tf.int64)] == 20 and list(range(tf.constant(3))) == [0, 1, 2]
    for bad in (lambda: int(tf.constant([1, 2])), lambda: float(tf.constant([1.0, 2.0]))):
        with pytest.raises((TypeError, ValueError)):
            bad()
    for bad in (tf.constant(1.0), tf.constant([1, 2])):
        with pytest.raises((TypeError, AttributeError)):
            operator.index(bad)


def test_hash_and_ref():
    x, y = tf.constant([1, 2]), tf.constant([1, 2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError):
        {x}
    assert x.ref() == x.ref() and hash(x.ref()) == hash(x.ref()) and x.ref() != y.ref()
    assert x.ref().deref() is x
    assert {x.ref(): "x", y.ref(): "y"}[x.ref()] == "x"
    assert len({x.ref(), x.ref(), y.ref()}) == 2


def test_attributes():
    x = tf.constant([[1.0, 2.0, 3.0]])
    assert x.dtype is tf.float32 and x.shape == (1, 3) and x.shape == tf.TensorShape([1, 3]) and x.get_shape() == [1, 3]
    assert isinstance(x.shape, tf.TensorShape) and x.shape[1] == 3 and x.shape.as_list() == [1, 3] and x.shape.rank == 2
    assert x.ndim == 2 and tf.constant(1).ndim == 0
    assert x.device == CPU0
    assert tf.rank(x).numpy() == 2 and tf.size(x).numpy() == 3 and tf.shape(x).numpy().tolist() == [1, 3]
    assert tf.shape(x).dtype == tf.int32 and tf.shape(x, out_type=tf.int64).dtype == tf.int64
    with pytest.raises(AttributeError):
        x.no_such_attribute


def test_set_shape():
    x = tf.constant([1, 2, 3])
    x.set_shape([3]), x.set_shape([None]), x.set_shape(None)
    for bad in ([4], [3, 1], []):
        with pytest.raises(ValueError, match="(?i)compatible"):
            x.set_shape(bad)


@pytest.mark.parametrize("make, text", [
    (lambda: tf.constant(1), "<tf.Tensor: shape=(), dtype=int32, numpy=1>"),
    (lambda: tf.constant(1.5), "<tf.Tensor: shape=(), dtype=float32, numpy=1.5>"),
    (lambda: tf.constant(1.5, tf.float16), "<tf.Tensor: shape=(), dtype=float16, numpy=1.5>"),
    (lambda: tf.constant(True), "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
    (lambda: tf.constant(1 + 2j), "<tf.Tensor: shape=(), dtype=complex128, numpy=(1+2j)>"),
    (lambda: tf.constant("hi"), "<tf.Tensor: shape=(), dtype=string, numpy=b'hi'>"),
    (lambda: tf.constant(["hi", "x"]), "<tf.Tensor: shape=(2,), dtype=string, numpy=array([b'hi', b'x'], dtype=object)>"),
    (lambda: tf.constant([1, 2]), "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"),
    (lambda: tf.constant([[1, 2], [3, 4]]), "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>"),
    (lambda: tf.constant([1.5, 2]), "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2. ], dtype=float32)>"),
    (lambda: tf.constant([[1.0]], tf.float64), "<tf.Tensor: shape=(1, 1), dtype=float64, numpy=array([[1.]])>"),
    (lambda: tf.constant([1.5], tf.bfloat16), "<tf.Tensor: shape=(1,), dtype=bfloat16, numpy=array([1.5], dtype=bfloat16)>"),
    (lambda: tf.constant([], tf.float64), "<tf.Tensor: shape=(0,), dtype=float64, numpy=array([], dtype=float64)>"),
    (lambda: tf.zeros([2, 0]), "<tf.Tensor: shape=(2, 0), dtype=float32, numpy=array([], shape=(2, 0), dtype=float32)>"),
])
def test_repr(make, text):
    assert repr(make()) == text


@pytest.mark.parametrize("make, text", [
    (lambda: tf.constant(1), "tf.Tensor(1, shape=(), dtype=int32)"),
    (lambda: tf.constant([1.5, 2]), "tf.Tensor([1.5 2. ], shape=(2,), dtype=float32)"),
    (lambda: tf.constant("hi"), "tf.Tensor(b'hi', shape=(), dtype=string)"),
    (lambda: tf.constant([[1, 2], [3, 4]]), "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"),
    (lambda: tf.constant([True, False]), "tf.Tensor([ True False], shape=(2,), dtype=bool)"),
])
def test_str(make, text):
    assert str(make()) == text


def test_format():
    assert f"{tf.constant(1.5):.2f}" == "1.50" and f"{tf.constant(3):03d}" == "003"
    assert f"{tf.constant([1, 2])}" in ("[1 2]", "tf.Tensor([1 2], shape=(2,), dtype=int32)")


def test_large_repr_is_summarised():
    assert len(repr(tf.zeros([1000, 1000]))) < 1000


def test_copy_and_deepcopy():
    x = tf.constant([1.0, 2.0])
    same(copy.copy(x), [1.0, 2.0]), same(copy.deepcopy(x), [1.0, 2.0])
    same(copy.deepcopy({"a": [x]})["a"][0], [1.0, 2.0])


def test_a_dead_tensors_ref_does_not_equal_a_new_ones():
    refs = set()
    for _ in range(50):
        refs.add(tf.constant([1.0]).ref())
        gc.collect(0)
    assert len(refs) == 50


def test_every_tensor_is_of_one_class():
    places = [tf.constant(1.0), tf.constant("text"), tf.zeros([600, 600]), tf.identity(tf.Variable(2.0))]
    assert all(tf.Tensor in type(x).__mro__ for x in places) and tf.Tensor not in tf.Variable.__mro__
