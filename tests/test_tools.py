"""The project's own tools: the set-up's messages, the page that the tour writes, the record of called names."""
import os
import shutil
import subprocess

import pytest
from called import read
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from page import write_page


@pytest.fixture
def clone(root, tmp_path):
    "A copy of what the set-up reads."
    shutil.copytree(root / ".ci", tmp_path / ".ci", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("requirements.lock", "setup.py", "settings.ini"): shutil.copy(root / name, tmp_path)
    return tmp_path


def setup(clone, python):
    return subprocess.run([clone / ".ci" / "setup"], env={**os.environ, "PYTHON": str(python)}, capture_output=True, text=True)


def test_set_up_says_which_python_is_missing(clone):
    done = setup(clone, clone / "no_python_here")
    assert done.returncode == 1 and "needs Python 3.11 or newer" in done.stderr and "no_python_here" in done.stderr


def test_set_up_says_which_python_is_too_old(clone):
    old = clone / "python3"
    old.write_text("#!/bin/sh\ncase \"$2\" in *print*) echo 3.9.7;; *) exit 1;; esac\n")
    old.chmod(0o755)
    done = setup(clone, old)
    assert done.returncode == 1 and "is Python 3.9.7" in done.stderr and not (clone / ".venv").exists()


def test_a_page_needs_no_network_and_hides_what_is_hidden(tmp_path):
    printed = new_output("stream", name="stdout", text="loss 0.5\n")
    drawn = new_output("display_data", data={"text/plain": "x", "text/html": "<svg></svg>"})
    write_page(new_notebook(cells=[
        new_markdown_cell("# Title\n\nInline $x^2$, and a `$` in code.\n\n$$\\frac{a}{b}$$"),
        new_code_cell("#| hide\nsecret = 1"), new_code_cell("#| export\nshown = 1", outputs=[printed, drawn])]), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "<title>Title</title>" in text and text.count("<math") == 2 and "loss 0.5" in text and "<svg>" in text
    assert "secret" not in text and "#|" not in text
    assert "<script" not in text and "http" not in text.replace("http://www.w3.org/1998/Math/MathML", "")


def test_called_names_are_read_from_source():
    source = """
import tfedu as tf
from tfedu.keras import optimizers
layers = tf.keras.layers
assert isinstance(1, tf.Tensor)
def test_one(): layers.Dense(optimizers.SGD())
def test_two(): tf.exp
"""
    public = {"tf.Tensor": 0, "tf.keras.layers.Dense": 1, "tf.keras.optimizers.SGD": 2, "tf.exp": 3}
    assert read(source, public) == {"test_one": {"tf.keras.layers.Dense", "tf.keras.optimizers.SGD"}, "test_two": {"tf.exp"}}
