"""Saved graphs from an enemy: whatever is done to the bytes or to what they say, there is a clear error or a graph that works."""
import random
import resource
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import tfedu as tf
from tfedu.core.errors import OpError
from tfedu.program.format import READERS, Parted, Public, Ref, Thing, Var, encode, packed, unpacked
from tfedu.program.saved_model import checked_model
from tfedu.program.validate import checked_graph

CLEAR = (OpError, ValueError, TypeError, AssertionError, RuntimeError, IndexError, KeyError, ZeroDivisionError, OverflowError, MemoryError,
    NotImplementedError,
         AttributeError, np.exceptions.AxisError)   # what operations raise for arguments that do not fit
AT_LOAD = (OpError, ValueError)                     # what a file that is refused raises


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w, self.list = tf.Variable([[1., 2.], [3., 4.]], name="w"), [tf.Variable([1., 2.])]

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
    def __call__(self, x):
        y = tf.nn.relu(tf.matmul(x, self.w) + self.list[0])
        mean, variance = tf.nn.moments(y, [0])
        self.list[0].assign_add(mean)
        return {"y": tf.concat([y, x], 1)[:, ::2] - variance[0], "n": tf.shape(x)[0],
            "pair": tuple(tf.split(tf.einsum("ij,kj->ki", x, self.w), [1, 1], 0))}


class Branching(tf.Module):
    "Conditions, loops with an array, a table, an optimizer, and ways back through all of them."
    def __init__(self):
        super().__init__()
        self.w, self.adam = tf.Variable([[1., 2.], [3., 4.]]), tf.keras.optimizers.Adam(0.1)
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], [2, 3]), -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
    def __call__(self, x):
        with tf.GradientTape() as tape:
            y = x @ self.w
            for i in tf.range(3):
                if tf.reduce_sum(y) > tf.cast(self.table.lookup(i), tf.float32): y = tf.tanh(y) * self.w[0]
                else: y = y + 1.
            z = tf.map_fn(lambda row: row[0] * row, y)
            loss = tf.reduce_sum(z * z)
        self.adam.apply_gradients([(tape.gradient(loss, self.w), self.w)])
        return {"z": z, "loss": loss}


X = tf.constant([[1., 2.], [3., -4.]])


@pytest.fixture(scope="module", params=[Net, Branching])
def saved(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    net = request.param()
    tf.saved_model.save(net, str(folder), signatures={"n": tf.function(lambda x: tf.reduce_sum(x),
        input_signature=[tf.TensorSpec([2], name="x")])})
    return folder


@pytest.fixture(autouse=True)
def little_memory():
    "A graph may ask for more memory than there is; that must be an error of Python, not the end of the process."
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()   # kernels that ran before hold empty addresses
    resource.setrlimit(resource.RLIMIT_AS, (used + 4 * 2**30, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.fixture(autouse=True)
def nothing_happens(monkeypatch):
    "The doors through which harm would come are watched."
    def alarm(*args, **kw): raise SystemExit("a saved graph ran something")   # no test expects SystemExit
    for name in ("os.system", "subprocess.Popen.__init__", "pickle.load", "pickle.loads", "shutil.rmtree", "os.remove",
        "socket.socket.__init__"): monkeypatch.setattr(name, alarm)


def tried(folder):
    "Load and call; the number of steps that went well."
    try: model = tf.saved_model.load(str(folder))
    except AT_LOAD: return 0
    try:
        with at_most(5.0):
            model(X)
            model.signatures["n"](x=X[0])
    except CLEAR: return 1
    return 2


@contextmanager
def at_most(seconds):
    "A changed graph may loop for ever, as any program may; it must be possible to interrupt it."
    def stop(*_): raise RuntimeError("interrupted")
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try: yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def count(request): return 10_000 if request.config.getoption("--slow") else 400


def test_mutated_bytes(saved, tmp_path, request):
    "Truncated and flipped files: the checksum finds all."
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    whole, rng, file = (saved / "saved_model.pb").read_bytes(), random.Random(1), tmp_path / "saved_model.pb"
    for _ in range(count(request)):
        data = bytearray(whole)
        if rng.random() < .3: del data[rng.randrange(len(data)):]
        elif rng.random() < .2: data[rng.randrange(len(data)):rng.randrange(len(data))] = rng.randbytes(rng.randrange(40))
        else:
            for _ in range(rng.choice([1, 1, 2, 8])): data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        if bytes(data) == whole: continue
        file.write_bytes(data)
        assert tried(tmp_path) == 0


def test_mutated_values_with_right_checksums(saved, tmp_path, request):
    "An enemy computes the checksum again: the decoder and the validator are what is left."
    from tfedu.ops.record import masked
    from tfedu.ops.wire import field
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    body, rng, file = encode(unpacked((saved / "saved_model.pb").read_bytes())), random.Random(2), tmp_path / "saved_model.pb"
    seen = [0, 0, 0]
    for _ in range(count(request)):
        data = bytearray(body)
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            at = rng.randrange(len(data))
            if rng.random() < .2: data[at:at] = rng.randbytes(rng.randrange(1, 4))
            elif rng.random() < .2: del data[at:at + rng.randrange(1, 4)]
            elif rng.random() < .3: data[at] = rng.choice([*READERS])
            else: data[at] = rng.randrange(256)
        file.write_bytes(field(1, 1) + field(1000, masked(bytes(data)) + bytes(data)))
        seen[tried(tmp_path)] += 1
    assert seen[0] > 0 and seen[1] + seen[2] > 0   # some are refused, some still are graphs


def replaced(x, rng, chance):
    "`x` with a part here and there replaced by another thing."
    if rng.random() < chance: return rng.choice(STRANGE)
    if type(x) is dict: return {k: replaced(v, rng, chance) for k, v in x.items() if rng.random() > chance / 4}
    if type(x) in (list, tuple):
        parts = [replaced(v, rng, chance) for v in x]
        if parts and rng.random() < chance: parts.insert(rng.randrange(len(parts) + 1), rng.choice(parts))
        if parts and rng.random() < chance: del parts[rng.randrange(len(parts))]
        return type(x)(parts)
    if type(x) in (Ref, Var, Thing) and rng.random() < 5 * chance: return type(x)(rng.randrange(40))
    if type(x) is int and rng.random() < 5 * chance: return rng.choice([-1, 0, 1, 7, 2**31, 2**62, -2**63])
    if type(x) is str and rng.random() < 2 * chance: return rng.choice(WORDS)
    return x


WORDS = ["matmul", "system", "__class__", "../../x", "read", "call", "act", "add", "\0", "assign", "branch", "loop", "back", "pull",
    "array", "put", "take", "deserialize", "dense"]
STRANGE = [None, True, -1, 2**62, 1.5, "x", "__reduce__", b"x", [], (), {}, Ref(0), Ref(3), Ref(99), Var(0), Var(9), Thing(0), Thing(2),
    Public("tf.io.write_file"), Public("tf.nn.moments"),
           Public("os.system"), slice(None), ..., tf.float32, np.zeros((2, 2), np.float32), tf.TensorShape([2]), tf.TensorSpec([2]),
           Parted(tf.SparseTensorSpec([2]), []),
           [2**20, 2**20, 2**20], float("nan"), np.float32(1), [[[]]]]


def test_mutated_structures(saved, tmp_path, request):
    "Parts of the decoded value are exchanged for others of every kind."
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    value, rng, file = unpacked((saved / "saved_model.pb").read_bytes()), random.Random(3), tmp_path / "saved_model.pb"
    seen = [0, 0, 0]
    for _ in range(count(request)):
        file.write_bytes(packed(replaced(value, rng, rng.choice([.0002, .002, .005, .02]))))
        seen[tried(tmp_path)] += 1
    assert seen[0] > 0 and seen[2] > 0


def test_mutated_variables(saved, tmp_path, request):
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    rng = random.Random(4)
    for _ in range(count(request) // 20):
        path = rng.choice(sorted((saved / "variables").iterdir()))
        data = bytearray(path.read_bytes())
        if rng.random() < .3: del data[rng.randrange(len(data)):]
        else: data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        (tmp_path / "variables" / path.name).write_bytes(data)
        tried(tmp_path)
        shutil.copyfile(path, tmp_path / "variables" / path.name)
    assert tried(tmp_path) == 2


# -- crafted -------------------------------------------------------------------------------------------------------------------------

def graph(*nodes, outputs=(), inputs=(([2], tf.float32),), within=()):
    return {"name": "g", "inputs": list(inputs), "nodes": list(nodes), "outputs": list(outputs), "graphs": list(within)}


EMPTY = {"name": "e", "inputs": [], "nodes": [], "outputs": []}


F = ([2], tf.float32)
SAME = {**EMPTY, "inputs": [F], "outputs": [Ref(0)]}

def choice(graphs, picks, refs=(Ref(0),), inputs=(([], tf.bool),), results=(), within=(EMPTY,)):
    "A graph with one condition: the first of `refs` chooses, the others are captured."
    what = {"name": "c", "graphs": graphs, "picks": picks}
    return graph(("branch", what, (refs[0], list(refs[1:])), (), [*results, ([], None)], True), inputs=inputs, within=within)

CRAFTED = {
    "unknown op": (graph(("op", "launch", (Ref(0),), (), [F], False)), "no op 'launch'"),
    "cycle": (graph(("op", "add", (Ref(0), Ref(2)), (), [F], False), ("op", "add", (Ref(1), Ref(0)), (), [F], False)), "not made before"),
    "itself": (graph(("op", "add", (Ref(0), Ref(1)), (), [F], False)), "not made before"),
    "arity": (graph(("op", "add", (Ref(0),), (), [F], False)), "takes 2 inputs"),
    "too many settings": (graph(("op", "add", (Ref(0), Ref(0)), (1, 2, 3, 4, 5), [F], False)), "settings"),
    "huge result": (graph(("op", "add", (Ref(0), Ref(0)), (), [([2**40, 2**40], tf.float32)], False)), "too large"),
    "negative": (graph(("op", "add", (Ref(0), Ref(0)), (), [([-1], tf.float32)], False)), "the shape"),
    "wrong kind of setting": (graph(("op", "reduce_sum", (Ref(0),), (None, "keep"), [([], tf.float32)], False)), "setting keepdims"),
    "function as setting": (graph(("op", "reduce_sum", (Ref(0),), (Public("tf.nn.moments"),), [([], tf.float32)], False)), "variable or "
    "a function"),
    "writes a file": (graph(("call", Public("tf.io.write_file"), (), (("x", "y"), {}), [], True)), "write_file"),
    "python": (graph(("call", Public("os.system"), (), (("x",), {}), [], True)), "os.system"),
    "private attribute": (graph(("effect", "assign_part", (), (Var(0), (0, Ref(0), "__init__", Ref(0))), [], False)), "effect"),
    "wrong arguments": (graph(("call", Public("tf.nn.moments"), (), ((), {"depth": 3}), [F, F], True)), "tf.nn.moments"),
    "act": (graph(("act", "print", (), (), [], False)), "no node"),
    "no variable": (graph(("read", Var(7), (), (), [F], False)), "variable 7"),
    "no output": (graph(outputs=[Ref(5)]), "no value"),
    "constant without array": (graph(("constant", "x", (), (), [F], False)), "constant"),
    "size of nothing": (graph(("size", "shape", (Ref(0),), 99, [([], tf.int32)], False)), "size"),
    "pull without a call": (graph(("pull", None, (Ref(0), [Ref(0)]), (), [F], True)), "pull"),
    "choice by a float": (choice([0], [[]], [Ref(0)], [F]), "a condition of"),
    "no such graph": (choice([1], [[]]), "runs the graphs"),
    "itself as a branch": (graph(within=[{**EMPTY, "inputs": [([], tf.bool)], "nodes": choice([0], [[]])["nodes"]}]), "runs the graphs"),
    "a graph for two": (choice([0, 0], [[], []]), "runs the graphs"),
    "branches of two types": (choice([0, 1], [[0], [0]], [Ref(0), Ref(1)], [([], tf.bool), F], [F], [SAME, {**SAME, "outputs": []}]),
                              "other types"),
    "a pick that is not there": (choice([0], [[3]]), "it picks"),
    "a loop that asks a number": (graph(("loop", {"name": "l", "graphs": [0, 1], "picks": [[], []], "shapes": [[2]]}, (None, [Ref(0)], []),
        (), [F, ([], None)], True), within=[SAME, SAME]), "other types"),
    "back from nothing": (graph(("back", {"outs": [], "sources": []}, (Ref(0), []), (), [], True)), "a back from"),
    "a table that is none": (graph(("call", Public("looked_up"), (), ((Thing(0), Ref(0)), {}), [F], True)), "no table"),
    "an object for a function": (graph(("call", Public("tf.nn.moments"), (), ((Ref(0), Thing(1)), {}), [F, F], True)), "cannot use"),
    "an optimizer as a table": (graph(("call", Public("looked_up"), (), ((Thing(2), Ref(0)), {}), [F], True)), "cannot use"),
    "an array that is none": (graph(("array", "put", (Ref(0), Ref(0), 0, False), (), [([], tf.variant)], False)), "a array of"),
    "a huge array of tensors": (graph(("array", "make", (2**50,), (), [([], tf.variant)], False)), "a array of"),
    "kept value as a number": (graph(("call", Public("tf.nn.moments"), (), ((Ref(0), [0]), {}),
    [([], tf.float32), ([], tf.float32), ([], None)], True),
                                     ("op", "add", (Ref(3), Ref(3)), (), [F], False)), "no array"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_graphs(name):
    data, message = CRAFTED[name]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message): checked_graph(data, 1, ["object", "table", "optimizer"])


def test_crafted_models(saved):
    value = unpacked((saved / "saved_model.pb").read_bytes())
    def root(**change): return {**value, "objects": [{**value["objects"][0], **change}, *value["objects"][1:]]}
    def instead(x): return {**value, "objects": [value["objects"][0], x, *value["objects"][2:]]}
    for bad in (root(parts={"__class__": 0}), root(parts={"x": 10**9}), root(kind="process"), root(more=1),
        instead({"kind": "asset", "parts": {}, "name": "../../etc/passwd"}),
                instead({"kind": "variable", "parts": {}, "number": 50}), {**value, "variables": [5]}, {**value, "objects": []}, [],
                {**value, "extra": 1},
                {**value, "signatures": {"n": {**value["signatures"]["n"], "outputs": []}}}):
        with pytest.raises(tf.errors.InvalidArgumentError): checked_model(bad)
    assert checked_model(value) is value


def test_a_tuple_that_holds_itself(saved, tmp_path):
    value = unpacked((saved / "saved_model.pb").read_bytes())
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    objects = [{"kind": "object", "parts": {"t": 1}}, {"kind": "tuple", "parts": {"0": 1}}]
    (tmp_path / "saved_model.pb").write_bytes(packed({**value, "objects": objects}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="holds itself"): tf.saved_model.load(str(tmp_path))
    chain = [{"kind": "object", "parts": {"t": i + 1}} for i in range(5000)] + [{"kind": "list", "parts": {}}]
    (tmp_path / "saved_model.pb").write_bytes(packed({**value, "objects": chain}))
    x, depth = tf.saved_model.load(str(tmp_path)), 0
    while hasattr(x, "t"): x, depth = x.t, depth + 1
    assert depth == 5000   # long is no harm
    tuples = [{"kind": "object", "parts": {"t": 1}}, *[{"kind": "tuple", "parts": {"0": i + 1}} for i in range(1, 5000)],
        {"kind": "list", "parts": {}}]
    (tmp_path / "saved_model.pb").write_bytes(packed({**value, "objects": tuples}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="deep"): tf.saved_model.load(str(tmp_path))


def test_no_pickle_no_eval_in_what_reads_files():
    import re
    for name in ("bundle", "trackable", "checkpoint", "manager", "things", "format", "graph_data", "validate", "rerun", "saved_function",
                 "saved_model"):
        text = (Path(tf.__file__).parent / "program" / f"{name}.py").read_text()
        assert not re.search(r"\bpickle\b|\beval\(|\bexec\(|\b__import__\b|\bimport_module\b", text), name
