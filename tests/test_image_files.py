"""tf.io.decode_png and its relatives: what is written is read again, Pillow agrees, and a broken file is refused without harm."""
import sys
from io import BytesIO
from itertools import product
from struct import pack
from zlib import compress

import numpy as np
import pytest
from conftest import thorough
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

import tfedu as tf
from tfedu.ops.picture_files import MAGIC, PASSES, chunk, filtered, unfiltered

Invalid = tf.errors.InvalidArgumentError
V, U = np.mgrid[:23, :17]
COLOUR = np.stack([V * 9, U * 13, (U + V) * 5], -1).astype(np.uint8)
OPAQUE = np.concatenate([COLOUR, COLOUR[..., :1]], -1)


def saved(pixels, kind, **settings):
    out, picture = BytesIO(), pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    picture.save(out, kind, **settings)
    return out.getvalue()


def png(width, height, depth, kind, rows, *more, interlace=0):
    "A PNG whose rows are given as bytes, the filter in front."
    head = chunk(b"IHDR", pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlace))
    return MAGIC + head + b"".join(chunk(*m) for m in more) + chunk(b"IDAT", compress(rows)) + chunk(b"IEND", b"")


def refused(words, f, *args, **kw):
    with pytest.raises(Invalid) as caught: f(*args, **kw)
    assert all(word in str(caught.value) for word in words.split()), caught.value


# PNG

pixels = st.sampled_from((np.uint8, np.uint16)).flatmap(lambda dtype: st.tuples(
    st.integers(1, 12), st.integers(1, 12), st.integers(1, 4)).flatmap(lambda shape: arrays(dtype, shape)))


@thorough()
@given(pixels, st.integers(-1, 9))
def test_what_is_written_is_read_again(x, compression):
    file = tf.io.encode_png(x, compression)
    assert file.dtype == tf.string and file.shape == ()
    y = tf.io.decode_png(file, dtype=x.dtype)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x)
    if x.dtype == np.uint8: np.testing.assert_array_equal(np.asarray(Image.open(BytesIO(file.numpy()))).reshape(x.shape), x)


@thorough()
@given(arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9).map(lambda n: 3 * n))), st.data())
def test_filters_are_undone_pixel_by_pixel(x, data):
    step = data.draw(st.sampled_from((1, 3)))
    np.testing.assert_array_equal(unfiltered("test", filtered(x, step), step), x)
    rows = filtered(x, step)
    rows[:, 0] = data.draw(arrays(np.uint8, len(x), elements=st.integers(0, 4)))   # not what the rows were made with
    np.testing.assert_array_equal(unfiltered("test", rows, step), by_loops(rows, step))


def by_loops(rows, step):
    "The filters of the PNG specification, byte by byte."
    out = np.zeros((len(rows), rows.shape[1] - 1), int)
    for i, j in np.ndindex(*out.shape):
        a, b = out[i, j - step] if j >= step else 0, out[i - 1, j] if i else 0
        c = out[i - 1, j - step] if i and j >= step else 0
        nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        out[i, j] = (int(rows[i, j + 1]) + (0, a, b, (a + b) // 2, nearest)[rows[i, 0]]) % 256
    return out


FILES = {
    "rgb": saved(COLOUR, "PNG"), "grey": saved(COLOUR[..., 0], "PNG"), "opacity": saved(OPAQUE, "PNG"),
    "grey and opacity": saved(Image.fromarray(OPAQUE).convert("LA"), "PNG"), "black and white": saved(COLOUR[..., 0] > 99, "PNG"),
    "palette": saved(Image.fromarray(COLOUR).quantize(40), "PNG"),
    "small palette": saved(Image.fromarray(COLOUR).quantize(4), "PNG", bits=2),
    "transparent palette": saved(Image.fromarray(COLOUR).quantize(40), "PNG", transparency=3),
}


@pytest.mark.parametrize("name", FILES)
def test_pillow_reads_the_same(name):
    with Image.open(BytesIO(FILES[name])) as picture:
        mode = {"P": "RGBA" if "transparency" in picture.info else "RGB", "1": "L"}.get(picture.mode, picture.mode)
        want = np.asarray(picture.convert(mode)).reshape(23, 17, -1)
        for channels, other in (0, mode), (3, "RGB"), (4, "RGBA"):
            got = tf.io.decode_png(FILES[name], channels)
            np.testing.assert_array_equal(got, np.asarray(picture.convert(other)).reshape(23, 17, -1))
        grey = tf.io.decode_png(FILES[name], 1).numpy()[..., 0].astype(int)
        assert abs(grey - np.asarray(picture.convert("RGB").convert("L"))).max() <= 1
    deep = tf.image.decode_png(FILES[name], dtype=tf.uint16)
    np.testing.assert_array_equal(deep, want * np.uint16(257))
    np.testing.assert_allclose(tf.io.decode_image(FILES[name], dtype=tf.float32), want / 255, atol=1e-6)


def test_a_transparent_colour_is_for_those_who_ask():
    file = saved(COLOUR, "PNG", transparency=(0, 0, 0))
    assert tf.io.decode_png(file).shape[-1] == 3
    alpha = tf.io.decode_png(file, 4).numpy()[..., 3]
    assert alpha[0, 0] == 0 and (alpha.ravel()[1:] == 255).all()


@pytest.mark.parametrize("depth, kind, channels", [(1, 0, 1), (2, 0, 1), (4, 0, 1), (8, 0, 1), (16, 0, 1), (8, 2, 3), (16, 6, 4)])
@pytest.mark.parametrize("height, width", [(1, 1), (2, 3), (9, 13)])
def test_seven_passes(depth, kind, channels, height, width):
    x = np.random.default_rng(0).integers(0, 2**depth, (height, width, channels))
    def packed(row):
        bits = (row.reshape(-1, 1) >> np.arange(depth - 1, -1, -1) & 1).ravel().astype(np.uint8)
        return b"\0" + np.packbits(bits).tobytes()
    parts = [x[r::dr, c::dc] for r, dr, c, dc in PASSES]
    rows = b"".join(packed(row) for part in parts if part.size for row in part)
    straight = png(width, height, depth, kind, b"".join(map(packed, x)))
    got = tf.io.decode_png(png(width, height, depth, kind, rows, interlace=1), dtype=tf.uint16)
    np.testing.assert_array_equal(got, tf.io.decode_png(straight, dtype=tf.uint16))
    np.testing.assert_array_equal(got, x if depth == 16 else x * (255 // (2**depth - 1)) * 257)


def test_sixteen_bits_lose_their_lower_half():
    x = np.array([[[0x1234]]], np.uint16)
    assert tf.io.decode_png(tf.image.encode_png(x)).numpy().item() == 0x12


def test_a_png_that_lies_is_refused_before_memory_is_taken():
    import tracemalloc
    huge = png(60000, 60000, 8, 2, b"\0" * 100)
    many = png(8000, 8000, 8, 2, b"\0" * 100)        # few compressed bytes cannot hold 192 million
    bomb = png(10, 10, 8, 0, bytes(50_000_000))      # more than the header says
    tracemalloc.start()
    refused("decode_png 60000 rows", tf.io.decode_png, huge)
    refused("decode_png size", tf.io.decode_png, many)
    assert not tf.io.decode_png(bomb).numpy().any()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_what_a_png_may_not_be():
    good = FILES["rgb"]
    refused("decode_png PNG", tf.io.decode_png, b"junk")
    refused("decode_png PNG b''", tf.io.decode_png, b"")
    refused("decode_png cut", tf.io.decode_png, good[:60])
    refused("decode_png IEND", tf.io.decode_png, good[:-12])
    refused("decode_png checksum", tf.io.decode_png, good[:45] + b"x" + good[46:])
    refused("decode_png combination", tf.io.decode_png, png(1, 1, 3, 0, b"\0\0"))
    refused("decode_png 0 rows", tf.io.decode_png, png(1, 0, 8, 0, b""))
    refused("decode_png filter 5", tf.io.decode_png, png(1, 1, 8, 0, b"\5\0"))
    refused("decode_png IDAT 1 of 2", tf.io.decode_png, png(1, 1, 8, 0, b"\0"))
    refused("decode_png palette", tf.io.decode_png, png(1, 1, 8, 3, b"\0\2", (b"PLTE", bytes(6))))
    refused("decode_png palette", tf.io.decode_png, png(1, 1, 8, 3, b"\0\0"))
    refused("decode_png tRNS", tf.io.decode_png, png(1, 1, 8, 0, b"\0\0", (b"tRNS", b"\0")))
    refused("decode_png channels", tf.io.decode_png, good, 2)
    refused("decode_png dtype", tf.io.decode_png, good, dtype=tf.float32)
    refused("decode_png scalar", tf.io.decode_png, [good, good])
    refused("decode_png string", tf.io.decode_png, 3)
    refused("encode_png float32", tf.io.encode_png, np.zeros((2, 2, 1), np.float32))
    for shape in ((2, 2), (2, 2, 5), (0, 2, 1)): refused("encode_png image", tf.io.encode_png, np.zeros(shape, np.uint8))
    refused("encode_png compression", tf.io.encode_png, COLOUR, 10)


# BMP

@pytest.mark.parametrize("x", [COLOUR, COLOUR[..., 0], OPAQUE], ids=["24", "8", "32"])
def test_bmp(x):
    want, file = x.reshape(23, 17, -1), saved(x, "BMP")
    np.testing.assert_array_equal(tf.io.decode_bmp(file), want)
    np.testing.assert_array_equal(tf.io.decode_image(file), want)
    upside_down = file[:22] + pack("<i", -23) + file[26:]
    np.testing.assert_array_equal(tf.io.decode_bmp(upside_down), want[::-1])
    assert tf.io.decode_bmp(file, 4).shape == (23, 17, 4)
    refused("decode_bmp bytes", tf.io.decode_bmp, file[:-30])
    refused("decode_bmp rows", tf.io.decode_bmp, file[:18] + pack("<ii", 40000, 40000) + file[26:])
    refused("decode_bmp rows", tf.io.decode_bmp, file[:18] + pack("<ii", -1, 1) + file[26:])
    refused("decode_bmp 16", tf.io.decode_bmp, file[:28] + pack("<H", 16) + file[30:])
    refused("decode_bmp BMP", tf.io.decode_bmp, file[:30])
    refused("decode_bmp compression 1", tf.io.decode_bmp, file[:30] + pack("<I", 1) + file[34:])
    refused("decode_bmp header=12", tf.io.decode_bmp, file[:14] + pack("<I", 12) + file[18:])
    refused("decode_bmp channels", tf.io.decode_bmp, file, 2)


# JPEG and GIF

JPEG = saved(COLOUR, "JPEG", quality=90)


@pytest.mark.parametrize("ratio", (1, 2, 4, 8))
@pytest.mark.parametrize("channels", (0, 1, 3))
def test_jpeg(ratio, channels):
    x = tf.io.decode_jpeg(JPEG, channels, ratio).numpy()
    assert x.shape == (-(-23 // ratio), -(-17 // ratio), channels or 3) and x.dtype == np.uint8
    want = tf.image.rgb_to_grayscale(COLOUR).numpy() if channels == 1 else COLOUR
    high, wide = 23 // ratio, 17 // ratio   # whole blocks
    means = want[:high * ratio, :wide * ratio].reshape(high, ratio, wide, ratio, -1).mean((1, 3))
    assert abs(x[:high, :wide] - means).mean() < 6
    np.testing.assert_array_equal(tf.io.decode_and_crop_jpeg(JPEG, [1, 0, 2, 2], channels, ratio), x[1:3, :2])


@pytest.mark.parametrize("height, width, ratio", [*product((1, 3, 7, 8, 9, 16, 31), (1, 5, 8, 17), (2, 4, 8))])
def test_small_jpegs_shrink_as_libjpeg_says(height, width, ratio):
    file = tf.io.encode_jpeg(np.full((height, width, 1), 130, np.uint8))
    x = tf.image.decode_jpeg(file, ratio=ratio).numpy()
    assert x.shape == (-(-height // ratio), -(-width // ratio), 1) and abs(x.astype(int) - 130).max() <= 2


def test_what_is_said_about_a_jpeg():
    file = tf.image.encode_jpeg(COLOUR, quality=40, progressive=True, optimize_size=True, density_unit="cm", x_density=20, y_density=30,
                                xmp_metadata="<x/>")
    with Image.open(BytesIO(file.numpy())) as picture:
        assert picture.info["jfif_unit"] == 2 and picture.info["jfif_density"] == (20, 30) and picture.info["progressive"]
        assert picture.info["xmp"] == b"<x/>"
    assert tf.io.extract_jpeg_shape(file).numpy().tolist() == [23, 17, 3]
    assert tf.io.extract_jpeg_shape(file, tf.int64).dtype == tf.int64
    assert tf.io.is_jpeg(tf.constant([[file.numpy(), b"no"]])).numpy().tolist() == [[True, False]] and tf.io.is_jpeg(JPEG).numpy()
    sizes = [len(tf.io.encode_jpeg(COLOUR, quality=q).numpy()) for q in (0, 20, 60, 100)]
    assert sizes == sorted(sizes)
    fine = len(tf.io.encode_jpeg(COLOUR, "rgb", chroma_downsampling=False).numpy())
    assert fine > len(tf.io.encode_jpeg(COLOUR, "rgb").numpy())


def test_what_a_jpeg_may_not_be():
    refused("decode_jpeg JPEG", tf.io.decode_jpeg, b"junk")
    refused("decode_jpeg broken", tf.io.decode_jpeg, JPEG[:len(JPEG) // 2])
    refused("decode_jpeg sizes", tf.io.decode_jpeg, JPEG[:30])
    refused("decode_jpeg channels", tf.io.decode_jpeg, JPEG, 4)
    refused("decode_jpeg ratio", tf.io.decode_jpeg, JPEG, ratio=3)
    refused("extract_jpeg_shape", tf.io.extract_jpeg_shape, b"\xff\xd8\xff")
    for window in ([0, 0, 24, 3], [-1, 0, 2, 2], [0, 0, 0, 2]): refused("crop_window", tf.io.decode_and_crop_jpeg, JPEG, window)
    refused("crop_window 4 numbers", tf.image.decode_and_crop_jpeg, JPEG, [0, 0, 1])
    refused("encode_jpeg rgb", tf.io.encode_jpeg, COLOUR[..., :1], "rgb")
    refused("encode_jpeg quality", tf.io.encode_jpeg, COLOUR, quality=101)
    refused("encode_jpeg uint8", tf.io.encode_jpeg, COLOUR.astype(np.uint16))
    with pytest.raises(tf.errors.UnimplementedError, match="fancy_upscaling"): tf.io.decode_jpeg(JPEG, fancy_upscaling=False)
    with pytest.raises(ValueError, match="output_type"): tf.io.extract_jpeg_shape(JPEG, tf.int8)


def frames(count=3):
    pictures = [Image.fromarray(np.roll(COLOUR, 5 * k, 0)).quantize(8) for k in range(count)]
    return saved(pictures[0], "GIF", save_all=True, append_images=pictures[1:]), [np.asarray(p.convert("RGB")) for p in pictures]


def test_gif():
    file, want = frames()
    np.testing.assert_array_equal(tf.io.decode_gif(file), want)
    np.testing.assert_array_equal(tf.image.decode_image(file), want)
    np.testing.assert_array_equal(tf.io.decode_image(file, expand_animations=False), want[0])
    assert tf.io.decode_image(file, dtype=tf.uint16).numpy().max() == int(np.max(want)) * 256
    refused("decode_image channels GIF", tf.io.decode_image, file, 4)
    refused("decode_gif GIF", tf.io.decode_gif, b"junk")


def test_a_file_of_unknown_kind():
    refused("decode_image PNG, JPEG, GIF BMP", tf.io.decode_image, b"junk")
    refused("decode_image dtype", tf.io.decode_image, JPEG, dtype=tf.float64)
    refused("decode_image channels", tf.io.decode_image, JPEG, 5)


def test_without_pillow_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    for f in (lambda: tf.io.decode_jpeg(JPEG), lambda: tf.io.decode_gif(b"GIF89a"), lambda: tf.io.encode_jpeg(COLOUR)):
        with pytest.raises(ImportError, match="PIL"): f()
    assert tf.io.decode_png(FILES["rgb"]).shape == (23, 17, 3) and tf.io.extract_jpeg_shape(JPEG).numpy().tolist() == [23, 17, 3]


# Broken files

WHOLE = {"png": FILES["rgb"], "palette": FILES["transparent palette"], "bmp": saved(COLOUR, "BMP"), "jpeg": JPEG, "gif": frames()[0]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", WHOLE)
@thorough()
@given(st.data())
def test_a_broken_file_gives_a_picture_or_an_error_of_ours(kind, data):
    file = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(0, 4))): file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    del file[data.draw(st.integers(0, len(file))):]
    try: x = tf.io.decode_image(bytes(file))
    except Invalid: return
    assert x.dtype == tf.uint8 and x.ndim in (3, 4)
