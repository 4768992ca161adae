"""Files, directories and record files, all in a directory of their own."""
import gzip
import json
import os
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfedu as tf
from tfedu.ops.record import crc32c, crc_slow, frame, records, whole

RECORD = json.loads(gzip.decompress((Path(__file__).parent / "golden" / "io.json.gz").read_bytes()))
in_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(st.binary(max_size=20), st.integers(0, 5000), st.integers(0, 255))
def test_checksum_of_any_length(data, times, more):
    data = (data * times)[:70_000] + bytes([more])
    assert crc32c(data) == crc_slow(data)


def test_files_as_tensors(tmp_path):
    path = str(tmp_path / "a" / "b.bin")
    assert tf.io.write_file(path, b"x\0") is None
    assert tf.io.read_file(path).numpy() == b"x\0" and os.listdir(tmp_path / "a") == ["b.bin"]
    tf.io.write_file(path, "short")
    assert tf.io.read_file(tf.constant(path)).numpy() == b"short"
    with pytest.raises(tf.errors.NotFoundError, match="missing"): tf.io.read_file(str(tmp_path / "missing"))
    with pytest.raises(tf.errors.FailedPreconditionError): tf.io.read_file(str(tmp_path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"): tf.io.read_file([path])
    with pytest.raises(tf.errors.FailedPreconditionError): tf.io.write_file(path + "/c", "x")


def test_other_stores_are_refused():
    for name in ("gs://bucket/x", "s3://x", "hdfs://x/y", "http://x"):
        with pytest.raises(tf.errors.UnimplementedError, match="local files only"): tf.io.gfile.exists(name)
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero byte"): tf.io.gfile.exists("a\0b")


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = str(tmp_path / "x")
    tf.io.write_file(path, "old")
    def fails(*args): raise OSError(28, "No space left on device")
    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space"): tf.io.write_file(path, "new")
    assert tf.io.read_file(path).numpy() == b"old" and os.listdir(tmp_path) == ["x"]


def test_directories(tmp_path):
    d = tmp_path / "d"
    tf.io.gfile.mkdir(d)
    tf.io.gfile.mkdir(d)
    with pytest.raises(tf.errors.NotFoundError): tf.io.gfile.mkdir(tmp_path / "no" / "d")
    tf.io.gfile.makedirs(d / "e" / "f")
    tf.io.gfile.makedirs(d / "e" / "f")
    assert tf.io.gfile.isdir(d) and tf.io.gfile.exists(d) and not tf.io.gfile.isdir(d / "x") and not tf.io.gfile.exists(d / "x")
    (d / "e" / "one.txt").write_text("1")
    assert tf.io.gfile.listdir(d / "e") == ["f", "one.txt"]
    with pytest.raises(tf.errors.NotFoundError): tf.io.gfile.listdir(d / "x")
    found = [(os.path.relpath(at, d), inside, files) for at, inside, files in tf.io.gfile.walk(str(d))]
    assert found == [(".", ["e"], []), ("e", ["f"], ["one.txt"]), ("e/f", [], [])]
    assert [os.path.relpath(at, d) for at, _, _ in tf.io.gfile.walk(str(d), topdown=False)] == ["e/f", "e", "."]
    errors = []
    assert list(tf.io.gfile.walk(str(d / "x"), onerror=errors.append)) == [] and isinstance(errors[0], tf.errors.NotFoundError)
    with pytest.raises(tf.errors.FailedPreconditionError, match="rmtree"): tf.io.gfile.remove(d)
    tf.io.gfile.rmtree(d)
    assert not tf.io.gfile.exists(d)
    with pytest.raises(tf.errors.NotFoundError): tf.io.gfile.rmtree(d)
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.AlreadyExistsError): tf.io.gfile.mkdir(tmp_path / "file")
    with pytest.raises(tf.errors.FailedPreconditionError): tf.io.gfile.makedirs(tmp_path / "file")


def test_copy_rename_remove_stat(tmp_path):
    a, b, c = (str(tmp_path / n) for n in "abc")
    tf.io.write_file(a, "12345")
    tf.io.gfile.copy(a, b)
    with pytest.raises(tf.errors.AlreadyExistsError): tf.io.gfile.copy(a, b)
    tf.io.gfile.copy(a, b, overwrite=True)
    with pytest.raises(tf.errors.AlreadyExistsError): tf.io.gfile.rename(a, b)
    tf.io.gfile.rename(a, b, overwrite=True)
    tf.io.gfile.rename(b, c)
    assert tf.io.gfile.listdir(tmp_path) == ["c"]
    found = tf.io.gfile.stat(c)
    assert (found.length, found.is_directory) == (5, False) and found.mtime_nsec == os.stat(c).st_mtime_ns
    tf.io.gfile.remove(c)
    for action in (lambda: tf.io.gfile.remove(c), lambda: tf.io.gfile.stat(c), lambda: tf.io.gfile.copy(c, a),
                   lambda: tf.io.gfile.rename(c, a)):
        with pytest.raises(tf.errors.NotFoundError): action()
    with pytest.raises(tf.errors.FailedPreconditionError): tf.io.gfile.copy(tmp_path, a)
    assert os.listdir(tmp_path) == []


def test_patterns(tmp_path):
    for name in ("a1.txt", "a2.txt", "b1.txt", ".hidden.txt", "d/a1.txt", "d/e/a9.txt", "[x].txt"):
        tf.io.write_file(str(tmp_path / name), "")
    def found(pattern): return [os.path.relpath(n, tmp_path) for n in tf.io.gfile.glob(str(tmp_path / pattern))]
    assert found("a*.txt") == ["a1.txt", "a2.txt"] and found("?1.txt") == ["a1.txt", "b1.txt"] and found("[!a]1.txt") == ["b1.txt"]
    assert found("*/a*") == ["d/a1.txt"] and found("*/*/*") == ["d/e/a9.txt"] and found("a1.txt") == ["a1.txt"] and found("no/*") == []
    assert ".hidden.txt" in found("*.txt")
    files = tf.io.matching_files([str(tmp_path / "a1*"), str(tmp_path / "b*")])
    assert [os.path.basename(n) for n in files.numpy()] == [b"a1.txt", b"b1.txt"]
    assert tf.io.matching_files(str(tmp_path / "zz*")).shape == (0,)


def test_gfile(tmp_path):
    path = str(tmp_path / "x.txt")
    with tf.io.gfile.GFile(path, "w") as f:
        f.write("one\n")
        assert f.size() == 4 and f.tell() == 4
        f.write("zw\u00f6lf\nend")
        with pytest.raises(tf.errors.PermissionDeniedError): f.read()
    f = tf.io.gfile.GFile(path)
    assert f.readline() == "one\n" and f.read(3) == "zw\u00f6" and f.read() == "lf\nend" and f.read() == ""
    f.seek(0)
    assert f.readlines() == ["one\n", "zw\u00f6lf\n", "end"] and f.seekable()
    f.seek(-3, 2)
    assert next(f) == "end"
    with pytest.raises(StopIteration): f.next()
    f.seek(position=1)
    assert f.read(2) == "ne"
    with pytest.raises(TypeError): f.seek()
    with pytest.raises(tf.errors.InvalidArgumentError): f.seek(0, 5)
    f.close()
    with tf.io.gfile.GFile(path, "ab") as f: f.write(b"\xff")
    with tf.io.gfile.GFile(path, "rb") as f: assert f.read()[-4:] == b"end\xff" and list(f) == []
    with tf.io.gfile.GFile(path) as f, pytest.raises(UnicodeDecodeError): f.read()
    with pytest.raises(tf.errors.NotFoundError): tf.io.gfile.GFile(str(tmp_path / "no")).read()
    with pytest.raises(tf.errors.InvalidArgumentError): tf.io.gfile.GFile(path, "x")
    with tf.io.gfile.GFile(path, "r+") as f:
        f.write("O")
        f.flush()
        f.seek(0)
        assert f.read(3) == "One"
    with tf.io.gfile.GFile(path, "w"): pass
    assert tf.io.gfile.stat(path).length == 0


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_records_there_and_back(tmp_path, kind):
    path, many = str(tmp_path / "x"), [b"", b"a", b"\0" * 5000, os.urandom(300_000)]
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(kind, compression_level=1)) as writer:
        for record in many: writer.write(record)
        writer.flush()
        writer.write("text")
    assert list(records(path, kind)) == [*many, b"text"]
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"): writer.write(b"x")
    writer.close()


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_records_of_tensorflow(tmp_path, kind):
    path, wanted = tmp_path / "x", [r.encode("latin-1") for r in RECORD["records"]]
    path.write_bytes(RECORD["files"][kind].encode("latin-1"))
    assert list(records(path, kind)) == wanted
    with tf.io.TFRecordWriter(str(tmp_path / "own"), kind) as writer:
        for record in wanted: writer.write(record)
    if not kind: assert (tmp_path / "own").read_bytes() == path.read_bytes()


@in_folder
@given(cut=st.integers(0, 60), at=st.integers(0, 59), bit=st.integers(0, 7), kind=st.sampled_from(["", "GZIP", "ZLIB"]))
def test_damaged_records(tmp_path, cut, at, bit, kind):
    data = frame(b"first record") + frame(b"second")
    data = {"": data, "ZLIB": zlib.compress(data), "GZIP": gzip.compress(data, mtime=0)}[kind]
    broken = bytearray(data[:len(data) - cut % len(data)])
    broken[at % len(broken)] ^= 1 << bit
    (tmp_path / "x").write_bytes(broken)
    try: found = list(records(tmp_path / "x", kind))
    except tf.errors.DataLossError: return
    assert kind == "GZIP" and found == [b"first record", b"second"]   # the flipped bit is in gzip's header, where times and names are


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_cut_off_compressed_records(tmp_path, kind):
    data = {"ZLIB": zlib.compress, "GZIP": gzip.compress}[kind](frame(b"x" * 2000))
    for cut in (1, 5, len(data) - 3):
        (tmp_path / "x").write_bytes(data[:-cut])
        with pytest.raises(tf.errors.DataLossError): list(records(tmp_path / "x", kind))
    (tmp_path / "x").write_bytes(data * 2)
    assert len(list(records(tmp_path / "x", kind))) == 2
    (tmp_path / "x").write_bytes(b"")
    assert list(records(tmp_path / "x", kind)) == []


def test_a_lie_about_the_length_costs_nothing(tmp_path):
    length = (2**60).to_bytes(8, "little")
    crc = crc_slow(length)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")
    (tmp_path / "x").write_bytes(length + masked + b"data")
    with pytest.raises(tf.errors.DataLossError, match="cut off"): list(records(tmp_path / "x"))


def test_many_threads_write_whole_records(tmp_path):
    path = str(tmp_path / "x")
    with tf.io.TFRecordWriter(path, "ZLIB") as writer:
        threads = [threading.Thread(target=lambda i=i: [writer.write(b"%d" % i * 50) for _ in range(20)]) for i in range(4)]
        for t in threads: t.start()
        for t in threads: t.join(60)
    found = list(records(path, "ZLIB"))
    assert len(found) == 80 and all(len(set(r)) == 1 for r in found)


def test_options():
    assert tf.io.TFRecordOptions.get_compression_type_string("GZIP") == "GZIP"
    assert tf.io.TFRecordOptions.get_compression_type_string(None) == ""
    assert tf.io.TFRecordOptions.get_compression_type_string(tf.io.TFRecordOptions("ZLIB")) == "ZLIB"
    with pytest.raises(ValueError, match="SNAPPY"): tf.io.TFRecordOptions("SNAPPY")
    with tf.io.TFRecordWriter(os.devnull) as writer, pytest.raises(TypeError, match="bytes"): writer.write(3)


def test_decode_compressed():
    texts = [b"", b"words " * 300, os.urandom(100)]
    for kind, pack in (("ZLIB", zlib.compress), ("GZIP", gzip.compress), ("", bytes)):
        assert tf.io.decode_compressed([pack(t) for t in texts], kind).numpy().tolist() == texts
    with pytest.raises(tf.errors.InvalidArgumentError, match="unfold into more than 100"): whole(zlib.compress(bytes(10_000)), "ZLIB", 100)
    with pytest.raises(tf.errors.DataLossError, match="cut off"): tf.io.decode_compressed(zlib.compress(b"words")[:-2], "ZLIB")


@given(st.binary(max_size=50), st.sampled_from(["ZLIB", "GZIP"]))
def test_decode_compressed_of_anything(data, kind):
    with pytest.raises(tf.errors.DataLossError): tf.io.decode_compressed(np.array(data, object), kind)


def test_a_file_that_nobody_closed_is_closed(tmp_path):
    tf.io.write_file(str(tmp_path / "x"), "abc")
    assert tf.io.gfile.GFile(str(tmp_path / "x")).read() == "abc"     # no ResourceWarning, which would fail the test
    with pytest.raises(tf.errors.InvalidArgumentError): tf.io.gfile.GFile("x", "q")


def test_names_matched_once_do_not_change(tmp_path):
    (tmp_path / "a.txt").touch()
    names = tf.io.match_filenames_once(str(tmp_path / "*.txt"), name="names")
    (tmp_path / "b.txt").touch()
    assert len(names.numpy()) == 1 and len(tf.io.matching_files(str(tmp_path / "*.txt")).numpy()) == 2
    assert not names.trainable and names.dtype == tf.string and names.shape.as_list() == [None]
