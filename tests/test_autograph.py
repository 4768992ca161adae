"""Control flow on tensors: programs that real TensorFlow ran, what Python does with rewritten functions, and what users are told."""
import gzip
import json
import pathlib
import sys

import numpy as np
import pytest

GOLDEN = pathlib.Path(__file__).with_name("golden")
sys.path.insert(0, str(GOLDEN))
import autograph_programs as written   # noqa: E402

import tfedu as tf   # noqa: E402

PROGRAMS = written.programs(tf)
RECORDED = json.loads(gzip.decompress((GOLDEN / "autograph.json.gz").read_bytes()))["cases"]
NOT_AS_THEY = {   # program: what happens here, and why
}


@pytest.mark.parametrize("name", RECORDED)
def test_as_tensorflow(name):
    case = PROGRAMS[name]
    assert len(case.calls) == len(RECORDED[name])
    for given, expected in zip(case.calls, RECORDED[name], strict=True):
        found = written.outcome(tf, case, given)
        if name in NOT_AS_THEY: expected = NOT_AS_THEY[name]
        if "error" in expected or "error" in found:
            assert found == expected
            continue
        assert [t for _, t in found["y"]] == [t for _, t in expected["y"]]
        for (a, kind), (b, _) in zip(found["y"], expected["y"], strict=True):
            if kind == "string": assert a == b
            else: np.testing.assert_allclose(a, b, rtol=1e-5)
        for a, b in zip(found.get("g", ()), expected.get("g", ()), strict=True): np.testing.assert_allclose(a, b, rtol=1e-5)
