"""Sound files: against Python's own reader and writer, and against files that lie."""
import wave
from io import BytesIO
from struct import pack

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf

DATA = b"\1\0\2\0\3\0"


def sound(data=DATA, kind=1, channels=1, rate=8000, each_second=None, each_step=None, bits=16, tail=b"", riff=b"RIFF", form=b"WAVE",
          size=None, before=b"", between=b"", after=b"", name=b"data"):
    "A file, with anything in it changed."
    each_step = 2 * channels if each_step is None else each_step
    each_second = rate * each_step if each_second is None else each_second
    head = pack("<4sIHHIIHH", b"fmt ", 16 + len(tail), kind, channels, rate, each_second, each_step, bits) + tail
    body = form + before + head + between + name + pack("<I", len(data) if size is None else size) + data + after
    return riff + pack("<I", len(body)) + body


def chunk(content, filled=True): return b"LIST" + pack("<I", len(content)) + content + b"\0" * (filled and len(content) % 2)


@given(st.integers(0, 20), st.integers(1, 3), st.sampled_from([8000, 44100, 96000]), st.integers(0, 99))
def test_python_reads_what_we_write_and_writes_what_we_read(samples, channels, rate, seed):
    steps = np.random.default_rng(seed).integers(-32768, 32768, (samples, channels)).astype("<i2")
    file = tf.audio.encode_wav((steps / 32768).astype(np.float32), rate).numpy()
    with wave.open(BytesIO(file)) as reader:
        assert reader.getparams()[:4] == (channels, 2, rate, samples) and reader.readframes(samples) == steps.tobytes()
    with wave.open(written := BytesIO(), "wb") as writer:
        writer.setparams((channels, 2, rate, samples, "NONE", ""))
        writer.writeframes(steps.tobytes())
    assert written.getvalue() == file
    got = tf.audio.decode_wav(file)
    np.testing.assert_array_equal(got.audio, (steps / 32768).astype(np.float32))
    assert (got.sample_rate.numpy(), got.sample_rate.dtype.name, got.audio.dtype.name) == (rate, "int32", "float32")


@given(st.integers(-1, 5), st.integers(-1, 5))
def test_as_many_as_wanted(channels, samples):
    steps = np.arange(1, 7).reshape(2, 3)
    file = tf.audio.encode_wav((steps / 32768).astype(np.float32), 8000)
    want = steps if channels < 0 else steps[:, [min(c, 2) for c in range(channels)]]
    if samples >= 0: want = np.concatenate([want, np.zeros((5, want.shape[1]), int)])[:samples]
    np.testing.assert_array_equal(tf.audio.decode_wav(file, channels, samples).audio.numpy() * 32768, want)


def test_rounding_and_clipping_as_tensorflow_does():
    file = tf.audio.encode_wav([[-2., -1., -.5, .5, 1., 2., 1e-5, 1.6e-5, 1.5 / 32768, 2.5 / 32768, -1.5 / 32768, float("nan")]], 44100)
    want = [-32768, -32768, -16384, 16384, 32767, 32767, 0, 1, 2, 3, -2, 0]
    assert np.frombuffer(file.numpy()[44:], "<i2").tolist() == want


@pytest.mark.parametrize("changes", [
    {}, dict(tail=b"\0\0"), dict(between=chunk(b"abcd")), dict(between=chunk(b"abc")), dict(after=chunk(b"abc")),
    dict(between=chunk(b"abc", False)), dict(before=chunk(b"abcd")), dict(rate=0)])
def test_files_that_can_be_read(changes):
    np.testing.assert_array_equal(tf.audio.decode_wav(sound(**changes)).audio.numpy()[:, 0] * 32768, [1, 2, 3])


def test_silence_at_the_end_is_kept():
    assert tf.audio.decode_wav(sound(b"\1\0" + bytes(8))).audio.shape.as_list() == [5, 1]
    assert tf.constant(b"a\0").numpy() == b"a\0" and tf.fill([1], b"a\0").numpy()[0] == b"a\0"
    assert tf.audio.decode_wav(sound(b"")).audio.shape.as_list() == [0, 1]


@pytest.mark.parametrize("file, words", [
    (b"", "12 bytes"), (sound()[:11], "12 bytes"), (sound(riff=b"RIFX"), "b'RIFX'"), (sound(form=b"WAVF"), "b'WAVF'"),
    (sound()[:30], "b'fmt ' should have 16"), (sound()[:40], "after 4 of 8"), (sound()[:47], "b'data' should have 6"),
    (sound(size=100), "100 bytes"),
    (sound(tail=bytes(4)), "16 or 18 bytes, got 20"), (sound(kind=3), "1 (PCM), got 3"), (sound(bits=24), "16 bits, got 24"),
    (sound(channels=0), "got 0"), (sound(each_step=7), "2 bytes a step, but the format says 7"), (sound(each_second=7), "16000 a second"),
    (sound(rate=2 ** 31 - 1, each_second=2 ** 32 - 2, after=chunk(b"ab") + b"dat"), "after 3 of 8"),
    (sound(name=b"date"), "no chunk of data"), (sound(channels=2), "6 bytes of data"), (sound(size=4), "after 2 of 8"),
    (sound(after=b"data" + pack("<I", 2) + b"\1\0"), "got two"), (sound()[:12] + sound()[36:], "format must come before"),
])
def test_corrupt_files_are_refused(file, words):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught: tf.audio.decode_wav(file)
    assert "decode_wav" in str(caught.value) and words in str(caught.value)


@given(st.integers(0, 50), st.integers(0, 255))
def test_no_changed_byte_does_harm(at, byte):
    file = bytearray(sound())
    if at < len(file): file[at] = byte
    else: del file[byte:]
    try: assert tf.audio.decode_wav(bytes(file)).audio.ndim == 2
    except tf.errors.InvalidArgumentError as error: assert "decode_wav" in str(error)


@pytest.mark.parametrize("call, words", [
    (lambda: tf.audio.encode_wav(tf.zeros(3), 8000), ["audio", "(3,)"]),
    (lambda: tf.audio.encode_wav(tf.zeros((3, 0)), 8000), ["audio", "(3, 0)"]),
    (lambda: tf.audio.encode_wav(tf.zeros((3, 1), tf.float64), 8000), ["audio", "float64"]),
    (lambda: tf.audio.encode_wav(tf.zeros((3, 1)), 0), ["sample_rate", "0"]),
    (lambda: tf.audio.encode_wav(tf.zeros((3, 1)), [8000]), ["[8000]"]),
    (lambda: tf.audio.encode_wav(tf.zeros((3, 1)), -5), ["sample_rate", "-5"]),
    (lambda: tf.audio.encode_wav(tf.zeros((1, 2 ** 15)), 8000), ["does not fit"]),
    (lambda: tf.audio.decode_wav([sound()]), ["contents", "scalar", "(1,)"]), (lambda: tf.audio.decode_wav(1), ["contents", "int32"]),
    (lambda: tf.audio.decode_wav(sound(), -2), ["desired_channels", "-2"]),
    (lambda: tf.audio.decode_wav(sound(), desired_samples=-2), ["desired_samples", "-2"]),
])
def test_errors_name_what_is_wrong(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught: call()
    assert all(word in str(caught.value) for word in words), caught.value
