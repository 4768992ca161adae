"""The check script, on a simulated card: what it reports, and that failures are seen."""
import json

import numpy as np
import pytest

from tfedu.core.memory import DEVICES
from tfedu.core.tensor import OPS
from tfedu.kernels import gpu, selfcheck
from tfedu.kernels.kernel import Case, Kernel
from tfedu.kernels.selfcheck import Clock, Row, check_kernels, check_ops, main, report


def test_without_a_card_it_says_so(capsys):
    if gpu.cards(): pytest.skip("there is a card")
    assert main([]) == 2
    assert "there is no GPU" in (said := capsys.readouterr()).err and "--simulated" in said.err and not said.out


def test_simulated_run(tmp_path, capsys):
    path = tmp_path / "rows.json"
    code = main(["--simulated", "--json", str(path), "--ops", "softmax", "exp", "reduce_sum", "sort_", "transpose", "where"])
    out, found = capsys.readouterr().out, json.loads(path.read_text())
    assert code == 0, out
    parts = {"memory", "placement", "tf32", "ops", "steps", "digits", "kernels"}
    assert {row["part"] for row in found["rows"]} == parts and found["machine"]["simulated"]
    assert "0 failed" in out and "1024.5 became 1025.0" in out and all(row["held"] for row in found["rows"])
    assert {row["name"] for row in found["rows"] if row["part"] == "kernels"} == set(selfcheck.FEW)
    assert "GPU" not in DEVICES


def test_every_op_on_a_simulated_card():
    with gpu.simulate(): rows = list(check_ops(Clock(300)))
    assert len(rows) > 180 and {"matmul", "inv", "softmax", "cosines"} <= {row.name for row in rows}
    assert not [row for row in rows if not row.held]


@pytest.mark.parametrize("name", ["tanh", "maximum"])
def test_a_wrong_op_is_found(name):
    op = OPS[name].op
    old = dict(op.kernels)
    op.on("GPU")(lambda xp, *xs: xs[0] + .125)
    try:
        with gpu.simulate(): row, = check_ops(Clock(60), [name])
        assert not row.held and "AssertionError" in row.text
    finally:
        op.kernels.clear()
        op.kernels.update(old)


def test_a_wrong_kernel_is_found(monkeypatch):
    wrong = Kernel("off_by_one", 'extern "C" __global__ void off_by_one(float *x) { x[threadIdx.x] += 1; }', register=False)
    wrong.case(lambda rng: Case(1, 4, (np.zeros(4, "f4"),), {0: np.full(4, 2, "f4")}))
    monkeypatch.setattr(selfcheck, "load_kernels", lambda: {"off_by_one": wrong})
    row, = check_kernels(Clock(60), True)
    assert not row.held and "off_by_one" in row.text


def test_a_part_that_breaks_is_a_row(monkeypatch):
    monkeypatch.setattr(selfcheck, "check_memory", lambda: 1 / 0)
    monkeypatch.setattr(selfcheck, "FEW", [])
    with gpu.simulate(): _, rows = report(True, 60, [])
    assert Row("selfcheck", "a part", False, "ZeroDivisionError: division by zero") in rows and any(row.held for row in rows)


def test_no_time_is_a_failure():
    with gpu.simulate(): rows = list(check_ops(Clock(-1), ["exp"]))
    assert rows == [Row("ops", "exp", False, "left out: no time")]
