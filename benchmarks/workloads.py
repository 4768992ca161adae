"""The workloads: what is computed, from which numbers, and how fast tfedu should be.

Weights and data are float32 NumPy arrays in TensorFlow's layouts (images NHWC, kernels HWIO, LSTM kernels `[in, 4*hidden]` with the gates
in the order input, forget, candidate, output), drawn from fixed seeds, so that every contender starts from the same numbers."""
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

float32 = np.float32


def glorot(
    rng: np.random.Generator,
    *shape: int,  # the last two axes are inputs and outputs, the ones before are the window of a convolution
) -> np.ndarray:
    "Uniform weights with the limit of Glorot and Bengio (2010)."
    window = int(np.prod(shape[:-2]))
    limit = np.sqrt(6 / (window * shape[-2] + window * shape[-1]))
    return rng.uniform(-limit, limit, shape).astype(float32)


def dense_weights(rng: np.random.Generator, sizes: tuple[int, ...]) -> list[np.ndarray]:
    "Kernel and zero bias of every layer of a multilayer perceptron: `[w0, b0, w1, b1, ...]`."
    return [a for n, m in zip(sizes[:-1], sizes[1:], strict=True) for a in (glorot(rng, n, m), np.zeros(m, float32))]


def chain_data(n: int = 8) -> dict:
    rng = np.random.default_rng(1)
    return {"x": rng.uniform(.5, 1, n).astype(float32), "y": rng.uniform(.5, .9, n).astype(float32)}


def mlp_data(batch: int, sizes: tuple[int, ...]) -> dict:
    rng = np.random.default_rng(2)
    parameters = dense_weights(rng, sizes)
    x = rng.uniform(0, 1, (batch, sizes[0])).astype(float32)
    return {"parameters": parameters, "x": x, "labels": rng.integers(0, sizes[-1], batch).astype(np.int32)}


def convnet_data(batch: int = 64, size: int = 28, channels: tuple[int, int] = (32, 64), hidden: int = 128) -> dict:
    "Two 3x3 convolutions without padding, 2x2 max pooling, two dense layers."
    rng = np.random.default_rng(3)
    first, second = channels
    flat = ((size - 4) // 2) ** 2 * second
    parameters = [glorot(rng, 3, 3, 1, first), np.zeros(first, float32), glorot(rng, 3, 3, first, second), np.zeros(second, float32),
                  *dense_weights(rng, (flat, hidden, 10))]
    x = rng.uniform(0, 1, (batch, size, size, 1)).astype(float32)
    return {"parameters": parameters, "x": x, "labels": rng.integers(0, 10, batch).astype(np.int32)}


def lstm_data(batch: int = 32, time: int = 50, features: int = 64, hidden: int = 128) -> dict:
    rng = np.random.default_rng(4)
    bias = np.zeros(4 * hidden, float32)
    bias[hidden:2 * hidden] = 1  # Jozefowicz et al. (2015): a forget gate that starts open
    parameters = [glorot(rng, features, 4 * hidden), glorot(rng, hidden, 4 * hidden), bias, *dense_weights(rng, (hidden, 10))]
    x = rng.standard_normal((batch, time, features)).astype(float32)
    return {"parameters": parameters, "x": x, "labels": rng.integers(0, 10, batch).astype(np.int32)}


def block_data(batch: int = 8, time: int = 128, width: int = 256, heads: int = 4, hidden: int = 1024) -> dict:
    rng = np.random.default_rng(5)
    square = {name: glorot(rng, width, width) for name in ("wq", "wk", "wv", "wo")}
    zeros = {name: np.zeros(width, float32) for name in ("b1", "bq", "bk", "bv", "bo", "b2", "c2")}
    parameters = square | zeros | {"g1": np.ones(width, float32), "g2": np.ones(width, float32), "c1": np.zeros(hidden, float32),
                                   "w1": glorot(rng, width, hidden), "w2": glorot(rng, hidden, width)}
    x, target = (rng.standard_normal((batch, time, width)).astype(float32) for _ in range(2))
    return {"parameters": parameters, "x": x, "target": target, "heads": heads}


def gelu_data(n: int = 10_000_000) -> dict:
    return {"x": np.random.default_rng(6).standard_normal(n, dtype=float32)}


def hessian_data(batch: int = 64, sizes: tuple[int, ...] = (64, 128, 128, 10)) -> dict:
    rng = np.random.default_rng(7)
    parameters = dense_weights(rng, sizes)
    direction = [rng.standard_normal(p.shape).astype(float32) for p in parameters]
    x, target = (rng.standard_normal((batch, n)).astype(float32) for n in (sizes[0], sizes[-1]))
    return {"parameters": parameters, "direction": direction, "x": x, "target": target}


@dataclass(frozen=True)
class Workload:
    title: str
    kind: str  # the method of an adapter that builds it
    data: Callable[[], dict]
    tolerance: float = 1e-3  # largest relative difference of a checked number from hand-written NumPy's
    targets: dict[str, float] = field(default_factory=dict)  # contender -> time divided by hand-written NumPy's
    length: int = 0  # chain: number of links
    backward: bool = True  # chain: differentiate, or record only
    optimizer: str = "sgd"
    learning_rate: float = 0.


def targets(eager: float, function: float | None = None, fit: float | None = None, fused: float | None = None) -> dict[str, float]:
    named = {"tfedu": eager, "tfedu-function": function, "tfedu-fused": fused, "tfedu-fit": fit}
    return {name: value for name, value in named.items() if value is not None}


WORKLOADS = {
    "W1s": Workload("z = x*y + x on 8 floats, recorded, and its two gradients",
                    "chain", chain_data, tolerance=1e-4, length=1, targets=targets(2.8)),
    "W1f": Workload("50 links z = z*y + x on 8 floats, recorded, no gradient",
                    "chain", chain_data, tolerance=1e-4, length=50, backward=False),
    "W1": Workload("50 links z = z*y + x on 8 floats, recorded, and the gradients of x and y",
                   "chain", chain_data, tolerance=1e-4, length=50, targets=targets(2.5, .9)),
    "W2": Workload("MLP 784-128-10, batch 32, one step of SGD",
                   "mlp", lambda: mlp_data(32, (784, 128, 10)), learning_rate=.01, targets=targets(1.3, 1., 1.6)),
    "W2b": Workload("MLP 784-1024-1024-10, batch 256, one step of Adam",
                    "mlp", lambda: mlp_data(256, (784, 1024, 1024, 10)), optimizer="adam", learning_rate=1e-4, targets=targets(1.05, .95)),
    "W3": Workload("convnet 32C3-64C3-P2-D128-D10 on 28x28, batch 64, one step of Adam",
                   "convnet", convnet_data, optimizer="adam", learning_rate=1e-4, targets=targets(.95, .85, .9)),
    "W4": Workload("LSTM of 128 units, 50 time steps of 64 features, batch 32, one step of SGD",
                   "lstm", lstm_data, learning_rate=.1, targets=targets(3., fused=1.2, fit=1.2)),
    "W5": Workload("transformer block, 8 sequences of 128 x 256, 4 heads: loss and all gradients",
                   "block", block_data, targets=targets(1.1, .95)),
    "W6": Workload("gelu from primitives on 10 million floats: mean and gradient",
                   "gelu", gelu_data, targets=targets(3.2, .7)),
    "W7": Workload("Hessian-vector product of a tanh MLP 64-128-128-10, batch 64",
                   "hessian", hessian_data, targets=targets(2.5, 1.6)),
}
DEFAULT = ("W1s", "W1f", "W1", "W2")  # what `make bench` runs
