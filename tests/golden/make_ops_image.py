"""Records ops_image.json.gz: resizing, cropping, flipping, colours, measures of images. See recording.py."""
from itertools import product

import numpy as np
import tensorflow as tf
from recording import WIDE, array, data, record, refused, save

METHODS = "bilinear nearest bicubic area lanczos3 lanczos5 gaussian mitchellcubic".split()
SCALED = ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")      # their gradient, and antialiasing, go through another kernel
NEAR = 3e-5


def picture(dtype="float32", shape=(4, 5, 3), seed=0):
    return np.random.RandomState(seed).randint(0, 256, shape).astype(dtype) if "int" in dtype else data(shape, dtype, 0, 1, seed)


def resizing():
    for method, antialias in product(METHODS, (False, True)):
        for size in ([2, 3], [8, 7]):
            record("image.resize", picture(shape=(1, 4, 5, 2)), size, method=method, antialias=antialias, tolerance=NEAR)
        record("image.resize", picture("uint8"), [3, 2], method, antialias=antialias, tolerance=NEAR)
        record("image.resize", picture(shape=(6, 3, 1)), [4, 4], method, preserve_aspect_ratio=True, antialias=antialias, tolerance=NEAR)
    record("image.resize", picture("float64", (1, 4, 5, 2)), [3, 3], "bilinear", tolerance=NEAR)
    record("image.resize", picture("uint8"), [4, 5])
    record("image.resize", picture("int32"), [2, 2], "nearest"), record("image.resize", picture(), array([5, 4], "int32"), tolerance=NEAR)
    for antialias, method in product((False, True), ("bilinear", "nearest")):
        record("image.resize_with_pad", picture(), 6, 8, method=method, antialias=antialias, tolerance=NEAR)
        record("image.resize_with_pad", picture(shape=(1, 6, 3, 1)), 4, 4, method, antialias, tolerance=NEAR)
    refused("image.resize", "ValueError", picture(), [1, 2, 3]), refused("image.resize", "ValueError", picture(shape=(4, 5)), [2, 2])


def cutting():
    for dtype, shape in (("float32", (4, 5, 3)), ("uint8", (2, 4, 5, 1))):
        x = picture(dtype, shape)
        for name in ("flip_left_right", "flip_up_down", "transpose"): record("image." + name, x)
        for k in (0, 1, 2, 3, -1): record("image.rot90", x, k=k)
        record("image.crop_to_bounding_box", x, 1, 2, 3, 2), record("image.pad_to_bounding_box", x, 1, 2, 7, 8)
        for size in ((3, 3), (6, 7), (2, 7), (4, 5)): record("image.resize_with_crop_or_pad", x, *size)
        for fraction in (1.0, .5, .3): record("image.central_crop", x, fraction)
    for padding in ("SAME", "VALID"):
        record("image.extract_patches", picture(shape=(1, 4, 5, 2)), [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], padding)
        record("image.extract_patches", picture(shape=(1, 5, 5, 1)), sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 2, 2, 1],
            padding=padding)
    refused("image.crop_to_bounding_box", "ValueError", picture(), 2, 0, 3, 3)
    refused("image.pad_to_bounding_box", "ValueError", picture(), 0, 0, 3, 9)
    refused("image.central_crop", "ValueError", picture(), 0.0), refused("image.flip_left_right", "ValueError", picture(shape=(4, 5)))
    boxes = array([[0, 0, 1, 1], [.2, .6, .9, .1], [-.2, 0, 1.3, .5]])
    for method in ("bilinear", "nearest"):
        record("image.crop_and_resize", picture(shape=(2, 4, 5, 2)), boxes, array([0, 1, 0], "int32"), [3, 2], method=method,
            extrapolation_value=.5, tolerance=NEAR, gradient=False)


def colours():
    for dtype in ("float32", "float64", "uint8"):
        x, near = picture(dtype), NEAR if dtype != "float64" else None
        record("image.rgb_to_grayscale", x, tolerance=1e-4), record("image.grayscale_to_rgb", x[:, :, :1].copy())
        record("image.adjust_brightness", x, .2, tolerance=1e-5), record("image.adjust_contrast", x, 1.7, tolerance=1e-4)
        record("image.adjust_saturation", x, .4, tolerance=1e-4, gradient=False)
        record("image.adjust_hue", x, .3, tolerance=1e-4, gradient=False)
        record("image.adjust_gamma", x, gamma=2.0, gain=.5, tolerance=1e-4) if dtype == "float32" else record("image.adjust_gamma", x,
            1.0, 1.0, tolerance=1e-6 if dtype == "float64" else None)   # TensorFlow goes through float32
        if dtype != "uint8": record("image.rgb_to_hsv", x, tolerance=near), record("image.hsv_to_rgb", x, tolerance=near, gradient=False)
    grey = array([[[.5, .5, .5], [0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1]]])
    record("image.rgb_to_hsv", grey, gradient=False), record("image.adjust_saturation", grey, 2.0, tolerance=1e-4, gradient=False)
    record("image.adjust_hue", grey, -.4, tolerance=1e-4, gradient=False)
    record("image.adjust_brightness", picture(shape=(1, 2, 2, 3)), -.5)
    for name in ("rgb_to_yiq", "rgb_to_yuv", "yiq_to_rgb", "yuv_to_rgb"): record("image." + name, picture(), tolerance=NEAR)
    for source, target in (("uint8", "float32"), ("float32", "uint8"), ("uint8", "int16"), ("int16", "uint8"), ("float32", "float16"),
        ("uint16", "uint8"), ("uint8", "uint16"), ("int32", "float64")):
        for saturate in (False, True):
            if source == "float32" and target == "float16" and saturate: continue
            record("image.convert_image_dtype", picture(source, (2, 3)) if source != "int16" else array([[0, 5, 32767]], "int16"),
                tf.as_dtype(target), saturate=saturate)
    record("image.convert_image_dtype", array([-.5, 0, 1.5, 1]), tf.uint8, saturate=True)
    for dtype in ("float32", "float64", "uint8"): record("image.per_image_standardization", picture(dtype), tolerance=NEAR)
    record("image.per_image_standardization", np.full((1, 2, 2, 3), 3, np.float32), gradient=False)
    refused("image.adjust_gamma", "ValueError", picture(), -1.0)
    refused("image.grayscale_to_rgb", "ValueError", picture())


def measures():
    a, b = picture(shape=(1, 13, 12, 2)), picture(shape=(1, 13, 12, 2), seed=1)
    record("image.psnr", a, b, 1.0, tolerance=NEAR)
    record("image.psnr", picture("uint8"), picture("uint8", seed=1), max_val=255, tolerance=NEAR)
    record("image.psnr", picture("float64"), picture("float64", seed=1), 1.0, tolerance=NEAR, gradient=False)
    record("image.ssim", a, b, 1.0, tolerance=1e-4)
    record("image.ssim", a, b, max_val=1.0, filter_size=5, filter_sigma=1.0, k1=.02, k2=.05, tolerance=1e-4)
    record("image.ssim", a, a, 1.0, tolerance=1e-4, gradient=False)
    record("image.ssim", picture("uint8", (12, 12, 1)), picture("uint8", (12, 12, 1), 1), 255, tolerance=1e-4)
    big = [picture(shape=(1, 40, 44, 1), seed=s) for s in (0, 1)]
    record("image.ssim_multiscale", *big, 1.0, power_factors=(.4, .6), filter_size=5, filter_sigma=1.2, k1=.02, k2=.04, tolerance=2e-4,
        gradient=False)
    for dtype in WIDE:
        record("image.total_variation", picture(dtype), tolerance=NEAR)
        record("image.total_variation", picture(dtype, (2, 3, 3, 1)), tolerance=NEAR)
        record("image.image_gradients", picture(dtype, (1, 3, 4, 2)))
        record("image.sobel_edges", picture(dtype, (1, 4, 3, 2)), tolerance=NEAR)
    refused("image.ssim", "InvalidArgumentError", picture(), picture(), 1.0), refused("image.image_gradients", "ValueError", picture())


if __name__ == "__main__": save("ops_image.json.gz", resizing, cutting, colours, measures)
