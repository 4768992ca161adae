"""Sparse and ragged tensors and tensor arrays against TensorFlow's own answers, recorded by golden/make_composite.py."""
import json
import pathlib
import sys

import numpy as np
import pytest

import tfedu as tf

HERE = pathlib.Path(__file__).parent / "golden"
sys.path.insert(0, str(HERE))
from make_composite import EXPRESSIONS, plain, preamble  # noqa: E402

GOLDEN = json.loads((HERE / "composite.json").read_text())
NAMES = preamble(tf)


def agree(got, expected):
    "Equal, floats up to rounding."
    if isinstance(expected, list):
        assert isinstance(got, list) and len(got) == len(expected), (got, expected)
        for g, e in zip(got, expected): agree(g, e)
    elif isinstance(expected, float): np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    else: assert got == expected, (got, expected)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_tensorflow(expression):
    agree(json.loads(json.dumps(plain(tf, eval(expression, dict(NAMES))))), GOLDEN[expression])
