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
    with pytest.raises(AttributeError, match="^tf.saved_model is not there yet, and tf.saved_model"): tf.saved_model
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
