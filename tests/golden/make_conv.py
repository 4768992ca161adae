"""Records conv.json.gz: what TensorFlow itself gives for convolutions and their kin, values and gradients.

usage, in an environment with TensorFlow: python make_conv.py (the format is described in recording.py)
"""
import numpy as np
import tensorflow as tf
from recording import record, save

SIZE = {1: (9,), 2: (7, 8), 3: (4, 5, 6)}
WINDOW = {1: (3,), 2: (3, 2), 3: (2, 3, 2)}


def made(seed, shape, dtype="float64"):
    "Multiples of 1/8 between -2 and 2: exact in every type, and short in a file."
    return tf.cast(np.random.default_rng(seed).integers(-16, 17, shape) / 8, dtype)


def straight():
    number = 0
    for spatial, name in ((1, "conv1d"), (2, "conv2d"), (3, "conv3d")):
        for padding in ("SAME", "VALID"):
            for step, gap in ((1, 1), (2, 1), (3, 1), (1, 2)):
                if spatial == 3 and gap > 1: continue         # not on TensorFlow's CPU
                number += 1
                x, w = made(number, (2, *SIZE[spatial], 3)), made(number + 50, (*WINDOW[spatial], 3, 2))
                strides = {"stride" if spatial == 1 else "strides": step if spatial < 3 else [1] + [step] * 3 + [1]}
                record(f"nn.{name}", x, w, padding=padding, dilations=gap if spatial < 3 else [1] * 5, **strides)
    for pads in ([[0, 0], [1, 2], [0, 3], [0, 0]], [[0, 0], [2, 0], [1, 1], [0, 0]]):
        for step in (1, 2):
            record("nn.conv2d", made(3, (2, 5, 6, 2)), made(4, (3, 2, 2, 3)), strides=step, padding=pads)
    record("nn.conv2d", made(5, (2, 6, 5, 3)), made(6, (2, 3, 3, 4)), strides=[1, 2, 1, 1], padding="SAME")
    record("nn.conv2d", made(5, (2, 2, 6, 5, 3)), made(6, (2, 3, 3, 4)), strides=1, padding="VALID")
    record("nn.conv1d", made(5, (2, 3, 6, 3)), made(6, (2, 3, 4)), stride=2, padding="SAME")
    record("nn.conv2d", made(7, (2, 6, 5, 4)), made(8, (3, 3, 2, 6)), strides=1, padding="SAME")    # groups
    for dtype in ("float16", "bfloat16", "float32"):
        record("nn.conv2d", made(9, (2, 5, 5, 3), dtype), made(10, (3, 3, 3, 2), dtype), strides=1, padding="SAME")


def rates():
    for rate in (1, 2, 3):
        for padding in ("SAME", "VALID"):
            record("nn.atrous_conv2d", made(11, (2, 7, 8, 2)), made(12, (3, 2, 2, 3)), rate=rate, padding=padding)
    for n, spatial, padding in ((1, 1, "VALID"), (2, 2, "SAME"), (3, 3, "VALID")):
        x, w = made(13, (2, *SIZE[spatial], 2)), made(14, (*WINDOW[spatial], 2, 3))
        record("nn.convolution", x, w, padding=padding, strides=[n] * spatial)


def transposed():
    for spatial, name in ((1, "conv1d_transpose"), (2, "conv2d_transpose"), (3, "conv3d_transpose")):
        for padding in ("SAME", "VALID"):
            for step in (1, 2):
                s = SIZE[spatial]
                n = [-(-m // step) if padding == "SAME" else (m - k) // step + 1 for m, k in zip(s, WINDOW[spatial], strict=True)]
                y, w = made(15, (2, *n, 3)), made(16, (*WINDOW[spatial], 2, 3))
                record(f"nn.{name}", y, w, output_shape=[2, *s, 2], strides=step, padding=padding)
    record("nn.conv_transpose", made(17, (2, 4, 4, 3)), made(18, (3, 2, 2, 3)), output_shape=[2, 7, 8, 2], strides=2)
    for rate in (2, 3):
        record("nn.atrous_conv2d_transpose", made(19, (2, 7, 8, 3)), made(20, (3, 2, 2, 3)), output_shape=[2, 7, 8, 2], rate=rate,
            padding="SAME")


def apart():
    "Channel by channel."
    for padding in ("SAME", "VALID"):
        for step, gap in ((1, 1), (2, 1), (1, 2)):
            x, w = made(21, (2, 7, 8, 3)), made(22, (3, 2, 3, 2))
            record("nn.depthwise_conv2d", x, w, strides=[1, step, step, 1], padding=padding, dilations=[gap, gap])
        xs = [made(23, (2, 6, 5, 2)), made(24, (3, 2, 2, 2)), made(25, (1, 1, 4, 3))]
        record("nn.separable_conv2d", *xs, strides=[1, 2, 2, 1], padding=padding)
        for step, gap in ((1, 1), (2, 1), (1, 2)):
            k = {"strides": [1, step, step, 1], "padding": padding, "data_format": "NHWC", "dilations": [1, gap, gap, 1]}
            record("nn.dilation2d", made(26, (2, 7, 8, 2)), made(27, (3, 2, 2)), **k)
            record("nn.erosion2d", made(28, (2, 7, 8, 2)), made(29, (3, 2, 2)), **k)
    k = {"strides": [1] * 4, "padding": "SAME", "data_format": "NHWC", "dilations": [1] * 4}
    for dtype in ("int32", "uint8"):
        whole = [tf.cast(tf.abs(8 * made(n, shape)), dtype) for n, shape in ((30, (1, 5, 5, 2)), (31, (2, 2, 2)))]
        record("nn.dilation2d", *whole, **k)


if __name__ == "__main__": save("conv.json.gz", straight, rates, transposed, apart)
