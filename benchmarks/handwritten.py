"""Every workload by hand in NumPy: the yardstick.

Forward and backward pass are written out, buffers are allocated once and overwritten at every step, and nothing is recorded. It is what a
careful person writes who knows the whole computation beforehand, and so a bound for a framework that learns it one operation at a time.
`g` stands for a gradient, `out=` for "into this buffer"."""
from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import as_strided

add, multiply, subtract, matmul, maximum = np.add, np.multiply, np.subtract, np.matmul, np.maximum
float32 = np.float32


def empty(*shape: int) -> np.ndarray: return np.empty(shape, float32)


# A chain of tiny operations: W1


def chain(x: np.ndarray, y: np.ndarray, length: int) -> tuple[Callable, Callable]:
    "Functions `forward() -> z` and `gradients() -> (dx, dy)` of `length` links `z = z*y + x`; closures, as looking up `self.x` shows."
    z = [x] + [np.empty_like(x) for _ in range(length)]
    gx, gy, g, product = (np.empty_like(x) for _ in range(4))

    def forward() -> np.ndarray:
        for i in range(length):
            multiply(z[i], y, out=z[i + 1])
            add(z[i + 1], x, out=z[i + 1])
        return z[length]

    def gradients() -> tuple[np.ndarray, np.ndarray]:
        forward()
        g.fill(1)
        gx.fill(0)
        gy.fill(0)
        for i in range(length - 1, -1, -1):
            add(gx, g, out=gx)
            multiply(g, z[i], out=product)
            add(gy, product, out=gy)
            multiply(g, y, out=g)
        add(gx, g, out=gx)  # the chain starts with z = x
        return gx, gy

    return forward, gradients


# Training: one flat vector of parameters, a model that fills one flat vector of gradients, an optimizer


def views(flat: np.ndarray, like: list[np.ndarray]) -> list[np.ndarray]:
    "Consecutive pieces of a vector, with the shapes of the arrays in `like`."
    ends = np.cumsum([a.size for a in like])
    return [flat[end - a.size:end].reshape(a.shape) for a, end in zip(like, ends, strict=True)]


def cross_entropy(
    logits: np.ndarray,  # (batch, classes), overwritten
    labels: np.ndarray,  # (batch,) integers
    rows: np.ndarray,  # (batch,) 0 1 2 ...
    out: np.ndarray,  # (batch, classes), receives the gradient of the mean to the logits
) -> float:
    "Mean softmax cross entropy."
    scale = float32(1 / len(labels))
    subtract(logits, logits.max(1, keepdims=True), out=logits)
    np.exp(logits, out=out)
    total = out.sum(1, keepdims=True)
    loss = float(np.log(total).sum() - logits[rows, labels].sum()) * scale
    multiply(out, scale / total, out=out)
    out[rows, labels] -= scale
    return loss


class MLP:
    "Dense layers with relu between them, and cross entropy. Parameters: `[w0, b0, w1, b1, ...]`."

    def __init__(self, parameters: list[np.ndarray], x: np.ndarray, labels: np.ndarray):
        self.x, self.labels, self.rows = x, labels, np.arange(len(x))
        self.layers = list(zip(parameters[::2], parameters[1::2], strict=True))
        self.h = [empty(len(x), b.size) for _, b in self.layers]  # after each layer
        self.g = [np.empty_like(h) for h in self.h]

    def run(self, gradients: list[np.ndarray]) -> float:
        x, h, g, last = self.x, self.h, self.g, len(self.layers) - 1
        for i, (w, b) in enumerate(self.layers):
            matmul(h[i - 1] if i else x, w, out=h[i])
            h[i] += b
            if i < last: maximum(h[i], 0, out=h[i])
        loss = cross_entropy(h[last], self.labels, self.rows, out=g[last])
        for i in range(last, -1, -1):
            matmul((h[i - 1] if i else x).T, g[i], out=gradients[2 * i])
            np.sum(g[i], 0, out=gradients[2 * i + 1])
            if i:
                matmul(g[i], self.layers[i][0].T, out=g[i - 1])
                multiply(g[i - 1], h[i - 1] > 0, out=g[i - 1])
        return loss


def windows(a: np.ndarray, rows: int, columns: int) -> np.ndarray:
    "3x3 windows of `(n, height, width, c)` as a view `(n, rows, columns, 3, 3*c)`: three pixels side by side are one run of memory."
    n, y, x, c = a.strides
    return as_strided(a, (len(a), rows, columns, 3, 3 * a.shape[3]), (n, y, x, y, c))


class ConvNet:
    """Two 3x3 convolutions with relu, 2x2 max pooling, two dense layers, cross entropy.

    A convolution is one matrix product after its windows were copied next to each other. Doing that for four images at a time keeps the
    copy in the cache. Pooling comes before bias and relu: both grow with their input, so the maximum may be taken first, which leaves a
    quarter of the work. The windows of the first layer carry a column of ones, so its bias rides in the product."""
    BLOCK = 4

    def __init__(self, parameters: list[np.ndarray], x: np.ndarray, labels: np.ndarray):
        self.parameters, self.x, self.labels, self.rows = parameters, x, labels, np.arange(len(x))
        n, size, block = len(x), x.shape[1], self.BLOCK
        if n % block or size % 2: raise ValueError(f"ConvNet: the batch ({n}) must be a multiple of {block} and the images ({size}) even")
        c1, c2, hidden = (parameters[i].size for i in (1, 3, 5))
        s1, s2, half = size - 2, size - 4, (size - 4) // 2  # after each convolution, after pooling
        self.windows1 = empty(n, s1 * s1, 10)
        self.windows1[..., 9] = 1
        self.w1, self.h1 = empty(10, c1), empty(n, s1, s1, c1)
        self.windows2, self.h2 = empty(block * s2 * s2, 9 * c1), empty(n, s2, s2, c2)
        self.row_maximum, self.pooled = empty(block, half, s2, c2), empty(n, half, half, c2)
        self.flat, self.gflat = empty(n, half * half * c2), empty(n, half * half * c2)
        self.h3, self.g3, self.logits, self.glogits = empty(n, hidden), empty(n, hidden), empty(n, 10), empty(n, 10)
        self.is_maximum = np.empty((block, half, half, c2), bool)
        self.padded = np.zeros((block, size, size, c2), float32)  # gradient of the second convolution with a border of two zeros
        self.windows_of_g, self.g1 = empty(block * s1 * s1, 9 * c2), empty(block * s1 * s1, c1)
        self.positive = np.empty((block * s1 * s1, c1), bool)
        self.part1, self.part2 = empty(10, c1), empty(9 * c1, c2)

    def copy_windows2(self, h1: np.ndarray) -> None:
        view = windows(h1, self.h2.shape[1], self.h2.shape[1])
        np.copyto(self.windows2.reshape(view.shape), view)

    def forward(self) -> float:
        k1, b1, k2, b2, w3, b3, w4, b4 = self.parameters
        view = windows(self.x, self.h1.shape[1], self.h1.shape[1])
        np.copyto(self.windows1[..., :9].reshape(view.shape), view)
        self.w1[:9], self.w1[9] = k1.reshape(9, -1), b1
        for start in range(0, len(self.x), self.BLOCK):
            block = slice(start, start + self.BLOCK)
            h1, h2 = self.h1[block], self.h2[block]
            matmul(self.windows1[block].reshape(-1, 10), self.w1, out=h1.reshape(-1, h1.shape[3]))
            maximum(h1, 0, out=h1)
            self.copy_windows2(h1)
            matmul(self.windows2, k2.reshape(-1, h2.shape[3]), out=h2.reshape(-1, h2.shape[3]))
            maximum(h2[:, ::2], h2[:, 1::2], out=self.row_maximum)
            maximum(self.row_maximum[:, :, ::2], self.row_maximum[:, :, 1::2], out=self.pooled[block])
        h = self.flat.reshape(self.pooled.shape)
        add(self.pooled, b2, out=h)
        maximum(h, 0, out=h)
        matmul(self.flat, w3, out=self.h3)
        self.h3 += b3
        maximum(self.h3, 0, out=self.h3)
        matmul(self.h3, w4, out=self.logits)
        self.logits += b4
        return cross_entropy(self.logits, self.labels, self.rows, out=self.glogits)

    def dense_backward(self, gradients: list[np.ndarray]) -> None:
        w3, w4 = self.parameters[4], self.parameters[6]
        matmul(self.h3.T, self.glogits, out=gradients[6])
        np.sum(self.glogits, 0, out=gradients[7])
        matmul(self.glogits, w4.T, out=self.g3)
        multiply(self.g3, self.h3 > 0, out=self.g3)
        matmul(self.flat.T, self.g3, out=gradients[4])
        np.sum(self.g3, 0, out=gradients[5])
        matmul(self.g3, w3.T, out=self.gflat)
        multiply(self.gflat, self.flat > 0, out=self.gflat)
        np.sum(self.gflat.reshape(-1, self.pooled.shape[3]), 0, out=gradients[3])

    def run(self, gradients: list[np.ndarray]) -> float:
        loss = self.forward()
        self.dense_backward(gradients)
        k2 = self.parameters[2]
        c1, c2 = k2.shape[2:]
        gk2 = gradients[2].reshape(-1, c2)
        gk2[...] = 0
        gw1 = np.zeros_like(self.w1)
        flipped = np.ascontiguousarray(k2[::-1, ::-1].transpose(0, 1, 3, 2)).reshape(-1, c1)  # the kernel that carries gradients back
        inner, window_view = self.padded[:, 2:-2, 2:-2], windows(self.padded, self.h1.shape[1], self.h1.shape[1])
        for start in range(0, len(self.x), self.BLOCK):
            block = slice(start, start + self.BLOCK)
            h1, g2, pooled, gpooled = self.h1[block], self.h2[block], self.pooled[block], self.gflat.reshape(self.pooled.shape)[block]
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):  # h2 turns into its own gradient: only the maxima receive any
                np.equal(g2[:, i::2, j::2], pooled, out=self.is_maximum)
                multiply(gpooled, self.is_maximum, out=g2[:, i::2, j::2])
            self.copy_windows2(h1)  # copying again is cheaper than keeping the windows of all images
            matmul(self.windows2.T, g2.reshape(-1, c2), out=self.part2)
            gk2 += self.part2
            inner[...] = g2
            np.copyto(self.windows_of_g.reshape(window_view.shape), window_view)
            matmul(self.windows_of_g, flipped, out=self.g1)
            np.greater(h1.reshape(-1, c1), 0, out=self.positive)
            multiply(self.g1, self.positive, out=self.g1)
            matmul(self.windows1[block].reshape(-1, 10).T, self.g1, out=self.part1)
            gw1 += self.part1
        gradients[0].reshape(9, -1)[...], gradients[1][...] = gw1[:9], gw1[9]
        return loss


class LSTM:
    """One LSTM layer, a dense layer on its last output, cross entropy. Hochreiter and Schmidhuber (1997), with a forget gate.

    The input is projected for all time steps by one product before the loop, and the four gates share one tanh, since
    `sigmoid(v) = tanh(v/2)/2 + 1/2`: weights are halved beforehand for the three sigmoid gates. The derivatives of the gates are computed
    for all time steps at once, so the loop backward does only what must follow the order of time."""

    def __init__(self, parameters: list[np.ndarray], x: np.ndarray, labels: np.ndarray):
        self.parameters, self.labels, self.rows = parameters, labels, np.arange(len(x))
        batch, time, hidden = len(x), x.shape[1], parameters[1].shape[0]
        self.x = np.ascontiguousarray(x.transpose(1, 0, 2))  # (time, batch, features)
        self.gates, self.ggates = empty(time, batch, 4 * hidden), empty(time, batch, 4 * hidden)
        self.h, self.c = (np.zeros((time + 1, batch, hidden), float32) for _ in range(2))  # before the first step both are zero
        self.tanh_c, self.recurrent = empty(time, batch, hidden), empty(batch, 4 * hidden)
        self.gh, self.gc, self.product = (empty(batch, hidden) for _ in range(3))
        self.logits, self.glogits = empty(batch, 10), empty(batch, 10)
        self.i, self.f, self.z, self.o = (slice(k * hidden, (k + 1) * hidden) for k in range(4))
        self.scale, self.shift = np.full(4 * hidden, .5, float32), np.full(4 * hidden, .5, float32)
        self.scale[self.z], self.shift[self.z] = 1, 0

    def forward(self) -> float:
        w, u, b, w_out, b_out = self.parameters
        time, batch = self.x.shape[:2]
        h, c, i, f, z, o = self.h, self.c, self.i, self.f, self.z, self.o
        u_scaled = u * self.scale
        matmul(self.x.reshape(time * batch, -1), w * self.scale, out=self.gates.reshape(time * batch, -1))
        self.gates += b * self.scale
        for t in range(time):
            gate, after = self.gates[t], c[t + 1]
            matmul(h[t], u_scaled, out=self.recurrent)
            gate += self.recurrent
            np.tanh(gate, out=gate)
            gate *= self.scale
            gate += self.shift
            multiply(gate[:, f], c[t], out=after)
            multiply(gate[:, i], gate[:, z], out=self.product)
            after += self.product
            np.tanh(after, out=self.tanh_c[t])
            multiply(gate[:, o], self.tanh_c[t], out=h[t + 1])
        matmul(h[time], w_out, out=self.logits)
        self.logits += b_out
        return cross_entropy(self.logits, self.labels, self.rows, out=self.glogits)

    def gate_derivatives(self) -> tuple[np.ndarray, np.ndarray]:
        "Factors from the gradient of `c` (of `h` for the last gate) to those of the gates' inputs, and from the gradient of `h` to `c`."
        gates, d, i, f, z, o = self.gates, self.ggates, self.i, self.f, self.z, self.o
        subtract(1, gates, out=d)
        d *= gates  # sigmoid' = s(1 - s)
        multiply(gates[..., z], gates[..., z], out=d[..., z])
        subtract(1, d[..., z], out=d[..., z])  # tanh' = 1 - t^2
        d[..., i] *= gates[..., z]
        d[..., f] *= self.c[:-1]
        d[..., z] *= gates[..., i]
        d[..., o] *= self.tanh_c
        into_c = self.tanh_c
        multiply(into_c, into_c, out=into_c)
        subtract(1, into_c, out=into_c)
        into_c *= gates[..., o]
        return d, into_c

    def run(self, gradients: list[np.ndarray]) -> float:
        loss = self.forward()
        u, w_out = self.parameters[1], self.parameters[3]
        time, batch = self.x.shape[:2]
        gh, gc = self.gh, self.gc
        matmul(self.h[time].T, self.glogits, out=gradients[3])
        np.sum(self.glogits, 0, out=gradients[4])
        matmul(self.glogits, w_out.T, out=gh)
        gc[...] = 0
        g, into_c = self.gate_derivatives()
        by_gate = g.reshape(time, batch, 4, -1)
        for t in range(time - 1, -1, -1):
            multiply(gh, into_c[t], out=self.product)
            gc += self.product
            by_gate[t, :, 3] *= gh
            by_gate[t, :, :3] *= gc[:, None]
            gc *= self.gates[t][:, self.f]
            if t: matmul(g[t], u.T, out=gh)
        g = g.reshape(time * batch, -1)
        matmul(self.x.reshape(time * batch, -1).T, g, out=gradients[0])
        matmul(self.h[:time].reshape(time * batch, -1).T, g, out=gradients[1])
        np.sum(g, 0, out=gradients[2])
        return loss


class Training:
    "A model and its optimizer. Parameters, gradients and moments are one vector each, so an update is a few passes over long arrays."
    CHUNK = 32768  # elements of each vector that fit the cache together

    def __init__(
        self,
        model: type,  # MLP, ConvNet or LSTM
        parameters: list[np.ndarray],  # initial values, copied
        x: np.ndarray,
        labels: np.ndarray,
        learning_rate: float,
        optimizer: str,  # "sgd" or "adam"
    ):
        self.learning_rate, self.optimizer = learning_rate, optimizer
        self.p = np.concatenate([a.ravel() for a in parameters])
        self.g, self.m, self.v = np.zeros((3, self.p.size), float32)
        self.gradients, self.scratch, self.steps = views(self.g, parameters), empty(self.CHUNK), 0
        self.model = model(views(self.p, parameters), x, labels)

    def sgd(self) -> None:
        self.g *= float32(self.learning_rate)
        self.p -= self.g

    def adam(self) -> None:
        "Kingma and Ba (2015), in the order of operations before section 2.1."
        rate = float32(self.learning_rate * np.sqrt(1 - .999 ** self.steps) / (1 - .9 ** self.steps))
        for start in range(0, self.p.size, self.CHUNK):
            p, g, m, v = (a[start:start + self.CHUNK] for a in (self.p, self.g, self.m, self.v))
            scratch = self.scratch[:p.size]
            m *= float32(.9)
            multiply(g, float32(.1), out=scratch)
            m += scratch
            v *= float32(.999)
            multiply(g, g, out=g)
            g *= float32(.001)
            v += g
            np.sqrt(v, out=scratch)
            scratch += float32(1e-7)
            np.divide(m, scratch, out=scratch)
            scratch *= rate
            p -= scratch

    def step(self) -> float:
        "One step of training; returns the loss before it."
        self.steps += 1
        loss = self.model.run(self.gradients)
        if self.optimizer == "sgd": self.sgd()
        else: self.adam()
        return loss


# A transformer block: W5

TANH_SCALE, CUBIC = float32(0.7978845608), float32(0.044715)  # gelu(x) = x/2 * (1 + tanh(TANH_SCALE * (x + CUBIC * x^3)))


class Block:
    """Layer norm, self-attention, residual; layer norm, two dense layers with gelu, residual; mean squared error.

    Query, key and value share one product. gelu runs over 32 rows at a time, so that its many passes stay in the cache."""
    ROWS = 32
    ORDER = ("g1", "b1", "wqkv", "bqkv", "wo", "bo", "g2", "b2", "w1", "c1", "w2", "c2")

    def __init__(self, parameters: dict[str, np.ndarray], x: np.ndarray, target: np.ndarray, heads: int):
        p = dict(parameters)
        p["wqkv"], p["bqkv"] = (np.concatenate([p[kind + name] for name in "qkv"], -1) for kind in "wb")
        self.p = {name: p[name] for name in self.ORDER}
        self.g = {name: np.empty_like(value) for name, value in self.p.items()}
        batch, time, width = x.shape
        self.shape, self.heads = (batch, time, heads, width // heads), heads
        n, hidden = batch * time, p["w1"].shape[1]
        self.x, self.target = x.reshape(n, width), target.reshape(n, width)
        self.qkv, self.gqkv = empty(n, 3 * width), empty(n, 3 * width)
        self.attention, self.gattention = empty(batch, heads, time, time), empty(batch, heads, time, time)
        self.mixed, self.gmixed, self.middle, self.out, self.gx, self.scratch, self.gnorm = (empty(n, width) for _ in range(7))
        self.normal, self.scaled, self.inverse = empty(2, n, width), empty(2, n, width), empty(2, n, 1)  # of the two layer norms
        self.before, self.tanh, self.active, self.rows = empty(n, hidden), empty(n, hidden), empty(n, hidden), empty(self.ROWS, hidden)

    def split(self, qkv: np.ndarray) -> tuple[np.ndarray, ...]:
        "Views of `(batch*time, 3*width)` as three `(batch, heads, time, width/heads)`."
        batch, time, heads, depth = self.shape
        return tuple(qkv.reshape(batch, time, 3, heads, depth).transpose(2, 0, 3, 1, 4))

    def layer_norm(self, x: np.ndarray, gain: np.ndarray, bias: np.ndarray, k: int) -> np.ndarray:
        normal, inverse, scaled = self.normal[k], self.inverse[k], self.scaled[k]
        subtract(x, x.mean(1, keepdims=True), out=normal)
        inverse[:, 0] = np.einsum("ij,ij->i", normal, normal)
        inverse /= x.shape[1]
        inverse += 1e-5
        np.sqrt(inverse, out=inverse)
        np.divide(1, inverse, out=inverse)
        normal *= inverse
        multiply(normal, gain, out=scaled)
        scaled += bias
        return scaled

    def layer_norm_backward(self, g: np.ndarray, k: int, into: np.ndarray) -> None:
        "Adds the gradient of the input to `into`; overwrites `g`."
        normal, names = self.normal[k], (("g1", "b1"), ("g2", "b2"))[k]
        np.sum(g, 0, out=self.g[names[1]])
        multiply(g, normal, out=self.scratch)
        np.sum(self.scratch, 0, out=self.g[names[0]])
        g *= self.p[names[0]]
        mean = g.mean(1, keepdims=True)
        along = np.einsum("ij,ij->i", g, normal)[:, None] / float32(g.shape[1])
        g -= mean
        multiply(normal, along, out=self.scratch)
        g -= self.scratch
        g *= self.inverse[k]
        into += g

    def gelu(self) -> None:
        "`before` (plus its bias) to `tanh` and `active`."
        for start in range(0, len(self.before), self.ROWS):
            z, tanh, active = (a[start:start + self.ROWS] for a in (self.before, self.tanh, self.active))
            rows = self.rows[:len(z)]
            z += self.p["c1"]
            multiply(z, z, out=rows)
            rows *= TANH_SCALE * CUBIC
            rows += TANH_SCALE
            multiply(rows, z, out=tanh)
            np.tanh(tanh, out=tanh)
            add(tanh, 1, out=active)
            active *= z
            active *= float32(.5)

    def gelu_backward(self, g: np.ndarray) -> None:
        "`g` times the derivative `(1 + t + z(1 - t^2)(a + 3abz^2)) / 2`, in place; overwrites `before`."
        for start in range(0, len(g), self.ROWS):
            z, tanh, part = (a[start:start + self.ROWS] for a in (self.before, self.tanh, g))
            rows = self.rows[:len(z)]
            multiply(z, z, out=rows)
            rows *= 3 * TANH_SCALE * CUBIC
            rows += TANH_SCALE
            rows *= z
            multiply(tanh, tanh, out=z)
            subtract(1, z, out=z)
            z *= rows
            z += tanh
            z += 1
            z *= float32(.5)
            part *= z

    def forward(self) -> float:
        "The loss; leaves its gradient to the output in `out`."
        p, attention, depth = self.p, self.attention, self.shape[3]
        matmul(self.layer_norm(self.x, p["g1"], p["b1"], 0), p["wqkv"], out=self.qkv)
        self.qkv += p["bqkv"]
        q, k, v = self.split(self.qkv)
        matmul(q, k.swapaxes(-1, -2), out=attention)
        attention *= float32(depth ** -.5)
        attention -= attention.max(-1, keepdims=True)
        np.exp(attention, out=attention)
        attention /= attention.sum(-1, keepdims=True)
        matmul(attention, v, out=self.mixed.reshape(self.shape).transpose(0, 2, 1, 3))
        matmul(self.mixed, p["wo"], out=self.middle)
        self.middle += p["bo"]
        self.middle += self.x
        matmul(self.layer_norm(self.middle, p["g2"], p["b2"], 1), p["w1"], out=self.before)
        self.gelu()
        out = self.out
        matmul(self.active, p["w2"], out=out)
        out += p["c2"]
        out += self.middle
        out -= self.target
        loss = float(np.vdot(out, out)) / out.size
        out *= float32(2 / out.size)
        return loss

    def run(self) -> float:
        "The loss; fills `self.g` and `self.gx`."
        loss = self.forward()
        p, grads, g = self.p, self.g, self.out
        matmul(self.active.T, g, out=grads["w2"])
        np.sum(g, 0, out=grads["c2"])
        gactive = self.active
        matmul(g, p["w2"].T, out=gactive)
        self.gelu_backward(gactive)
        matmul(self.scaled[1].T, gactive, out=grads["w1"])
        np.sum(gactive, 0, out=grads["c1"])
        matmul(gactive, p["w1"].T, out=self.gnorm)
        self.layer_norm_backward(self.gnorm, 1, into=g)
        matmul(self.mixed.T, g, out=grads["wo"])
        np.sum(g, 0, out=grads["bo"])
        matmul(g, p["wo"].T, out=self.gmixed)
        self.attention_backward()
        matmul(self.scaled[0].T, self.gqkv, out=grads["wqkv"])
        np.sum(self.gqkv, 0, out=grads["bqkv"])
        matmul(self.gqkv, p["wqkv"].T, out=self.gnorm)
        self.gx[...] = g
        self.layer_norm_backward(self.gnorm, 0, into=self.gx)
        return loss

    def attention_backward(self) -> None:
        q, k, v = self.split(self.qkv)
        gq, gk, gv = self.split(self.gqkv)
        gmixed, attention, g = self.gmixed.reshape(self.shape).transpose(0, 2, 1, 3), self.attention, self.gattention
        matmul(attention.swapaxes(-1, -2), gmixed, out=gv)
        matmul(gmixed, v.swapaxes(-1, -2), out=g)
        g -= np.einsum("bhij,bhij->bhi", g, attention)[..., None]
        g *= attention
        g *= float32(self.shape[3] ** -.5)
        matmul(g, k, out=gq)
        matmul(g.swapaxes(-1, -2), q, out=gk)

    def gradients(self) -> dict[str, np.ndarray]:
        "After `run`: the gradients under the names of the parameters that came in, and `x`."
        g = {name: value for name, value in self.g.items() if "qkv" not in name}
        for kind in "wb":
            g |= {kind + name: part for name, part in zip("qkv", np.split(self.g[kind + "qkv"], 3, -1), strict=True)}
        return g | {"x": self.gx}


# A long elementwise expression: W6


def gelu(
    x: np.ndarray,  # (n,)
    g: np.ndarray,  # (n,), receives the gradient of the mean
    chunk: int = 16384,  # three scratch buffers of this size stay in the cache
) -> float:
    "Mean of gelu, and its gradient in the same pass."
    u, t, w = empty(chunk), empty(chunk), empty(chunk)
    total, half = 0., float32(.5 / x.size)
    for start in range(0, x.size, chunk):
        v, out = x[start:start + chunk], g[start:start + chunk]
        if v.size < chunk: u, t, w = u[:v.size], t[:v.size], w[:v.size]
        multiply(v, v, out=u)
        multiply(u, TANH_SCALE * CUBIC, out=t)
        t += TANH_SCALE
        t *= v
        np.tanh(t, out=t)
        u *= 3 * TANH_SCALE * CUBIC
        u += TANH_SCALE
        u *= v
        multiply(t, t, out=w)
        subtract(float32(1), w, out=w)
        w *= u  # v(1 - t^2)(a + 3abv^2)
        t += float32(1)
        total += float(np.dot(v, t))
        add(t, w, out=out)
        out *= half
    return .5 * total / x.size


# A Hessian-vector product: W7


class HessianVector:
    "Hessian of a tanh MLP's mean squared error times a vector: the R-operator of Pearlmutter (1994), a tangent beside every value."

    def __init__(self, parameters: list[np.ndarray], direction: list[np.ndarray], x: np.ndarray, target: np.ndarray):
        self.x, self.target = x, target
        self.layers = list(zip(parameters[::2], parameters[1::2], direction[::2], direction[1::2], strict=True))
        self.out = [np.empty_like(p) for p in parameters]

    def run(self) -> list[np.ndarray]:
        h, th, slope = [self.x], [None], []  # values, tangents, derivatives of tanh; x has no tangent
        for i, (w, b, tw, tb) in enumerate(self.layers):
            z = h[i] @ w
            z += b
            np.tanh(z, out=z)
            tz = h[i] @ tw
            tz += tb
            if i: tz += th[i] @ w
            slope.append(1 - z * z)
            tz *= slope[i]
            h.append(z)
            th.append(tz)
        scale = float32(2 / self.target.size)
        g, tg = (h[-1] - self.target) * scale, th[-1] * scale
        for i in range(len(self.layers) - 1, -1, -1):
            w, _, tw, _ = self.layers[i]
            gz, tgz, curvature = g * slope[i], tg * slope[i], g * h[i + 1]
            curvature *= th[i + 1]
            curvature *= 2
            tgz -= curvature
            matmul(h[i].T, tgz, out=self.out[2 * i])
            np.sum(tgz, 0, out=self.out[2 * i + 1])
            if i:
                self.out[2 * i] += th[i].T @ gz
                g, tg = gz @ w.T, tgz @ w.T
                tg += gz @ tw.T
        return self.out
