"""Every notebook runs alone, from top to bottom, and shows again what it has stored."""
import difflib
import math
import re

import nbformat
import pytest
from runner import ROOT, Runner, directives, fresh, is_run, notebooks, offline_environment, text_outputs

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
RTOL, ATOL, SECONDS = 1e-3, 1e-6, 120


def close(a, b, rtol):
    "Whether two numerals are the same: whole numbers exactly (unless the cell sets `rtol`), others but for float noise."
    if a == b: return True
    if rtol == RTOL and a.lstrip("+-").isdigit() and b.lstrip("+-").isdigit(): return False
    return math.isclose(float(a), float(b), rel_tol=rtol, abs_tol=ATOL)


def same(old, new, rtol=RTOL):
    "Whether two texts are the same but for blanks and float noise."
    words = [re.sub(r"\s+", "", NUMBER.sub("\0", text)) for text in (old, new)]
    numbers = [NUMBER.findall(text) for text in (old, new)]
    return words[0] == words[1] and len(numbers[0]) == len(numbers[1]) and all(
        close(a, b, rtol) for a, b in zip(*numbers, strict=True))


def test_float_noise_is_not_a_difference():
    assert same("loss 0.30001  [1. 2.]", "loss 0.30002 [1.  1.9999999]")
    assert same("1e-12", "-3e-13") and same("-0.", "0.")
    assert not same("loss 0.30", "loss 0.31")
    assert not same("of 500 digits", "of 501 digits") and same("of 500 digits", "of 501 digits", rtol=0.01)
    assert not same("float32", "float64") and not same("nan", "1.0")


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.relative_to(ROOT / "nbs").with_suffix("").as_posix())
def test_notebook(path, tmp_path):
    stored, nb = nbformat.read(path, 4), fresh(path)
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    Runner(nb, work, timeout=SECONDS).execute(env=offline_environment(home))
    for number, (old, new) in enumerate(zip(stored.cells, nb.cells, strict=True)):
        if not is_run(old): continue
        rtol = float(directives(old.source).get("rtol", RTOL))
        before, after = text_outputs(old), text_outputs(new)
        kinds = [kind for kind, _ in before] == [kind for kind, _ in after]
        if kinds and all(same(a, b, rtol) for (_, a), (_, b) in zip(before, after, strict=True)): continue
        lines = ["\n".join(f"{kind}: {text}" for kind, text in shown).splitlines() for shown in (before, after)]
        change = "\n".join(difflib.unified_diff(*lines, "stored", "now", lineterm="", n=1))
        pytest.fail(f"cell {number} shows something else than it has stored:\n\n{old.source}\n\n{change}", pytrace=False)
    assert not list(work.iterdir()), "the notebook leaves files in the reader's folder"
