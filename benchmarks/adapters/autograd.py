"""HIPS autograd: NumPy and a tape, no fused operations. The nearest relative that is still maintained."""
from importlib.metadata import version

import autograd
import autograd.numpy as np
import numpy
from autograd.core import make_vjp

from adapters import Runner, chain_checks, norm, training

float32 = numpy.float32


class Adapter:
    def __init__(self, variant: str):
        self.version = f"autograd {version('autograd')}"

    def chain(self, work, data):
        inputs, one = (data["x"], data["y"]), numpy.ones_like(data["x"])

        def chain(inputs):
            x, y = inputs
            z = x
            for _ in range(work.length): z = z * y + x
            return z

        def gradients(): return make_vjp(chain, inputs)[0](one)
        if work.backward: return Runner(gradients, lambda: chain_checks(gradients()))
        return Runner(lambda: make_vjp(chain, inputs), lambda: {"sum": float(make_vjp(chain, inputs)[1].sum())})

    def mlp(self, work, data):
        p, x, labels, rows = [a.copy() for a in data["parameters"]], data["x"], data["labels"], numpy.arange(len(data["x"]))
        m, v, steps = [numpy.zeros_like(a) for a in p], [numpy.zeros_like(a) for a in p], 0

        def loss(p):
            h = x
            for i in range(0, len(p) - 2, 2): h = np.maximum(np.dot(h, p[i]) + p[i + 1], 0)
            logits = np.dot(h, p[-2]) + p[-1]
            logits = logits - np.max(logits, axis=1, keepdims=True)
            return np.mean(np.log(np.sum(np.exp(logits), axis=1)) - logits[rows, labels])
        value_and_gradient = autograd.value_and_grad(loss)

        def step():
            nonlocal steps
            steps += 1
            value, gradients = value_and_gradient(p)
            if work.optimizer == "sgd":
                for a, g in zip(p, gradients, strict=True): a -= float32(work.learning_rate) * g
                return value
            rate = float32(work.learning_rate * numpy.sqrt(1 - .999 ** steps) / (1 - .9 ** steps))
            for a, g, mean, square in zip(p, gradients, m, v, strict=True):
                mean *= float32(.9)
                mean += float32(.1) * g
                square *= float32(.999)
                square += float32(.001) * g * g
                a -= rate * mean / (numpy.sqrt(square) + float32(1e-7))
            return value
        return training(step)

    def gelu(self, work, data):
        run = autograd.value_and_grad(lambda x: np.mean(0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))))

        def check():
            loss, gradient = run(data["x"])
            return {"loss": float(loss), "gradients": norm([gradient])}
        return Runner(lambda: run(data["x"]), check)

    def hessian(self, work, data):
        p, direction, x, target = data["parameters"], data["direction"], data["x"], data["target"]

        def loss(p):
            h = x
            for i in range(0, len(p), 2): h = np.tanh(np.dot(h, p[i]) + p[i + 1])
            return np.mean((h - target) ** 2)
        gradient = autograd.grad(loss)
        run = autograd.grad(lambda p: sum(np.sum(a * b) for a, b in zip(gradient(p), direction, strict=True)))
        return Runner(lambda: run(p), lambda: {"product": norm(run(p))})
