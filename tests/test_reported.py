"""Cases that a user ran into once, kept so that they stay fixed."""
import inspect
import pickle

import numpy as np
import pytest

import tfedu as tf


def test_formatting_a_tensor_formats_its_value():
    assert (f"{tf.constant(1.5)}", f"{tf.constant([1, 2])}", f"{tf.constant(1.5):.3f}") == ("1.5", "[1 2]", "1.500")


def test_a_variable_and_a_module_survive_pickle():   # written and read here: nothing foreign is loaded
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0], name="v", trainable=False, dtype=tf.float64)
    again = pickle.loads(pickle.dumps(module)).v
    assert (again.name, again.trainable, again.dtype, again.numpy().tolist()) == ("v:0", False, tf.float64, [1.0, 2.0])
    assert again.assign_add([1.0, 1.0]).numpy().tolist() == [2.0, 3.0] and module.v.numpy().tolist() == [1.0, 2.0]


def test_the_signature_of_a_variable_is_its_constructors():
    assert list(inspect.signature(tf.Variable).parameters)[:3] == ["initial_value", "trainable", "validate_shape"]


@pytest.mark.parametrize("value, words", [([1, "a"], "int and str"), ([1.0, None], "NoneType and float"), ([True, "a"], "bool and str"),
                                          (2 ** 64, "64 bits")])
def test_the_message_says_which_types_a_list_mixes(value, words):
    with pytest.raises(ValueError, match=words): tf.constant(value)


def test_an_empty_batch_is_flattened():
    x = tf.zeros((0, 3, 4))
    assert tf.reshape(x, [tf.shape(x)[0], -1]).shape == [0, 12]
    assert tf.reshape(tf.zeros((2, 0)), [-1, 0]).shape == [2, 0]


@pytest.mark.parametrize("b, settings, words", [
    ((2, 3), {}, r"^matmul: dimension k is 3 .* 2 "), ((2, 4), {"transpose_b": True}, r"^matmul: (?!matmul)")])
def test_a_product_that_does_not_fit_says_so_once(b, settings, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words): tf.matmul(tf.zeros((2, 3)), tf.zeros(b), **settings)


def test_no_internal_class_name_in_messages():
    with pytest.raises(AttributeError, match="'EagerTensor' object has no attribute 'T'"): _ = tf.constant([1]).T


def test_variance_of_nothing_is_nan_without_a_warning():
    assert np.isnan(tf.math.reduce_variance(tf.zeros([0])).numpy())


@pytest.mark.parametrize("labels", [[[0, 1]], tf.constant([[0, 1]]), np.array([[0, 1]]), np.array([[0.0, 1.0]])])
def test_dense_labels_may_be_whole_numbers(labels):
    logits = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    np.testing.assert_allclose(loss.numpy(), [np.log1p(np.exp(-1))], rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(loss, logits).numpy(), [[1 / (1 + np.e), -1 / (1 + np.e)]], rtol=1e-6)


def test_a_list_is_searched_for_tensors_by_type_and_not_one_element_at_a_time():
    looked = []
    class Row(list):
        def __iter__(self): looked.append(self); return super().__iter__()
    from tfedu.core.convert import holds_tensor
    assert not holds_tensor([Row([1.0, 2.0])] * 3) and holds_tensor([Row([1.0, [tf.constant(2.0)]])]) and len(looked) <= 6
    assert not holds_tensor([]) and holds_tensor([tf.Variable(1.0), 2.0]) and holds_tensor((1, [2, (3, tf.constant(4))]))


@pytest.mark.parametrize("kind", [np.array, tf.constant, list])
def test_a_mask_picks_and_what_happens_to_it_later_changes_no_derivative(kind):
    mask = np.array([True, False, True])
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[mask if kind is np.array else kind(mask.tolist())]
    mask[:] = False
    assert y.numpy().tolist() == [1.0, 3.0] and tf.convert_to_tensor(tape.gradient(y, x)).numpy().tolist() == [1.0, 0.0, 1.0]


def test_a_namespace_that_is_yet_to_come_is_not_called_left_out():
    with pytest.raises(AttributeError, match="^tf.distribute is not there yet, and tf.distribute"): tf.distribute
    with pytest.raises(AttributeError, match="^tf.quantization is left out of tfedu"): tf.quantization


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(AttributeError) as caught: tf.reduce_men   # Python looks for a similar name when it prints the error
    assert (caught.value.name, caught.value.obj) == ("reduce_men", tf)


@pytest.mark.parametrize("value, dtype", [([np.float32(1), 2], "float32"), ([np.float32(1), 0.5], "float32"),
                                          ([np.float16(1), 0.5], "float16"),
                                          ([np.float64(1), 0.5], "float64"), ([0.5, np.float64(1)], "float32"), ([np.int64(1), 2], "int32"),
                                          ([np.int64(1), 0.5], "float32"), ([np.arange(2)], "int32"), ([np.ones(2, "uint8")], "int32"),
                                          ([np.int64(2**40)], "int64"), ([np.ones(2), [1.0, 2.0]], "float64"), ([np.bool_(True)], "bool"),
                                          (np.arange(2), "int64"), (np.int64(1), "int64"), (np.ones(2, "uint8"), "uint8")])
def test_a_list_that_mixes_numpy_and_python_numbers(value, dtype):   # as TensorFlow: floats follow the first, whole numbers are int32
    assert tf.constant(value).dtype == tf.convert_to_tensor(value).dtype == dtype


def test_a_list_of_halves_with_a_number_too_large_for_them_is_refused():
    with pytest.raises(ValueError, match="out of range for float16"): tf.constant([np.float16(1), 1e6])


@pytest.mark.parametrize("two", [2, np.int64(2), np.array(2), tf.constant(2), [np.int64(2)], tf.constant([2, 2])])
def test_a_stride_may_be_any_whole_number(two):
    x, k = tf.ones((1, 4, 4, 1)), tf.ones((1, 1, 1, 1))
    assert tf.nn.conv2d(x, k, two, "SAME").shape == tf.nn.max_pool2d(x, two, two, "SAME").shape == (1, 2, 2, 1)


def test_float32_falls_into_the_bin_that_tensorflow_counts_it_in():
    assert tf.histogram_fixed_width_bins([0.1, 0.3, 0.6, 0.7, 0.9], [0.0, 1.0], nbins=10).numpy().tolist() == [1, 3, 6, 7, 9]


@pytest.mark.parametrize("x, filters, words", [
    ((1, 3, 8, 8), (3, 3, 3, 4), "take 3 channels.* has 8 channels, on the axis that data_format calls C"),
    ((1, 8, 8, 6), (3, 3, 2, 4), "make 3 groups, among which the 4 filters of shape .* cannot")])
def test_mixed_up_formats_of_images_are_explained(x, filters, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words): tf.nn.conv2d(tf.ones(x), tf.ones(filters), 1, "SAME")


@pytest.mark.parametrize("name, call", [
    ("concat", lambda: tf.concat([[[1.]], [[1., 2.]]], 0)), ("one_hot", lambda: tf.one_hot(tf.ones(2), 3)),
    ("eig", lambda: tf.linalg.eig(tf.constant("a"))), ("cholesky", lambda: tf.linalg.cholesky(tf.ones((2, 2), tf.int32))),
    ("pinv", lambda: tf.linalg.pinv(tf.ones((2, 2), tf.int32))),
    ("conv2d", lambda: tf.nn.conv2d(tf.ones((1, 4, 4, 1)), tf.ones((1, 1, 1, 1), tf.int32), 1, "SAME")),
    ("svd", lambda: tf.linalg.svd(tf.ones((2, 2), tf.int32))), ("truediv", lambda: tf.ones(3) / tf.ones(2)), ("abs", lambda: tf.abs("a")),
    ("complex", lambda: tf.complex(tf.ones(2), tf.ones(3))), ("add", lambda: tf.ones(2) + tf.ones(3))])
def test_messages_name_what_the_user_called(name, call):
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError), match=f"^{name}: "): call()


@pytest.mark.parametrize("f", [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod, tf.reduce_logsumexp,
                               tf.math.reduce_std, tf.math.reduce_variance])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_keepdims_may_be_none(f, dtype):
    x = tf.constant([[1., 2.], [3., 4.]], dtype)
    assert np.array_equal(f(x, 1, keepdims=None), f(x, 1)) and f(x, 1, None).shape == (2,)


def test_keepdims_of_bools_and_integers_may_be_none():
    assert tf.reduce_all([[True]], 1, None).shape == tf.reduce_any([[True]], 1, None).shape == tf.reduce_mean([[1]], 1, None).shape == (1,)


def test_lists_without_elements():   # as TensorFlow
    assert tf.reduce_all([]).numpy() and not tf.reduce_any([]).numpy()
    assert tf.stack([]).shape == (0,) and tf.stack([]).dtype is tf.float32
    assert tf.sequence_mask([]).shape == (0, 0) and tf.sequence_mask([], 3).shape == (0, 3)
    assert tf.reduce_sum([]).dtype is tf.float32


@pytest.mark.parametrize("words, error, call", [
    ("is -1, not None", ValueError, lambda: tf.reshape([1, 2, 3], (3, None))),
    ("multiples needs a list of numbers", tf.errors.InvalidArgumentError, lambda: tf.tile([1, 2], 2)),
    ("values must have at least one axis", tf.errors.InvalidArgumentError, lambda: tf.searchsorted([1, 2, 3], 2))])
def test_messages_say_what_is_wanted(words, error, call):
    with pytest.raises(error, match=words): call()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("values, want", [([200., 400., 0.01, .5], [2., 1., 40000., 800.]), ([200., 400., 0., .5], [0., 0., 40000., 0.])])
def test_the_gradient_of_a_product_of_halves_overflows_only_where_it_is_too_large(dtype, values, want):
    x = tf.constant(values, dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_prod(x)
    g = tape.gradient(y, x)
    assert g.dtype == dtype
    np.testing.assert_allclose(np.asarray(g, "float32"), want, rtol=2e-2)


def test_decompositions_of_nan_are_nan():   # as TensorFlow; the other matrices of a batch are untouched
    a = np.array([[[1., 2.], [3., 4.]], [[np.nan, 1.], [1., 2.]], [[np.inf, 1.], [1., 2.]]], np.float32)
    for found in (*tf.linalg.svd(a), tf.linalg.svd(a, compute_uv=False), tf.linalg.pinv(a)):
        assert np.isnan(found.numpy()[1:]).all()
    np.testing.assert_array_equal(tf.linalg.svd(a)[0][0], tf.linalg.svd(a[0])[0])
    np.testing.assert_array_equal(tf.linalg.pinv(a)[0], tf.linalg.pinv(a[0]))
    assert tf.linalg.svd(np.zeros((0, 2, 2), "f"))[0].shape == (0, 2)


def test_completion_offers_tensorflows_names():
    offered = {n for n in dir(tf.constant(1.)) if n[0] != "_"}
    assert {"shape", "dtype", "numpy", "device"} <= offered and not offered & {"array", "serial", "origin", "kind", "symbolic", "assign"}
    assert "assign" in dir(tf.Variable([1., 2.])[:1])


def swapped(words):
    order, left = list(range(len(words) + 1)), np.arange(len(words) + 1, 1, -1, dtype=words.dtype)
    for i, j in enumerate((np.arange(len(words)) + words % left).tolist()): order[i], order[j] = order[j], order[i]
    return order


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 50, 3000])
def test_a_permutation_is_what_the_swaps_one_by_one_give(size):
    from tfedu.ops.random import permutation
    draw = np.random.default_rng(size)
    for _ in range(20):
        words = draw.integers(0, 2**32, size, dtype=np.uint32)
        assert permutation(words).tolist() == swapped(words)


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
@pytest.mark.parametrize("on, off, dtype", [
    (None, None, None), (5, -1, tf.int64), (1., .25, tf.float16), (True, False, tf.bool), ("a", "b", None), (None, 0., None)])
def test_one_hot_at_any_axis(axis, on, off, dtype):
    ids = np.array([[0, 3, -1], [2, 9, 1]], np.int32)
    found = tf.one_hot(ids, 4, on, off, axis, dtype)
    hot = np.moveaxis(ids[..., None] == np.arange(4), -1, axis)
    want = np.where(hot, 1. if on is None else on, 0. if off is None else off)
    assert found.numpy().astype(want.dtype if want.dtype.kind != "U" else "U").tolist() == want.tolist()


def test_one_hot_of_a_number():
    assert tf.one_hot(1, 3).numpy().tolist() == [0, 1, 0] and tf.one_hot(7, 3).numpy().tolist() == [0, 0, 0]
    assert tf.one_hot([], 3).shape == (0, 3)


def test_large_arrays_of_special_functions_equal_small_ones():
    x = np.linspace(-20, 40, 400_001, dtype=np.float32)
    for f in (tf.math.lgamma, tf.math.digamma, tf.math.erf):
        np.testing.assert_array_equal(f(x)[1000:1500], f(x[1000:1500]))
        assert f(x[:0]).shape == (0,) and f(x[0]).shape == () and f(x[:4000].reshape(2, 2000)).shape == (2, 2000)


def test_assertions_about_collections():
    case = tf.test.TestCase()
    case.assertLen([1, 2], 2), case.assertEmpty({}), case.assertNotEmpty("a"), case.assertBetween(2, 1, 3)
    case.assertContainsSubset([1], [1, 2])
    case.assertNoCommonElements([1], [2]), case.assertSameElements([1, 1, 2], [2, 1]), case.assertSequenceStartsWith([1], [1, 2])
    case.assertContainsInOrder(["a", "b"], "a b"), case.assertContainsSubsequence([1, 2, 3], [1, 3])
    case.assertTotallyOrdered([1], [2, 2], [3])
    case.assertContainsExactSubsequence([1, 2, 3], [2, 3]), case.assertSequenceAlmostEqual([1.], [1. + 1e-9])
    with case.assertRaisesWithLiteralMatch(ValueError, "no"): raise ValueError("no")
    for wrong in (lambda: case.assertLen([1], 2), lambda: case.assertEmpty([1]), lambda: case.assertNotEmpty([]),
                  lambda: case.assertBetween(4, 1, 3),
                  lambda: case.assertContainsSubset([3], [1]), lambda: case.assertNoCommonElements([1], [1]),
                  lambda: case.assertSameElements([1], [2]),
                  lambda: case.assertSequenceStartsWith([2], [1]), lambda: case.assertContainsInOrder(["b", "a"], "a b"),
                  lambda: case.assertContainsSubsequence([1, 3], [3, 1]), lambda: case.assertTotallyOrdered([2], [1]),
                  lambda: case.assertContainsExactSubsequence([1, 2, 3], [1, 3]), lambda: case.assertSequenceAlmostEqual([1.], [2.])):
        with pytest.raises(AssertionError): wrong()


def test_a_few_texts_side_by_side():
    "Short tensors are stacked in a quick way, which took texts for arrays."
    a, b = tf.constant("a"), tf.constant("bc")
    for found in (tf.stack([a, b]), tf.convert_to_tensor([a, b]), tf.constant([a, b])):
        assert found.dtype is tf.string and [type(x) for x in found.numpy()] == [bytes] * 2 and found.numpy().tolist() == [b"a", b"bc"]
    assert tf.stack([tf.constant(["a", "b"]), tf.constant(["c", "d"])]).numpy().tolist() == [[b"a", b"b"], [b"c", b"d"]]


def test_a_condition_that_assigns():
    "The body did not see what the condition had assigned, and the loop never ended."
    @tf.function
    def f(x):
        while (y := x * 2) < 20: x = y
        return y
    assert float(f(tf.constant(1.0))) == 32
    @tf.function
    def counted(x, n):
        while (n := n - 1) > 0: x = x * 2
        return x
    assert float(counted(tf.constant(1.0), 4)) == 8
