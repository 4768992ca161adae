"""What a contender looks like to the benchmark, and the list of all of them.

An adapter has one method per kind of workload (`chain`, `mlp`, `convnet`, `lstm`, `block`, `gelu`, `hessian`), which takes a workload and
its data and returns a `Runner`. A method that is missing, or returns None, means "not supported"."""
import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np


class Runner(NamedTuple):
    step: Callable[[], Any]  # one unit of work, finished when it returns
    check: Callable[[], dict[str, float]]  # numbers to compare with hand-written NumPy's; called once, before the first step
    units: int = 1  # units of work that one call of `step` does


class Contender(NamedTuple):
    adapter: str  # module in this folder
    variant: str  # passed to the adapter
    requires: str  # importable name


CONTENDERS = {
    "numpy": Contender("numpy", "", "numpy"),
    "smallest-tape": Contender("smallest_tape", "", "numpy"),
    "tfedu": Contender("tfedu", "eager", "tfedu"),
    "tfedu-function": Contender("tfedu", "function", "tfedu"),
    "tfedu-fused": Contender("tfedu_fused", "eager", "tfedu"),
    "tfedu-fit": Contender("tfedu", "fit", "tfedu"),
    "tensorflow": Contender("tensorflow", "eager", "tensorflow"),
    "tensorflow-function": Contender("tensorflow", "function", "tensorflow"),
    "tensorflow-xla": Contender("tensorflow", "xla", "tensorflow"),
    "keras-fit": Contender("tensorflow", "fit", "tensorflow"),
    "torch": Contender("torch", "", "torch"),
    "jax": Contender("jax", "eager", "jax"),
    "jax-jit": Contender("jax", "jit", "jax"),
    "autograd": Contender("autograd", "", "autograd"),
}
OURS = ("numpy", "smallest-tape", "tfedu", "tfedu-function", "tfedu-fused", "tfedu-fit")  # run by this very interpreter


def load(name: str) -> Any:
    "The adapter of a contender; imports its framework."
    contender = CONTENDERS[name]
    return importlib.import_module(f"adapters.{contender.adapter}").Adapter(contender.variant)


def chain_checks(gradients: Iterable[Any]) -> dict[str, float]:
    return {name: float(np.asarray(g).sum()) for name, g in zip(("dx", "dy"), gradients, strict=True)}


def training(step: Callable[[], Any], to_float: Callable[[Any], float] = float, steps: int = 5) -> Runner:
    "A runner whose `step` trains once and returns the loss; its check is the first losses."
    return Runner(step, lambda: {f"loss {i}": to_float(step()) for i in range(steps)})


def norm(gradients: Iterable[Any]) -> float:
    "Sum of the L2 norms, which does not depend on the order."
    return float(sum(np.sqrt(np.sum(np.asarray(g, np.float64) ** 2)) for g in gradients))
