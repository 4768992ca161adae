"""Write the checkpoints under `checkpoint/` with TensorFlow: `python make_checkpoint.py`, in an environment that has it and tf_keras.

`python make_checkpoint.py PREFIX` reads a checkpoint of `Net` and Adam that tfedu wrote, and prints what it found.
"""
import json
import shutil
import sys
from pathlib import Path

import tensorflow as tf
import tf_keras

HERE = Path(__file__).parent / "checkpoint"


class Layer(tf.Module):
    def __init__(self, value):
        super().__init__()
        self.w = tf.Variable(value, name="w")


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.heads = [Layer([1., 2.]), Layer([3., 4.])], {"head": Layer([[5.]])}
        self.scale, self.words = tf.Variable(6, dtype=tf.int64), tf.Variable(["a", "bcd"])
        self.half, self.flag = tf.Variable([1.5, 2.5], dtype=tf.bfloat16), tf.Variable([True, False])
        self.wave = tf.Variable([1 + 2j], dtype=tf.complex64)


def program():
    net, optimizer = Net(), tf_keras.optimizers.legacy.Adam(0.1)
    return net, optimizer, tf.train.Checkpoint(net=net, optimizer=optimizer)


def write():
    shutil.rmtree(HERE, ignore_errors=True)
    net = Net()
    path = tf.train.Checkpoint(net=net).save(str(HERE / "ckpt"))
    listed = [[name, list(shape)] for name, shape in tf.train.list_variables(path)]
    tf.train.Checkpoint(wide=tf.Variable(tf.range(300000, dtype=tf.float32) % 7)).write(str(HERE / "wide"))
    for name in HERE.glob("wide*data*"): name.unlink()   # the table is enough: a megabyte need not be kept
    net, optimizer, checkpoint = program()
    w, g = net.layers[0].w, tf.constant([0.5, -2.])
    for _ in range(3): optimizer.apply_gradients([(g, w)])
    checkpoint.write(str(HERE / "trained"))
    found = {"w": w.numpy().tolist(), "m": optimizer.get_slot(w, "m").numpy().tolist(), "iterations": int(optimizer.iterations)}
    optimizer.apply_gradients([(g, w)])
    found |= {"gradient": g.numpy().tolist(), "next": w.numpy().tolist()}
    (HERE / "expected.json").write_text(json.dumps({"tensorflow": tf.__version__, "list": listed, **found}) + "\n")


def read(prefix):
    net, optimizer, checkpoint = program()
    for v in net.variables:
        if v.dtype is not tf.string: v.assign(tf.zeros_like(v))
    status = checkpoint.restore(prefix)
    w = net.layers[0].w
    before = w.numpy().tolist()
    optimizer.apply_gradients([(tf.constant([0.5, -2.]), w)])
    status.assert_consumed()
    print(json.dumps({"w": before, "next": w.numpy().tolist(), "values": [str(v.numpy().tolist()) for v in net.variables]}))


if __name__ == "__main__": read(sys.argv[1]) if sys.argv[1:] else write()
