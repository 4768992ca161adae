"""TensorFlow. Variants: `eager`; `function` and `xla`, the whole step in `tf.function`; `fit`, a Keras model, per batch.

The module is `self.tf`, so that `adapters/tfedu.py` can run the same programs."""
import importlib
import os

import numpy as np

from adapters import Runner, chain_checks, norm, training

BATCHES = 30  # of one call of `fit`


class Adapter:
    module = "tensorflow"

    def __init__(self, variant: str):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        self.variant = variant
        self.tf = importlib.import_module(self.module)
        self.version = f"{self.module} {getattr(self.tf, '__version__', '')}".strip()

    def wrap(self, function):
        if self.variant == "function": return self.tf.function(function)
        if self.variant == "xla": return self.tf.function(function, jit_compile=True)
        return function

    def chain(self, work, data):
        if self.variant == "fit": return None
        tf, length = self.tf, work.length
        x, y = tf.constant(data["x"]), tf.constant(data["y"])

        def record():
            with tf.GradientTape() as tape:
                tape.watch((x, y))
                z = x
                for _ in range(length): z = z * y + x
            return tape, z

        def value():
            return record()[1]

        def gradients():
            tape, z = record()
            return tape.gradient(z, (x, y))
        run = self.wrap(gradients if work.backward else value)
        first = (lambda r: r[0]) if work.backward else (lambda r: r)
        step = run if self.variant == "eager" else lambda: first(run()).numpy()  # a graph may still be running when the call returns
        if work.backward: return Runner(step, lambda: chain_checks(g.numpy() for g in run()))
        return Runner(step, lambda: {"sum": float(run().numpy().sum())})

    def updater(self, work, variables):
        "A function that applies gradients with TensorFlow's fused kernels, as Keras did in 2.4."
        tf, rate = self.tf, work.learning_rate
        if work.optimizer == "sgd":
            def sgd(gradients):
                for p, g in zip(variables, gradients, strict=True):
                    if self.variant == "xla": p.assign_sub(rate * g)
                    else: tf.raw_ops.ResourceApplyGradientDescent(var=p.handle, alpha=rate, delta=g)
            return sgd
        m, v = ([tf.Variable(tf.zeros_like(p)) for p in variables] for _ in range(2))
        power1, power2 = tf.Variable(.9), tf.Variable(.999)

        def adam(gradients):
            for p, mean, square, g in zip(variables, m, v, gradients, strict=True):
                tf.raw_ops.ResourceApplyAdam(var=p.handle, m=mean.handle, v=square.handle, beta1_power=power1, beta2_power=power2, lr=rate,
                                             beta1=.9, beta2=.999, epsilon=1e-7, grad=g)
            power1.assign(power1 * .9)
            power2.assign(power2 * .999)
        return adam

    def train(self, work, variables, logits, labels):
        tf, update, labels = self.tf, self.updater(work, variables), self.tf.constant(labels)

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits()))
            update(tape.gradient(loss, variables))
            return loss
        run = self.wrap(step)
        return training(lambda: run().numpy())

    def fit(self, work, layers, data):
        keras = self.tf.keras
        model = keras.Sequential([keras.Input(data["x"].shape[1:]), *layers])
        model.set_weights(data["parameters"])
        optimizer = keras.optimizers.SGD(work.learning_rate) if work.optimizer == "sgd" else keras.optimizers.Adam(work.learning_rate)
        model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        x, labels, batch = (np.concatenate([a] * BATCHES) for a in (data["x"], data["labels"], np.arange(len(data["x"]))))
        size = len(batch) // BATCHES

        def loss():
            model.reset_metrics()  # train_on_batch returns a running mean
            return float(np.asarray(model.train_on_batch(data["x"], data["labels"])))
        return Runner(lambda: model.fit(x, labels, batch_size=size, epochs=1, shuffle=False, verbose=0),
                      lambda: {f"loss {i}": loss() for i in range(5)}, BATCHES)

    def mlp(self, work, data):
        tf = self.tf
        if self.variant == "fit":
            dense, sizes = tf.keras.layers.Dense, [b.size for b in data["parameters"][1::2]]
            return self.fit(work, [*(dense(n, activation="relu") for n in sizes[:-1]), dense(sizes[-1])], data)
        p, x = [tf.Variable(a) for a in data["parameters"]], tf.constant(data["x"])

        def logits():
            h = x
            for i in range(0, len(p) - 2, 2): h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, p[i]), p[i + 1]))
            return tf.nn.bias_add(tf.matmul(h, p[-2]), p[-1])
        return self.train(work, p, logits, data["labels"])

    def convnet(self, work, data):
        tf = self.tf
        if self.variant == "fit":
            layers = tf.keras.layers
            (c1, c2), hidden = (data["parameters"][i].size for i in (1, 3)), data["parameters"][5].size
            return self.fit(work, [layers.Conv2D(c1, 3, activation="relu"), layers.Conv2D(c2, 3, activation="relu"), layers.MaxPooling2D(2),
                                   layers.Flatten(), layers.Dense(hidden, activation="relu"), layers.Dense(10)], data)
        p, x = [tf.Variable(a) for a in data["parameters"]], tf.constant(data["x"])

        def logits():
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, p[0], 1, "VALID"), p[1]))
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, p[2], 1, "VALID"), p[3]))
            h = tf.reshape(tf.nn.max_pool2d(h, 2, 2, "VALID"), (x.shape[0], -1))
            h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, p[4]), p[5]))
            return tf.nn.bias_add(tf.matmul(h, p[6]), p[7])
        return self.train(work, p, logits, data["labels"])

    def lstm(self, work, data):
        tf = self.tf
        if self.variant == "fit":
            layers = tf.keras.layers
            return self.fit(work, [layers.LSTM(data["parameters"][1].shape[0]), layers.Dense(10)], data)
        p, x = [tf.Variable(a) for a in data["parameters"]], tf.constant(data["x"])
        batch, time, hidden = *data["x"].shape[:2], data["parameters"][1].shape[0]

        def logits():
            projected = tf.nn.bias_add(tf.matmul(tf.reshape(x, (batch * time, -1)), p[0]), p[2])
            steps = tf.unstack(tf.reshape(projected, (batch, time, 4 * hidden)), axis=1)
            h = c = tf.zeros((batch, hidden))
            for step in steps:
                i, f, z, o = tf.split(step + tf.matmul(h, p[1]), 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(z)
                h = tf.sigmoid(o) * tf.tanh(c)
            return tf.nn.bias_add(tf.matmul(h, p[3]), p[4])
        return self.train(work, p, logits, data["labels"])

    def block(self, work, data):
        if self.variant == "fit": return None
        tf, heads = self.tf, data["heads"]
        p, x, target = {name: tf.Variable(a) for name, a in data["parameters"].items()}, tf.constant(data["x"]), tf.constant(data["target"])
        batch, time, width = data["x"].shape

        def norm_layer(v, gain, bias):
            centred = v - tf.reduce_mean(v, -1, keepdims=True)
            return centred * tf.math.rsqrt(tf.reduce_mean(centred * centred, -1, keepdims=True) + 1e-5) * gain + bias

        def project(a, w):
            return tf.reshape(tf.matmul(tf.reshape(a, (batch * time, -1)), w), (batch, time, -1))

        def split(a):
            return tf.transpose(tf.reshape(a, (batch, time, heads, width // heads)), (0, 2, 1, 3))

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                h = norm_layer(x, p["g1"], p["b1"])
                q, k, v = (split(project(h, p["w" + n]) + p["b" + n]) for n in "qkv")
                mixed = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (width // heads) ** -.5), v)
                middle = x + project(tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (batch, time, width)), p["wo"]) + p["bo"]
                h = project(norm_layer(middle, p["g2"], p["b2"]), p["w1"]) + p["c1"]
                out = middle + project(tf.nn.gelu(h, approximate=True), p["w2"]) + p["c2"]
                loss = tf.reduce_mean((out - target) ** 2)
            return loss, tape.gradient(loss, [*p.values(), x])
        return self.loss_and_gradients(self.wrap(step))

    def loss_and_gradients(self, run):
        def step():
            loss, gradients = run()
            return loss.numpy(), gradients[0][:1].numpy()

        def check():
            loss, gradients = run()
            return {"loss": float(loss.numpy()), "gradients": norm(g.numpy() for g in gradients)}
        return Runner(step, check)

    def gelu(self, work, data):
        if self.variant == "fit": return None
        tf, x = self.tf, self.tf.constant(data["x"])

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_mean(0.5 * x * (1 + tf.tanh(0.7978845608 * (x + 0.044715 * x * x * x))))
            return loss, tape.gradient(loss, [x])
        return self.loss_and_gradients(self.wrap(step))

    def hessian(self, work, data):
        if self.variant == "fit": return None
        tf = self.tf
        p, direction = [tf.Variable(a) for a in data["parameters"]], [tf.constant(a) for a in data["direction"]]
        x, target = tf.constant(data["x"]), tf.constant(data["target"])

        def product():
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    h = x
                    for i in range(0, len(p), 2): h = tf.tanh(tf.matmul(h, p[i]) + p[i + 1])
                    loss = tf.reduce_mean((h - target) ** 2)
                gradients = inner.gradient(loss, p)
            return outer.gradient(gradients, p, output_gradients=direction)
        run = self.wrap(product)
        return Runner(lambda: run()[0].numpy(), lambda: {"product": norm(g.numpy() for g in run())})
