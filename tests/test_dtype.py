"""DTypes: one object each, all spellings, limits, and the way to NumPy and back."""
import copy
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.core.dtype import DTYPES, FROM_NUMPY, look_up

NUMERIC = [d for d in DTYPES if d.is_floating or d.is_integer or d.is_complex]
every = pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)


def test_public_names():
    assert all(getattr(tf.dtypes, d.name) is d for d in DTYPES)
    assert tf.half is tf.float16 and tf.double is tf.dtypes.double is tf.float64 and tf.DType is tf.dtypes.DType
    assert tf.as_dtype is tf.dtypes.as_dtype and {d.name for d in tf.dtypes.QUANTIZED_DTYPES} == {d.name for d in DTYPES if d.is_quantized}
    assert len({d.as_datatype_enum for d in DTYPES}) == len({d.name for d in DTYPES}) == len(DTYPES)


@every
def test_identity_survives_copies(dtype):
    assert copy.copy(dtype) is copy.deepcopy(dtype) is dtype
    assert all(pickle.loads(pickle.dumps([dtype], protocol))[0] is dtype for protocol in range(pickle.HIGHEST_PROTOCOL + 1))


@every
def test_every_spelling_is_the_same_object(dtype):
    spellings = [dtype, dtype.name, dtype.as_datatype_enum]
    if dtype.is_numpy_compatible: spellings += [dtype.np, dtype.as_numpy_dtype, np.empty(1, dtype.np)]
    for spelling in spellings:
        assert tf.as_dtype(spelling) is dtype
        if not isinstance(spelling, np.ndarray): assert dtype == spelling and not dtype != spelling
    assert sum(d == dtype.name for d in DTYPES) == 1


def test_exactly_one_family():
    for d in DTYPES:
        families = [d.is_floating, d.is_complex, d.is_integer, d.is_bool, d.is_quantized, d is tf.string, not d.is_numpy_compatible]
        assert sum(families) == 1
        assert d.differentiable == (d.is_floating or d.is_complex or d is tf.variant)
        assert not d.is_unsigned or d.is_integer


@pytest.mark.parametrize("dtype", NUMERIC, ids=lambda d: d.name)
def test_numpy_and_back(dtype):
    a = np.zeros(3, dtype.np)
    assert FROM_NUMPY[a.dtype] is dtype and a.dtype.itemsize == dtype.size
    assert FROM_NUMPY[a.astype(dtype.as_numpy_dtype).dtype] is dtype
    assert tf.as_dtype(a.dtype.newbyteorder(">")) is dtype or dtype is tf.bfloat16
    assert tf.as_dtype(a[0]) is dtype


@pytest.mark.parametrize("spelling, name", [
    (int, "int32"), (float, "float32"), (complex, "complex128"), (bool, "bool"), (str, "string"), (bytes, "string"), (object, "string"),
    (np.dtype("S7"), "string"), (np.dtype("U7"), "string"), (np.longlong, "int64"), (np.ulonglong, "uint64"), (np.intc, "int32"),
    ("half", "float16"), ("float", "float32"), ("double", "float64"), (ml_dtypes.bfloat16, "bfloat16"), (np.array(["a"]), "string")])
def test_spellings(spelling, name):
    assert tf.as_dtype(spelling).name == name


@pytest.mark.parametrize("wrong", [
    None, "", "int", "float8", "f4", 0, -1, 1000, True, 1.0, [1], {}, (1,), list, np.void, np.floating, np.generic, np.longdouble,
    np.datetime64, np.dtype("M8[s]"), np.dtype([("x", "f4")]), ml_dtypes.float8_e4m3fn, slice(1)])
def test_what_is_no_dtype(wrong):
    with pytest.raises(TypeError, match="as_dtype"): tf.as_dtype(wrong)
    assert look_up(wrong) is None and tf.float32 != wrong


def test_an_object_that_pretends():
    class Odd: dtype = None
    class Shaped: dtype = tf.int8
    assert look_up(Odd()) is None and look_up(Shaped()) is tf.int8


@pytest.mark.parametrize("dtype", [d for d in NUMERIC if not d.is_complex], ids=lambda d: d.name)
def test_ends(dtype):
    if dtype.is_integer:
        assert dtype.max - dtype.min == 256 ** dtype.size - 1 and isinstance(dtype.max, int)
        assert dtype.limits == (0, dtype.max) and dtype.is_unsigned == (dtype.min == 0)
    else:
        assert float(dtype.max) == -float(dtype.min) == float(ml_dtypes.finfo(dtype.np).max) and np.isfinite(float(dtype.max))
        with np.errstate(over="ignore"): assert np.isinf(dtype.as_numpy_dtype(dtype.max) * dtype.as_numpy_dtype(2))


@every
def test_ends_that_are_not_there(dtype):
    if dtype.is_integer or dtype.is_floating: return
    for end in ("min", "max"):
        with pytest.raises(TypeError, match=dtype.name): getattr(dtype, end)
    if not dtype.is_bool:
        with pytest.raises(ValueError, match=dtype.name): _ = dtype.limits


def test_real_types():
    assert tf.complex64.real_dtype is tf.float32 and tf.complex128.real_dtype is tf.float64
    assert all(d.real_dtype is d for d in DTYPES if not d.is_complex) and all(d.base_dtype is d for d in DTYPES)


def test_as_keys():
    table = {d: d.name for d in DTYPES}
    assert all(table[tf.as_dtype(name)] == name for name in table.values())


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.binary(), st.lists(st.integers())))
def test_comparing_never_raises(anything):
    assert isinstance(tf.float32 == anything, bool) and (tf.float32 == anything) != (tf.float32 != anything)


def test_threads_see_the_same_objects():
    found = []
    threads = [threading.Thread(target=lambda: found.extend(tf.as_dtype(d.name) for d in DTYPES)) for _ in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert len(found) == 8 * len(DTYPES) and {id(d) for d in found} == {id(d) for d in DTYPES}
