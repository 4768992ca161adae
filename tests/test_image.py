"""tf.image: properties of what moves, resizes and colours pixels; what is refused; and gradients where nothing was recorded.

Values and gradients of TensorFlow are replayed by test_golden.py; these tests say what must hold for any image.
"""
import numpy as np
import pytest
from conftest import thorough
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tfedu as tf
from tfedu.autodiff.check import check_grads
from tfedu.ops.resize import METHODS, Weights, area_matrix, blend, kernel_matrix, weights_of

Invalid = tf.errors.InvalidArgumentError
SIDE = st.integers(1, 9)


def shapes(channels=(1, 2, 3), least=1):
    side = st.integers(least, 9)
    three = st.tuples(side, side, st.sampled_from(channels))
    return st.one_of(three, st.tuples(st.integers(1, 3), *[side] * 2, st.sampled_from(channels)))


def images(dtype=np.float32, **kw):
    values = st.floats(0, 1, width=32) if np.dtype(dtype).kind == "f" else st.integers(0, 255)
    return shapes(**kw).flatmap(lambda shape: arrays(dtype, shape, elements=values))


def some(*shape, dtype=np.float64, seed=0): return np.random.default_rng(seed).uniform(.1, .9, shape).astype(dtype)


def refused(kind, words, f, *args, **kw):
    with pytest.raises(kind) as caught: f(*args, **kw)
    assert all(word in str(caught.value) for word in words.split()), caught.value


# Pixels that move

@thorough()
@given(images(np.uint8))
def test_flips_and_turns_come_back(x):
    for flip in (tf.image.flip_left_right, tf.image.flip_up_down, tf.image.transpose):
        np.testing.assert_array_equal(flip(flip(x)), x)
    y = x
    for k in range(1, 5):
        y = tf.image.rot90(y)
        np.testing.assert_array_equal(y, np.rot90(x, k, (-3, -2)))
        np.testing.assert_array_equal(tf.image.rot90(x, k - 4), y)
    np.testing.assert_array_equal(y, x)


@thorough()
@given(images(), SIDE, SIDE, SIDE, SIDE)
def test_a_crop_of_a_frame_is_the_image(x, top, left, below, right):
    height, width = x.shape[-3:-1]
    framed = tf.image.pad_to_bounding_box(x, top, left, top + height + below, left + width + right)
    assert framed.numpy().sum() == pytest.approx(x.sum(), rel=1e-4)
    np.testing.assert_array_equal(tf.image.crop_to_bounding_box(framed, top, left, height, width), x)


@thorough()
@given(images(), SIDE, SIDE)
def test_crop_or_pad_has_the_size_that_was_asked_for(x, height, width):
    y = tf.image.resize_with_crop_or_pad(x, height, width).numpy()
    assert y.shape == (*x.shape[:-3], height, width, x.shape[-1])
    back = tf.image.resize_with_crop_or_pad(y, *x.shape[-3:-1]).numpy()
    assert ((back == x) | (back == 0)).all()


@pytest.mark.parametrize("fraction, kept", [(1, 10), (.99, 10), (.8, 8), (.75, 8), (.5, 6), (.1, 2)])
def test_central_crop_loses_the_same_at_both_ends(fraction, kept):
    x = np.arange(100.).reshape(10, 10, 1)
    y = tf.image.central_crop(x, fraction).numpy()
    at = (10 - kept) // 2
    np.testing.assert_array_equal(y, x[at:at + kept, at:at + kept])


@thorough()
@given(st.integers(1, 7), st.integers(1, 7), st.tuples(*[st.integers(1, 3)] * 6), st.sampled_from(("SAME", "VALID")))
def test_patches_are_what_a_loop_finds(height, width, settings, padding):
    x = some(2, height, width, 2)
    (kh, kw), (sh, sw), (rh, rw) = settings[:2], settings[2:4], settings[4:]
    wide = [(k - 1) * r + 1 for k, r in ((kh, rh), (kw, rw))]
    if padding == "VALID":
        if wide[0] > height or wide[1] > width: return
        z, count = x, [(n - w) // s + 1 for n, w, s in zip((height, width), wide, (sh, sw), strict=True)]
    else:
        count = [-(-n // s) for n, s in ((height, sh), (width, sw))]
        missing = [max(0, (c - 1) * s + w - n) for c, s, w, n in zip(count, (sh, sw), wide, (height, width), strict=True)]
        z = np.pad(x, ((0, 0), *[(m // 2, m - m // 2) for m in missing], (0, 0)))
    want = [[z[:, i * sh:i * sh + wide[0]:rh, j * sw:j * sw + wide[1]:rw].reshape(2, -1) for j in range(count[1])] for i in range(count[0])]
    got = tf.image.extract_patches(x, [1, kh, kw, 1], [1, sh, sw, 1], [1, rh, rw, 1], padding)
    np.testing.assert_array_equal(got, np.moveaxis(np.array(want), 2, 0))


# Sizes that change

def tolerance(method): return dict(rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("antialias", (False, True))
@pytest.mark.parametrize("method", METHODS)
@given(st.integers(1, 70), st.integers(1, 70), st.floats(0, 1, width=32))
def test_a_constant_stays_one(method, antialias, old, new, value):
    x = np.full((old, 2, 1), value, np.float32)
    np.testing.assert_allclose(tf.image.resize(x, [new, 3], method, antialias=antialias), np.full((new, 3, 1), value), **tolerance(method))


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("gaussian", "mitchellcubic")])
@given(images())
def test_the_same_size_is_the_same_image(method, x):
    np.testing.assert_allclose(tf.image.resize(x, x.shape[-3:-1], method, antialias=True), x, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_mirror_image_is_resized_to_a_mirror_image(method):
    x = some(2, 11, 8, 3, dtype=np.float32)
    for size in ([5, 17], [23, 3]) if method != "nearest" else ([4, 16], [23, 16]):   # no new centre on the border of two old pixels
        straight, turned = tf.image.resize(x, size, method), tf.image.resize(tf.image.flip_left_right(x), size, method)
        np.testing.assert_allclose(tf.image.flip_left_right(turned), straight, atol=2e-4 if method == "bicubic" else 1e-5)
        other = tf.image.resize(tf.image.transpose(x), size[::-1], method)
        np.testing.assert_allclose(tf.image.transpose(other), straight, atol=1e-5)


@given(st.integers(1, 60), st.integers(1, 60), st.sampled_from([m for m in METHODS if m != "nearest"]), st.booleans())
def test_a_band_holds_all_that_is_in_the_matrix(old, new, method, antialias):
    weights = weights_of(method, old, new, antialias)
    for each in (weights, weights.turned):
        first, taps = each.band
        rebuilt = np.zeros_like(each.matrix)
        for k, weight in enumerate(taps): rebuilt[np.arange(len(first)), first + k] += weight
        np.testing.assert_array_equal(rebuilt, each.matrix)
    np.testing.assert_allclose(weights.matrix.sum(1), 1, rtol=1e-6)
    assert weights.turned.turned is weights


@pytest.mark.parametrize("axis", (0, 1, 2, -1, -2))
def test_blending_tap_by_tap_is_the_product(axis):
    x = np.moveaxis(some(200, 3, 2), 0, axis)
    weights = Weights(kernel_matrix("bicubic", 200, 90, False))
    two = Weights(kernel_matrix("bilinear", 200, 90, False))
    for each in (weights, two):
        np.testing.assert_allclose(blend(x, each, axis), np.moveaxis(np.tensordot(each.matrix, x, (1, axis)), 0, axis), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_of_resize_is_its_transpose(method):
    x, t, g = some(2, 7, 6, 2, dtype=np.float32), some(2, 7, 6, 2, dtype=np.float32, seed=1), some(2, 4, 9, 2, dtype=np.float32, seed=2)
    def f(x): return tf.image.resize(x, [4, 9], method, antialias=True)
    with tf.GradientTape() as tape:
        x = tf.constant(x)
        tape.watch(x)
        y = f(x)
    u = tape.gradient(y, x, g).numpy()
    assert (u * t).sum() == pytest.approx((g * f(t).numpy()).sum(), rel=1e-4)


def test_a_variable_can_be_an_image():
    v = tf.Variable(some(4, 5, 3, dtype=np.float32))
    with tf.GradientTape() as tape: y = tf.image.adjust_hue(tf.image.resize(tf.image.flip_left_right(v), [2, 3]), .1)
    assert y.shape == (2, 3, 3) and tape.gradient(y, v).shape == (4, 5, 3)


def test_shrinking_by_whole_factors():
    x = some(1, 6, 8, 2, dtype=np.float32)
    blocks = x.reshape(1, 3, 2, 4, 2, 2).mean((2, 4))
    np.testing.assert_allclose(tf.image.resize(x, [3, 4], tf.image.ResizeMethod.AREA), blocks, rtol=1e-6)
    np.testing.assert_allclose(tf.image.resize(x, [3, 4], tf.image.ResizeMethod.BILINEAR), blocks, rtol=1e-6)
    np.testing.assert_array_equal(tf.image.resize(x, [12, 16], "nearest"), x.repeat(2, 1).repeat(2, 2))
    np.testing.assert_array_equal(area_matrix(3, 3), np.eye(3))


@pytest.mark.parametrize("dtype", ("uint8", "int32", "float16", "bfloat16", "float64"))
def test_resize_gives_float32_unless_it_picks_pixels(dtype):
    x = tf.cast(np.arange(12).reshape(3, 4, 1), dtype)
    assert tf.image.resize(x, [2, 2]).dtype == tf.float32 and tf.image.resize(x, [3, 4], "area").dtype == tf.float32
    assert tf.image.resize(x, [2, 2], "nearest").dtype == dtype


@thorough()
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 30), st.integers(1, 30))
def test_proportions_are_kept(height, width, high, wide):
    x = np.zeros((height, width, 1), np.float32)
    factor = min(high / height, wide / width)
    if min(height, width) * factor < .6: return
    got = tf.image.resize(x, [high, wide], preserve_aspect_ratio=True).shape[:2]
    assert all(abs(g - factor * n) <= .51 for g, n in zip(got, (height, width), strict=True))
    assert tf.image.resize_with_pad(x, high, wide).shape == (high, wide, 1)


def test_bars_are_black_and_the_picture_is_in_the_middle():
    y = tf.image.resize_with_pad(np.ones((2, 2, 1), np.float32), 4, 8).numpy()[..., 0]
    np.testing.assert_array_equal(y, np.pad(np.ones((4, 4)), ((0, 0), (2, 2))))


# Colours

@given(st.sampled_from(("uint8", "int8", "uint16", "int16")), st.sampled_from(("float32", "float64")))
def test_integers_survive_a_trip_through_floats(dtype, floating):
    kind = np.iinfo(dtype)
    x = np.linspace(0, kind.max, 257).astype(dtype)
    y = tf.image.convert_image_dtype(x, floating)
    assert y.numpy().max() == pytest.approx(1) and y.dtype == floating
    np.testing.assert_array_equal(tf.image.convert_image_dtype(y, dtype), x)


@thorough()
@given(arrays(np.float32, (4, 3), elements=st.floats(0, 1, width=32)))
def test_colours_come_back_from_hue_saturation_value(x):
    hsv = tf.image.rgb_to_hsv(x).numpy()
    assert (hsv >= 0).all() and (hsv <= 1 + 1e-6).all()
    np.testing.assert_allclose(tf.image.hsv_to_rgb(hsv), x, atol=2e-6)
    np.testing.assert_allclose(tf.image.adjust_hue(x, 0), x, atol=2e-6)
    np.testing.assert_allclose(tf.image.adjust_hue(tf.image.adjust_hue(x, .3), -.3), x, atol=5e-6)
    np.testing.assert_allclose(tf.image.adjust_saturation(x, 1), x, atol=2e-6)
    np.testing.assert_allclose(tf.image.adjust_saturation(x, 0), x.max(1, keepdims=True).repeat(3, 1), atol=2e-6)


def test_the_standard_library_agrees_on_colours():
    from colorsys import rgb_to_hsv
    x = some(50, 3)
    np.testing.assert_allclose(tf.image.rgb_to_hsv(x), [rgb_to_hsv(*c) for c in x], atol=1e-12)


def test_grey_has_no_hue_and_no_wild_gradient():
    x = tf.constant([[.5, .5, .5], [0., 0, 0], [1, 1, 1]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.image.rgb_to_hsv(x)[..., 0]
    assert not y.numpy().any() and not tape.gradient(y, x).numpy().any()


@pytest.mark.parametrize("f", [
    lambda x: tf.image.adjust_brightness(x, .1), lambda x: tf.image.adjust_contrast(x, 1.4), lambda x: tf.image.adjust_gamma(x, .6, 1.2),
    lambda x: tf.image.adjust_saturation(x, .7), lambda x: tf.image.adjust_hue(x, .2), tf.image.rgb_to_hsv, tf.image.hsv_to_rgb,
    tf.image.rgb_to_grayscale, tf.image.total_variation, lambda x: tf.image.sobel_edges(x[None]),
    lambda x: tf.image.image_gradients(x[None])[0],
    lambda x: tf.image.extract_patches(x[None], [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], "SAME"), tf.image.rot90, tf.image.transpose,
    lambda x: tf.image.resize_with_crop_or_pad(x, 2, 5), lambda x: tf.image.grayscale_to_rgb(x[..., :1])])
def test_gradients_of_any_order(f): check_grads(f, [some(3, 4, 3, seed=5)], order=2)


def test_brightness_of_integers_stops_at_the_ends():
    x = np.array([[[0, 100, 250]]], np.uint8)
    assert tf.image.adjust_brightness(x, .1).numpy().ravel().tolist() == [25, 125, 255]
    assert tf.image.adjust_brightness(x, -.5).numpy().ravel().tolist() == [0, 0, 122]
    assert tf.image.adjust_contrast(np.array([[[0], [255]]], np.uint8), 3.).numpy().ravel().tolist() == [0, 255]
    assert tf.image.adjust_gamma(x, 0).numpy().ravel().tolist() == [255, 255, 255]


@pytest.mark.parametrize("dtype", ("uint8", "int16", "float16", "bfloat16", "float32", "float64"))
def test_types_are_kept(dtype):
    x = tf.image.convert_image_dtype(some(2, 5, 4, 3), dtype)
    for f in (lambda x: tf.image.adjust_hue(x, .1), lambda x: tf.image.adjust_saturation(x, 2), lambda x: tf.image.adjust_contrast(x, 2),
              lambda x: tf.image.adjust_gamma(x, 2), lambda x: tf.image.adjust_brightness(x, .1), tf.image.flip_up_down,
              lambda x: tf.image.central_crop(x, .5), tf.image.rgb_to_grayscale): assert f(x).dtype == dtype
    assert tf.image.per_image_standardization(x).dtype == tf.float32


def test_standardised_images():
    y = tf.image.per_image_standardization(some(3, 5, 4, 2)).numpy()
    np.testing.assert_allclose(y.mean((1, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(y.std((1, 2, 3)), 1, rtol=1e-5)
    assert not tf.image.per_image_standardization(np.full((2, 3, 1), .4, np.float32)).numpy().any()


# Chance

def test_the_same_seeds_give_the_same_pictures():
    x = some(5, 9, 8, 3, dtype=np.float32)
    draws = [lambda s: tf.image.random_flip_left_right(x, s), lambda s: tf.image.random_flip_up_down(x, s),
             lambda s: tf.image.random_brightness(x, .3, s), lambda s: tf.image.random_contrast(x, .3, 1.4, s),
             lambda s: tf.image.random_saturation(x, .3, 1.4, s), lambda s: tf.image.random_hue(x, .3, s),
             lambda s: tf.image.random_crop(x, [5, 4, 4, 3], s)]
    for f in draws:
        for seed in (None, 3):
            tf.random.set_seed(11)
            first = [f(seed).numpy() for _ in range(8)]
            tf.random.set_seed(11)
            again = [f(seed).numpy() for _ in range(8)]
            np.testing.assert_array_equal(first, again)
            assert any((y != first[0]).any() for y in first)


def test_one_seed_of_tensorflow():
    "Real TensorFlow, with tf.random.set_seed(11) and seed=3, draws these."
    tf.random.set_seed(11)
    x = np.arange(40, dtype=np.float32).reshape(8, 5, 1, 1)
    corners = [tf.image.random_crop(x, [3, 2, 1, 1], 3).numpy()[0, 0, 0, 0] for _ in range(4)]
    tf.random.set_seed(11)
    change = float(tf.image.random_brightness(np.zeros((1, 1, 1), np.float32), .5, 3).numpy().item())
    assert corners == [27, 3, 3, 16] and change == pytest.approx(-.4886322, abs=1e-6)


def test_a_single_image_is_flipped_as_a_whole():
    x = some(4, 3, 1)
    seen = {tf.image.random_flip_left_right(x).numpy().tobytes() for _ in range(40)}
    assert seen == {x.tobytes(), np.ascontiguousarray(x[:, ::-1]).tobytes()}


# Quality

def test_equal_images():
    x = some(2, 12, 13, 3, dtype=np.float32)
    assert np.isinf(tf.image.psnr(x, x, 1.)).all() and tf.image.psnr(x, x, 1.).shape == (2,)
    np.testing.assert_allclose(tf.image.ssim(x, x, 1.), [1, 1], rtol=1e-5)
    assert float(tf.image.psnr(np.zeros((2, 2, 1), np.uint8), np.full((2, 2, 1), 255, np.uint8), 255)) == pytest.approx(0, abs=1e-5)


def test_similarity_is_symmetric_and_falls_with_noise():
    x, noise = some(16, 15, 1), some(16, 15, 1, seed=3) - .5
    values = [float(tf.image.ssim(x, x + s * noise, 1.)) for s in (0, .1, .3, 1)]
    assert values == sorted(values, reverse=True)
    assert float(tf.image.ssim(x, x + noise, 1.)) == pytest.approx(float(tf.image.ssim(x + noise, x, 1.)), rel=1e-5)


def test_steps_and_edges():
    ramp = np.broadcast_to(np.arange(5.)[:, None, None], (2, 5, 4, 1))
    down, right = tf.image.image_gradients(ramp)
    assert down.numpy()[:, :-1].min() == down.numpy().max() == 1 and not down.numpy()[:, -1].any()
    assert not right.numpy().any()
    np.testing.assert_array_equal(tf.image.total_variation(ramp), [16, 16])
    edges = tf.image.sobel_edges(ramp).numpy()
    assert edges.shape == (2, 5, 4, 1, 2) and (edges[:, 1:-1, :, :, 0] == 8).all()
    assert not edges[..., 1].any() and not edges[:, [0, -1]].any()


# What is refused

def test_what_moves_pixels_refuses():
    x, flat = some(4, 5, 3), some(4, 5)
    for f in (tf.image.flip_left_right, tf.image.flip_up_down, tf.image.transpose, tf.image.rot90, tf.image.random_flip_up_down):
        refused(ValueError, "image (4, height", f, flat)
    refused(ValueError, "rot90 k 1.5", tf.image.rot90, x, 1.5)
    refused(ValueError, "crop_to_bounding_box (3, (2, (4,", tf.image.crop_to_bounding_box, x, 2, 0, 3, 3)
    refused(ValueError, "crop_to_bounding_box", tf.image.crop_to_bounding_box, x, -1, 0, 3, 3)
    refused(ValueError, "crop_to_bounding_box", tf.image.crop_to_bounding_box, x, 0, 0, 0, 3)
    refused(ValueError, "pad_to_bounding_box", tf.image.pad_to_bounding_box, x, 1, 0, 4, 5)
    refused(ValueError, "central_fraction 1.5", tf.image.central_crop, x, 1.5)
    refused(ValueError, "target_height", tf.image.resize_with_crop_or_pad, x, 0, 3)
    refused(ValueError, "target_height", tf.image.resize_with_pad, x, 0, 3)
    refused(ValueError, "extract_patches padding", tf.image.extract_patches, x[None], [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "FULL")
    refused(Invalid, "extract_patches sizes", tf.image.extract_patches, x[None], [2, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    refused(ValueError, "extract_patches images", tf.image.extract_patches, x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")


def test_resize_refuses():
    x = some(4, 5, 3)
    for size in (3, [1, 2, 3], [3., 3.], "ab"): refused(ValueError, "resize size", tf.image.resize, x, size)
    for size in ([0, 3], [3, -1]): refused(Invalid, "resize size positive", tf.image.resize, x, size)
    refused(ValueError, "resize method cubic bilinear", tf.image.resize, x, [3, 3], "cubic")
    refused(ValueError, "resize images", tf.image.resize, x[0], [3, 3])
    assert tf.image.resize(x, tf.constant([3, 2])).shape == (3, 2, 3)


def test_colours_refuse():
    x = some(4, 5, 2)
    for f in (tf.image.rgb_to_grayscale, tf.image.rgb_to_hsv, tf.image.hsv_to_rgb): refused(Invalid, "3 channels (4,", f, x)
    refused(Invalid, "rgb_to_hsv uint8", tf.image.rgb_to_hsv, np.zeros((2, 3), np.uint8))
    refused(Invalid, "adjust_saturation image 3", tf.image.adjust_saturation, x, 1)
    refused(ValueError, "adjust_hue delta 2", tf.image.adjust_hue, some(2, 2, 3), 2)
    refused(ValueError, "grayscale_to_rgb 1 channel", tf.image.grayscale_to_rgb, x)
    refused(ValueError, "adjust_gamma gamma -1", tf.image.adjust_gamma, x, -1)
    refused(Invalid, "adjust_contrast 3 axes", tf.image.adjust_contrast, x[0], 1)
    refused(ValueError, "per_image_standardization 3 axes", tf.image.per_image_standardization, x[0])
    refused(AttributeError, "convert_image_dtype bool", tf.image.convert_image_dtype, x, tf.bool)


def test_chance_refuses():
    x = some(4, 5, 3)
    refused(ValueError, "random_hue max_delta 0.7", tf.image.random_hue, x, .7)
    refused(ValueError, "random_brightness max_delta", tf.image.random_brightness, x, -.1)
    refused(ValueError, "random_contrast upper", tf.image.random_contrast, x, 1, 1)
    refused(ValueError, "random_saturation lower", tf.image.random_saturation, x, -1, 1)
    for size in ([1, 1], [5, 1, 1], [-1, 1, 1]): refused(Invalid, "random_crop size", tf.image.random_crop, x, size)


def test_quality_refuses():
    x = some(4, 5, 3)
    refused(Invalid, "ssim filter_size", tf.image.ssim, x, x, 1.)
    refused(ValueError, "psnr 3 axes", tf.image.psnr, x[0], x[0], 1.)
    refused(ValueError, "psnr together", tf.image.psnr, x, x[:2], 1.)
    for f in (tf.image.sobel_edges, tf.image.image_gradients): refused(ValueError, "image (batch,", f, x)
    refused(ValueError, "total_variation images", tf.image.total_variation, x[0])
