"""benchmarks/: hand-written NumPy against plain float64 programs, and the runner from end to end. Nothing here asserts a time."""
import json
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import calls  # noqa: E402
import handwritten  # noqa: E402
import import_time  # noqa: E402
import run  # noqa: E402
import worker  # noqa: E402
import workloads  # noqa: E402
from adapters import CONTENDERS, OURS  # noqa: E402
from adapters import numpy as by_hand  # noqa: E402

# ------------------------------------------------------- the same functions, as plainly as possible

def softmax(a):
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def cross_entropy(logits, labels): return -np.log(softmax(logits)[np.arange(len(labels)), labels]).mean()


def relu(a): return np.where(a > 0, a, 0)


def sigmoid(a): return 1 / (1 + np.exp(-a))


def gelu(a): return a / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + .044715 * a ** 3)))


def chain(p, data, length):
    x, y = p
    z = x
    for _ in range(length): z = z * y + x
    return z.sum()


def mlp(p, data):
    h = data["x"]
    for i in range(0, len(p) - 2, 2): h = relu(h @ p[i] + p[i + 1])
    return cross_entropy(h @ p[-2] + p[-1], data["labels"])


def convnet(p, data):
    def convolve(x, kernel):
        size = x.shape[1] - 2
        return sum(x[:, i:i + size, j:j + size] @ kernel[i, j] for i in range(3) for j in range(3))
    h = relu(convolve(data["x"], p[0]) + p[1])
    h = relu(convolve(h, p[2]) + p[3])
    n, size, _, c = h.shape
    h = h.reshape(n, size // 2, 2, size // 2, 2, c).max((2, 4)).reshape(n, -1)
    return cross_entropy(relu(h @ p[4] + p[5]) @ p[6] + p[7], data["labels"])


def lstm(p, data):
    h = c = np.zeros((len(data["x"]), len(p[1])))
    for t in range(data["x"].shape[1]):
        i, f, z, o = np.split(data["x"][:, t] @ p[0] + h @ p[1] + p[2], 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(z)
        h = sigmoid(o) * np.tanh(c)
    return cross_entropy(h @ p[3] + p[4], data["labels"])


def block(p, data):
    (batch, time, width), heads, x = data["x"].shape, data["heads"], p["x"]

    def layer_norm(v, gain, bias): return (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5) * gain + bias

    def split(a): return a.reshape(batch, time, heads, -1).transpose(0, 2, 1, 3)
    h = layer_norm(x, p["g1"], p["b1"])
    q, k, v = (split(h @ p["w" + n] + p["b" + n]) for n in "qkv")
    mixed = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(width // heads)) @ v
    y = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ p["wo"] + p["bo"]
    y = y + gelu(layer_norm(y, p["g2"], p["b2"]) @ p["w1"] + p["c1"]) @ p["w2"] + p["c2"]
    return ((y - data["target"]) ** 2).mean()


def tanh_mlp(p, data):
    h = data["x"]
    for w, b in zip(p[::2], p[1::2], strict=True): h = np.tanh(h @ w + b)
    return ((h - data["target"]) ** 2).mean()


# ------------------------------------------------------------------- gradients

def wide(values): return [np.asarray(v, np.float64) for v in values]


def assert_gradients(loss, values, gradients):
    "Compares the slope along random directions, one array at a time, with what the gradients say of it."
    rng, step, values, gradients = np.random.default_rng(0), 1e-6, wide(values), wide(gradients)
    for i, (value, g) in enumerate(zip(values, gradients, strict=True)):
        assert g.shape == value.shape
        for _ in range(3):
            v = rng.standard_normal(value.shape)
            up, down = (loss([*values[:i], value + sign * step * v, *values[i + 1:]]) for sign in (1, -1))
            size = np.linalg.norm(g) * np.linalg.norm(v)
            np.testing.assert_allclose((up - down) / (2 * step), (g * v).sum(), rtol=0, atol=1e-7 + 1e-4 * size)


MODELS = [
    pytest.param(handwritten.MLP, workloads.mlp_data(4, (5, 6, 7, 3)), mlp, id="mlp"),
    pytest.param(handwritten.ConvNet, workloads.convnet_data(8, 8, (3, 4), 5), convnet, id="convnet"),
    pytest.param(handwritten.LSTM, workloads.lstm_data(3, 4, 5, 6), lstm, id="lstm"),
]


@pytest.mark.parametrize("model, data, loss", MODELS)
def test_gradients_of_models(model, data, loss):
    parameters = [p + np.float32(.1) for p in data["parameters"]]  # biases of zero would hide mistakes
    gradients = [np.empty_like(p) for p in parameters]
    value = model(parameters, data["x"], data["labels"]).run(gradients)
    np.testing.assert_allclose(value, loss(wide(parameters), data), rtol=1e-5)
    assert_gradients(lambda p: loss(p, data), parameters, gradients)


@pytest.mark.parametrize("model, data, loss", MODELS)
def test_buffers_carry_nothing_over(model, data, loss):
    gradients, again = ([np.empty_like(p) for p in data["parameters"]] for _ in range(2))
    instance = model(data["parameters"], data["x"], data["labels"])
    assert instance.run(gradients) == instance.run(again)
    for first, second in zip(gradients, again, strict=True): np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("length", [1, 7])
def test_gradients_of_chain(length):
    data = workloads.chain_data()
    forward, gradients = handwritten.chain(data["x"], data["y"], length)
    np.testing.assert_allclose(forward().sum(), chain(wide((data["x"], data["y"])), data, length), rtol=1e-5)
    for _ in range(2): assert_gradients(lambda p: chain(p, data, length), (data["x"], data["y"]), gradients())


def test_gradients_of_block():
    data = workloads.block_data(2, 5, 8, 2, 12)
    rng = np.random.default_rng(1)
    data["parameters"] = {k: p + rng.uniform(.1, .3, p.shape).astype(np.float32) for k, p in data["parameters"].items()}
    instance = handwritten.Block(data["parameters"], data["x"], data["target"], data["heads"])
    instance.run()
    loss, gradients = instance.run(), instance.gradients()
    values = data["parameters"] | {"x": data["x"]}
    assert gradients.keys() == values.keys()
    np.testing.assert_allclose(loss, block(dict(zip(values, wide(values.values()), strict=True)), data), rtol=1e-5)
    gradients["x"] = gradients["x"].reshape(data["x"].shape)
    assert_gradients(lambda p: block(dict(zip(values, p, strict=True)), data), values.values(), [gradients[k] for k in values])


@pytest.mark.parametrize("n, chunk", [(50, 16384), (50, 16)])
def test_gradient_of_gelu(n, chunk):
    x = workloads.gelu_data(n)["x"]
    gradient = np.empty_like(x)
    np.testing.assert_allclose(handwritten.gelu(x, gradient, chunk), gelu(x.astype(np.float64)).mean(), rtol=1e-5)
    assert_gradients(lambda p: gelu(p[0]).mean(), [x], [gradient])


def test_hessian_vector_product():
    data = workloads.hessian_data(4, (3, 5, 4, 2))
    p, v, step = wide(data["parameters"]), wide(data["direction"]), 1e-4
    product = handwritten.HessianVector(data["parameters"], data["direction"], data["x"], data["target"]).run()
    rng = np.random.default_rng(0)
    for i, (value, hv) in enumerate(zip(p, product, strict=True)):
        u = rng.standard_normal(value.shape)

        def loss(a, b, i=i, u=u):
            return tanh_mlp([q + b * step * r + (a * step * u if i == j else 0) for j, (q, r) in enumerate(zip(p, v, strict=True))], data)
        curvature = (loss(1, 1) - loss(1, -1) - loss(-1, 1) + loss(-1, -1)) / (4 * step * step)
        np.testing.assert_allclose((u * hv).sum(), curvature, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("optimizer, rate", [("sgd", .5), ("adam", .05)])
def test_training(optimizer, rate):
    data = workloads.mlp_data(6, (3, 4, 2))
    trained = handwritten.Training(handwritten.MLP, data["parameters"], data["x"], data["labels"], rate, optimizer)
    p = np.concatenate([a.ravel() for a in wide(data["parameters"])])
    m, v, step = np.zeros_like(p), np.zeros_like(p), 1e-6
    start = p.copy()

    def loss(flat): return mlp(handwritten.views(flat, data["parameters"]), data)
    for t in range(1, 5):
        assert trained.step() == pytest.approx(loss(p), rel=1e-4)
        g = np.array([loss(p + step * e) - loss(p - step * e) for e in np.eye(p.size)]) / (2 * step)
        if optimizer == "sgd": p -= rate * g
        else:
            m, v = .9 * m + .1 * g, .999 * v + .001 * g * g
            p -= rate * np.sqrt(1 - .999 ** t) / (1 - .9 ** t) * m / (np.sqrt(v) + 1e-7)
        np.testing.assert_allclose(trained.p, p, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(np.concatenate([a.ravel() for a in data["parameters"]]), start.astype(np.float32))  # copied, not changed


@pytest.mark.parametrize("name", list(workloads.WORKLOADS))
def test_every_workload_is_written_by_hand(name):
    work = workloads.WORKLOADS[name]
    assert callable(getattr(by_hand.Adapter, work.kind))
    assert work.targets.keys() <= set(OURS)


# ------------------------------------------------------------------- the runner

def bench(*arguments):
    command = [sys.executable, ROOT / "benchmarks" / "run.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=200)


def test_run_from_end_to_end(tmp_path):
    names = "W1s,W1f,W1,W2"
    out = tmp_path / "out.json"
    ended = bench("--workloads", names, "--only", "smallest-tape,tfedu", "--rounds", "1", "--slice", "0.01", "--json", out)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    written = json.loads(out.read_text())
    assert list(written["workloads"]) == ["W1s", "W1f", "W1", "W2"]
    for name, seen in written["workloads"].items():
        assert f"{name}: {workloads.WORKLOADS[name].title}" in ended.stdout
        assert seen.keys() == {"numpy", "smallest-tape", "tfedu"}
        assert all(result["same"] and len(result["rounds"]) == 1 and result["ratio"][0] > 0 for result in seen.values()), seen
        assert seen["tfedu"].get("target") == workloads.WORKLOADS[name].targets.get("tfedu")


@pytest.mark.parametrize("arguments, complaint", [
    (["--workloads", "W99"], "unknown W99"), (["--only", "nothing"], "Here are: numpy"), (["--python", "venv/bin/python"], "NAME=PATH"),
    (["--rounds", "0"], "at least 1"), (["--python", "x=/nowhere/python"], "/nowhere/python"),
])
def test_wrong_arguments(arguments, complaint):
    ended = bench(*arguments)
    assert ended.returncode and complaint in ended.stderr and "Traceback" not in ended.stderr


def test_settings_that_slow_blas_down_are_removed(monkeypatch):
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE"): monkeypatch.setenv(name, "1")
    environment = run.environment()
    assert not environment.keys() & {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE"}
    assert environment["MALLOC_ARENA_MAX"] == "1" and environment["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize("name, contender", list(CONTENDERS.items()))
def test_adapters_exist(name, contender):
    assert (ROOT / "benchmarks" / "adapters" / f"{contender.adapter}.py").exists()


def test_what_an_adapter_cannot_do_is_a_reason():
    work = workloads.WORKLOADS["W2"]
    module = ModuleType("some_framework")

    def adapter(make): return SimpleNamespace(mlp=make)

    def not_implemented(*_): raise NotImplementedError("eager only")
    assert worker.build(SimpleNamespace(), work) == "the adapter has no mlp"
    assert worker.build(adapter(lambda *_: None), work) == "not what it is for"
    assert worker.build(adapter(lambda *_: module.nn), work) == "some_framework has no 'nn'"
    assert worker.build(adapter(not_implemented), work) == "not implemented: eager only"
    with pytest.raises(AttributeError, match="int"): worker.build(adapter(lambda *_: (1).nn), work)  # a mistake, not a missing public name


class Scripted:
    "Stands in for a process: fails at a request, or answers with some number after some time."
    def __init__(self, number, median, dies=None):
        self.number, self.median, self.dies, self.ended = number, median, dies, False

    def ask(self, build):
        if self.dies == "build": raise run.Failure("killed")
        return {"check": {"sum": self.number}}

    def time(self, seconds):
        if self.dies == "time": raise run.Failure("killed")
        return {"median": self.median, "others": 0.}

    def end(self): self.ended = True


def test_a_contender_that_dies_or_errs_does_not_stop_the_others():
    made = {"numpy": Scripted(2., 1.), "tfedu": Scripted(2., 3.), "torch": Scripted(2.1, .5), "jax": Scripted(2., 1., "build"),
            "autograd": Scripted(2., 1., "time")}
    processes = dict(made)
    seen = run.race(processes, "W1s", rounds=3, seconds=0)
    run.judge(seen, "W1s")
    assert processes.keys() == {"numpy", "tfedu", "torch"} and made["jax"].ended and made["autograd"].ended
    assert seen["tfedu"]["ratio"] == (3, 3, 3) and seen["tfedu"]["same"] and not seen["torch"]["same"]
    shown = run.table(seen, "W1s")
    for words in ("jax                   failed: killed", "another result: differs by 5.0e-02", "2.8 missed"): assert words in shown


@pytest.mark.parametrize("tfedu, strict, status", [
    (Scripted(2., 2.), True, 0), (Scripted(2., 3.), False, 0), (Scripted(2., 3.), True, 1), (Scripted(3., 1.), False, 1),
    (Scripted(np.nan, 1.), False, 1), (Scripted(2., 1., "build"), False, 1),
])
def test_exit_status(tfedu, strict, status):
    seen = run.race({"numpy": Scripted(2., 1.), "tfedu": tfedu}, "W1s", rounds=1, seconds=0)
    run.judge(seen, "W1s")
    assert run.verdict({"W1s": seen}, {}, [], strict) == status


def test_import_time():
    seen = import_time.measure(run.environment(), rounds=1)
    assert seen.keys() == {"import tfedu", "first tensor"}
    assert all(s.keys() == {"median", "minimum", "maximum", "cpu"} for s in seen.values()), seen
    assert "first tensor" in import_time.table(seen)


def test_import_error_is_shown(monkeypatch):
    monkeypatch.setattr(import_time, "CASES", {"import nothing": "import no_such_module"})
    assert "failed: ModuleNotFoundError" in import_time.table(import_time.measure(run.environment(), rounds=1))


def test_calls_are_timed_and_right(capsys):
    calls.main(rounds=2)
    out = capsys.readouterr().out
    assert "us in a function" in out and "times faster" in out
