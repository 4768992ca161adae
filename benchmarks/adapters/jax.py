"""JAX. Variants: `eager`, operation by operation; `jit`, the whole step compiled."""
import jax
import jax.numpy as jnp

from adapters import Runner, chain_checks, norm, training

wait = jax.block_until_ready


class Adapter:
    def __init__(self, variant: str):
        self.version, self.jit = f"jax {jax.__version__}", variant == "jit"

    def wrap(self, function, **options): return jax.jit(function, **options) if self.jit else function

    def chain(self, work, data):
        x, y = jnp.array(data["x"]), jnp.array(data["y"])
        one = jnp.ones_like(x)

        def chain(x, y):
            z = x
            for _ in range(work.length): z = z * y + x
            return z

        def value(x, y): return jax.vjp(chain, x, y)[0]

        def gradients(x, y): return jax.vjp(chain, x, y)[1](one)
        run = self.wrap(gradients if work.backward else value)
        return Runner(lambda: wait(run(x, y)), lambda: chain_checks(run(x, y)) if work.backward else {"sum": float(run(x, y).sum())})

    def train(self, work, parameters, logits, labels):
        rate, labels = work.learning_rate, jnp.array(labels)

        def loss(p): return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits(p)), labels[:, None], 1))

        def sgd(p, state, g): return [a - rate * b for a, b in zip(p, g, strict=True)], state

        def adam(p, state, g):
            m, v, t = state
            t = t + 1
            size = rate * jnp.sqrt(1 - .999 ** t) / (1 - .9 ** t)
            m = [.9 * a + .1 * b for a, b in zip(m, g, strict=True)]
            v = [.999 * a + .001 * b * b for a, b in zip(v, g, strict=True)]
            return [a - size * b / (jnp.sqrt(c) + 1e-7) for a, b, c in zip(p, m, v, strict=True)], (m, v, t)
        update = sgd if work.optimizer == "sgd" else adam
        p = [jnp.array(a) for a in parameters]
        state = () if work.optimizer == "sgd" else ([jnp.zeros_like(a) for a in p], [jnp.zeros_like(a) for a in p], jnp.array(0.))

        def train(p, state):
            value, g = jax.value_and_grad(loss)(p)
            return *update(p, state, g), value
        run = self.wrap(train, donate_argnums=(0, 1))

        def step():
            nonlocal p, state
            p, state, value = wait(run(p, state))
            return value
        return training(step)

    def mlp(self, work, data):
        x = jnp.array(data["x"])

        def logits(p):
            h = x
            for i in range(0, len(p) - 2, 2): h = jax.nn.relu(h @ p[i] + p[i + 1])
            return h @ p[-2] + p[-1]
        return self.train(work, data["parameters"], logits, data["labels"])

    def convnet(self, work, data):
        x = jnp.array(data["x"])

        def convolve(a, kernel):
            return jax.lax.conv_general_dilated(a, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))

        def logits(p):
            h = jax.nn.relu(convolve(x, p[0]) + p[1])
            h = jax.nn.relu(convolve(h, p[2]) + p[3])
            h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").reshape(len(x), -1)
            return jax.nn.relu(h @ p[4] + p[5]) @ p[6] + p[7]
        return self.train(work, data["parameters"], logits, data["labels"])

    def lstm(self, work, data):
        x = jnp.array(data["x"])
        batch, time, hidden = *x.shape[:2], data["parameters"][1].shape[0]

        def logits(p):
            projected = (x.reshape(batch * time, -1) @ p[0] + p[2]).reshape(batch, time, 4 * hidden)

            def cell(state, step):
                h, c = state
                i, f, z, o = jnp.split(step + h @ p[1], 4, axis=1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(z)
                return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None
            state = jnp.zeros((batch, hidden)), jnp.zeros((batch, hidden))
            if self.jit: state, _ = jax.lax.scan(cell, state, projected.transpose(1, 0, 2))
            else:
                for t in range(time): state, _ = cell(state, projected[:, t])
            return state[0] @ p[3] + p[4]
        return self.train(work, data["parameters"], logits, data["labels"])

    def block(self, work, data):
        p, x, target = {k: jnp.array(a) for k, a in data["parameters"].items()}, jnp.array(data["x"]), jnp.array(data["target"])
        heads = data["heads"]
        batch, time, width = x.shape

        def layer_norm(v, gain, bias):
            centred = v - v.mean(-1, keepdims=True)
            return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * gain + bias

        def split(a): return a.reshape(batch, time, heads, width // heads).transpose(0, 2, 1, 3)

        def loss(p, x):
            h = layer_norm(x, p["g1"], p["b1"])
            q, k, v = (split(h @ p["w" + n] + p["b" + n]) for n in "qkv")
            mixed = jax.nn.softmax(q @ k.swapaxes(-1, -2) * (width // heads) ** -.5) @ v
            middle = x + mixed.transpose(0, 2, 1, 3).reshape(batch, time, width) @ p["wo"] + p["bo"]
            h = layer_norm(middle, p["g2"], p["b2"]) @ p["w1"] + p["c1"]
            out = middle + jax.nn.gelu(h, approximate=True) @ p["w2"] + p["c2"]
            return ((out - target) ** 2).mean()
        return self.loss_and_gradients(loss, p, x)

    def loss_and_gradients(self, loss, *inputs):
        run = self.wrap(jax.value_and_grad(loss, tuple(range(len(inputs)))))

        def check():
            value, gradients = run(*inputs)
            return {"loss": float(value), "gradients": norm(jax.tree.leaves(gradients))}
        return Runner(lambda: wait(run(*inputs)), check)

    def gelu(self, work, data):
        def loss(x): return (0.5 * x * (1 + jnp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))).mean()
        return self.loss_and_gradients(loss, jnp.array(data["x"]))

    def hessian(self, work, data):
        p, direction = [jnp.array(a) for a in data["parameters"]], [jnp.array(a) for a in data["direction"]]
        x, target = jnp.array(data["x"]), jnp.array(data["target"])

        def loss(p):
            h = x
            for i in range(0, len(p), 2): h = jnp.tanh(h @ p[i] + p[i + 1])
            return ((h - target) ** 2).mean()
        run = self.wrap(lambda p: jax.jvp(jax.grad(loss), (p,), (direction,))[1])
        return Runner(lambda: wait(run(p)), lambda: {"product": norm(run(p))})
