"""Hand-written NumPy (`handwritten.py`): the yardstick."""
import handwritten
import numpy as np

from adapters import Runner, chain_checks, norm, training


class Adapter:
    def __init__(self, variant: str):
        self.version = f"numpy {np.__version__}"

    def chain(self, work, data):
        forward, gradients = handwritten.chain(data["x"], data["y"], work.length)
        if work.backward: return Runner(gradients, lambda: chain_checks(gradients()))
        return Runner(forward, lambda: {"sum": float(forward().sum())})

    def train(self, model, work, data):
        return training(handwritten.Training(model, data["parameters"], data["x"], data["labels"], work.learning_rate, work.optimizer).step)

    def mlp(self, work, data): return self.train(handwritten.MLP, work, data)

    def convnet(self, work, data): return self.train(handwritten.ConvNet, work, data)

    def lstm(self, work, data): return self.train(handwritten.LSTM, work, data)

    def block(self, work, data):
        block = handwritten.Block(data["parameters"], data["x"], data["target"], data["heads"])
        return Runner(block.run, lambda: {"loss": block.run(), "gradients": norm(block.gradients().values())})

    def gelu(self, work, data):
        gradient = np.empty_like(data["x"])

        def step(): return handwritten.gelu(data["x"], gradient)
        return Runner(step, lambda: {"loss": step(), "gradients": norm([gradient])})

    def hessian(self, work, data):
        run = handwritten.HessianVector(data["parameters"], data["direction"], data["x"], data["target"]).run
        return Runner(run, lambda: {"product": norm(run())})
