"""PyTorch, eager. Images are NCHW as PyTorch prefers them; the weights are transposed once, before."""
import numpy as np
import torch
import torch.nn.functional as functional

from adapters import Runner, chain_checks, norm, training


def tensor(a, differentiate: bool = True):
    return torch.from_numpy(np.array(a, order="C")).requires_grad_(differentiate)


class Adapter:
    def __init__(self, variant: str):
        self.version = f"torch {torch.__version__}"

    def chain(self, work, data):
        x, y, one = tensor(data["x"]), tensor(data["y"]), torch.ones(len(data["x"]))

        def forward():
            z = x
            for _ in range(work.length): z = z * y + x
            return z

        def gradients(): return torch.autograd.grad(forward(), (x, y), one)
        if work.backward: return Runner(gradients, lambda: chain_checks(gradients()))
        return Runner(forward, lambda: {"sum": forward().sum().item()})

    def train(self, work, parameters, logits, labels):
        labels = torch.from_numpy(labels.astype(np.int64))
        if work.optimizer == "sgd": optimizer = torch.optim.SGD(parameters, lr=work.learning_rate)
        else: optimizer = torch.optim.Adam(parameters, lr=work.learning_rate, eps=1e-7, fused=True)

        def step():
            optimizer.zero_grad()
            loss = functional.cross_entropy(logits(), labels)
            loss.backward()
            optimizer.step()
            return loss
        return training(step, lambda loss: loss.item())

    def mlp(self, work, data):
        p, x = [tensor(a) for a in data["parameters"]], tensor(data["x"], False)

        def logits():
            h = x
            for i in range(0, len(p) - 2, 2): h = torch.relu(torch.addmm(p[i + 1], h, p[i]))
            return torch.addmm(p[-1], h, p[-2])
        return self.train(work, p, logits, data["labels"])

    def convnet(self, work, data):
        k1, b1, k2, b2, w3, b3, w4, b4 = data["parameters"]
        half, c2, hidden = (data["x"].shape[1] - 4) // 2, b2.size, b3.size
        w3 = w3.reshape(half, half, c2, hidden).transpose(2, 0, 1, 3).reshape(-1, hidden)
        p = [tensor(a) for a in (k1.transpose(3, 2, 0, 1), b1, k2.transpose(3, 2, 0, 1), b2, w3, b3, w4, b4)]
        x = tensor(data["x"].transpose(0, 3, 1, 2), False)

        def logits():
            h = torch.relu(functional.conv2d(x, p[0], p[1]))
            h = functional.max_pool2d(torch.relu(functional.conv2d(h, p[2], p[3])), 2)
            h = torch.relu(torch.addmm(p[5], h.reshape(len(x), -1), p[4]))
            return torch.addmm(p[7], h, p[6])
        return self.train(work, p, logits, data["labels"])

    def lstm(self, work, data):
        w, u, b, w_out, b_out = data["parameters"]
        layer = torch.nn.LSTM(w.shape[0], u.shape[0], batch_first=True)
        with torch.no_grad():
            for name, value in (("weight_ih_l0", w.T), ("weight_hh_l0", u.T), ("bias_ih_l0", b), ("bias_hh_l0", 0 * b)):
                getattr(layer, name).copy_(torch.from_numpy(value.copy()))
        layer.bias_hh_l0.requires_grad_(False)  # PyTorch has two biases where one is enough
        w_out, b_out, x = tensor(w_out), tensor(b_out), tensor(data["x"], False)
        trained = [p for p in layer.parameters() if p.requires_grad] + [w_out, b_out]
        return self.train(work, trained, lambda: torch.addmm(b_out, layer(x)[1][0][0], w_out), data["labels"])

    def block(self, work, data):
        p, x, target = {k: tensor(a) for k, a in data["parameters"].items()}, tensor(data["x"]), tensor(data["target"], False)
        heads = data["heads"]
        batch, time, width = x.shape

        def layer_norm(v, gain, bias):
            centred = v - v.mean(-1, keepdim=True)
            return centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5) * gain + bias

        def split(a): return a.reshape(batch, time, heads, width // heads).transpose(1, 2)

        def loss():
            h = layer_norm(x, p["g1"], p["b1"])
            q, k, v = (split(h @ p["w" + n] + p["b" + n]) for n in "qkv")
            mixed = torch.softmax(q @ k.transpose(-1, -2) * (width // heads) ** -.5, -1) @ v
            middle = x + mixed.transpose(1, 2).reshape(batch, time, width) @ p["wo"] + p["bo"]
            h = layer_norm(middle, p["g2"], p["b2"]) @ p["w1"] + p["c1"]
            out = middle + functional.gelu(h, approximate="tanh") @ p["w2"] + p["c2"]
            return ((out - target) ** 2).mean()
        return self.loss_and_gradients(loss, [*p.values(), x])

    def loss_and_gradients(self, loss, inputs):
        def step():
            value = loss()
            return value, torch.autograd.grad(value, inputs)

        def check():
            value, gradients = step()
            return {"loss": value.item(), "gradients": norm(gradients)}
        return Runner(step, check)

    def gelu(self, work, data):
        x = tensor(data["x"])
        return self.loss_and_gradients(lambda: (0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))).mean(), [x])

    def hessian(self, work, data):
        p, direction = [tensor(a) for a in data["parameters"]], [tensor(a, False) for a in data["direction"]]
        x, target = tensor(data["x"], False), tensor(data["target"], False)

        def product():
            h = x
            for i in range(0, len(p), 2): h = torch.tanh(h @ p[i] + p[i + 1])
            gradients = torch.autograd.grad(((h - target) ** 2).mean(), p, create_graph=True)
            return torch.autograd.grad(gradients, p, grad_outputs=direction)
        return Runner(product, lambda: {"product": norm(product())})
