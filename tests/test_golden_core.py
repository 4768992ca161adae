"""Small expressions about errors, dtypes, shapes and nests give what TensorFlow gives (tests/golden/make_core.py wrote the answers)."""
import json
from pathlib import Path

import make_core
import pytest

import tfedu as tf

ANSWERS = json.loads(Path(make_core.__file__).with_name("core.json").read_text(encoding="utf-8"))
DIFFERENT = {   # expression: what we give instead, and why
    "tf.errors.UnknownError(None, None, 'why', 99).error_code": "99",   # 2.4 keeps the number, later versions drop it
    "tf.dtypes.bool.limits": "(0, 1)",                                  # (0, True) there: equal, but less odd
    "tf.dtypes.resource.limits": ValueError,                            # a KeyError from inside there
    "tf.dtypes.variant.limits": ValueError,
}
NAMES = {"tf": tf}
exec(make_core.PREAMBLE, NAMES)


@pytest.mark.parametrize("section", make_core.SECTIONS)
def test_answers_are_tensorflows(section):
    assert list(ANSWERS[section]) == make_core.SECTIONS[section], "run tests/golden/make_core.py again"
    wrong = {}
    for expression, theirs in ANSWERS[section].items():
        if expression in DIFFERENT:
            other = DIFFERENT[expression]
            theirs = {"value": other} if isinstance(other, str) else {"error": other.__name__}
        ours = make_core.answer(expression, NAMES)
        if ours != theirs: wrong[expression] = ours, theirs
    assert not wrong


def test_differences_are_real():
    everything = {e: a for section in make_core.SECTIONS for e, a in ANSWERS[section].items()}
    assert all(everything[e] not in ({"value": other}, {"error": getattr(other, "__name__", "")}) for e, other in DIFFERENT.items())
