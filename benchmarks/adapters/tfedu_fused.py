"""tfedu, with the loop over time as one operation: what the recurrent layers of `tf.keras` will run on. All else is contender `tfedu`."""
import importlib

from adapters import tfedu


class Adapter(tfedu.Adapter):
    chain = mlp = convnet = block = gelu = hessian = None

    def lstm(self, work, data):
        tf, recur = self.tf, importlib.import_module("tfedu.ops.rnn").recur
        p, x = [tf.Variable(a) for a in data["parameters"]], tf.constant(data["x"])

        def logits():
            last, _ = recur("lstm", x, *p[:3])
            return tf.nn.bias_add(tf.matmul(last, p[3]), p[4])
        return self.train(work, p, logits, data["labels"])
