"""Checkpoints: files that TensorFlow reads too, restores that wait, folders that survive crashes, damaged files."""
import gc
import json
import logging
import multiprocessing
import os
import random
import shutil
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import tfedu as tf
from tfedu.program import bundle as files

GOLDEN = Path(__file__).parent / "golden" / "checkpoint"


class Layer(tf.Module):
    def __init__(self, value):
        super().__init__()
        self.w = tf.Variable(value, name="w")


class Net(tf.Module):
    "The program that wrote `golden/checkpoint/ckpt-1` with TensorFlow."
    def __init__(self, blank=False):
        super().__init__()
        self.layers, self.heads = [Layer([1., 2.]), Layer([3., 4.])], {"head": Layer([[5.]])}
        self.scale, self.words = tf.Variable(6, dtype=tf.int64), tf.Variable(["a", "bcd"])
        self.half, self.flag = tf.Variable([1.5, 2.5], dtype=tf.bfloat16), tf.Variable([True, False])
        self.wave = tf.Variable([1 + 2j], dtype=tf.complex64)
        if blank:
            for v in self.variables: v.assign(tf.zeros_like(v))


def same(a, b): assert a.dtype is b.dtype and np.array_equal(a.numpy(), b.numpy())


# -- files ---------------------------------------------------------------------------------------------------------------------------

def test_reads_what_tensorflow_wrote():
    net = Net(blank=True)
    checkpoint = tf.train.Checkpoint(net=net)
    checkpoint.restore(str(GOLDEN / "ckpt-1")).assert_consumed()
    for a, b in zip(net.variables, Net().variables, strict=True): same(a, b)
    assert int(checkpoint.save_counter) == 1


def test_goes_on_with_a_training_that_tensorflow_began():
    expected = json.loads((GOLDEN / "expected.json").read_text())
    net, optimizer = Net(blank=True), tf.keras.optimizers.Adam(0.5)
    status = tf.train.Checkpoint(net=net, optimizer=optimizer).read(str(GOLDEN / "trained"))
    w = net.layers[0].w
    np.testing.assert_allclose(w.numpy(), expected["w"], rtol=1e-6)
    np.testing.assert_allclose(optimizer.get_slot(w, "m").numpy(), expected["m"], rtol=1e-6)
    optimizer.apply_gradients([(tf.constant(expected["gradient"]), w)])
    np.testing.assert_allclose(w.numpy(), expected["next"], rtol=1e-6)
    assert int(optimizer.iterations) == expected["iterations"] + 1
    status.assert_consumed()


def test_lists_what_tensorflow_lists():
    expected = json.loads((GOLDEN / "expected.json").read_text())["list"]
    assert [[name, shape] for name, shape in tf.train.list_variables(str(GOLDEN / "ckpt-1"))] == expected


def test_computes_the_checksum_that_tensorflow_computed():
    "Of 1.2 MB, which the checksum reads in lanes."
    data, checksum = files.array_bytes((np.arange(300000) % 7).astype(np.float32))
    entry = files.Bundle(str(GOLDEN / "wide")).entries["wide/.ATTRIBUTES/VARIABLE_VALUE"]
    assert (len(data), checksum) == (entry.size, entry.checksum)


def test_writes_the_bytes_of_the_data_that_tensorflow_wrote(tmp_path):
    net = Net()
    path = tf.train.Checkpoint(net=net).write(tmp_path / "ours")
    theirs, ours = files.Bundle(str(GOLDEN / "ckpt-1")), files.Bundle(path)
    assert theirs.entries.keys() == ours.entries.keys() | {"save_counter/.ATTRIBUTES/VARIABLE_VALUE"}
    for key, entry in ours.entries.items():
        if not key.startswith("_"): assert entry._replace(offset=0) == theirs.entries[key]._replace(offset=0)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8,
                                   tf.uint16, tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128, tf.string])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_every_type(tmp_path, dtype, shape):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, shape) if dtype is not tf.string else np.array([b"x" * i for i in range(int(np.prod(shape)))],
        object).reshape(shape)
    v = tf.Variable(tf.constant(a if dtype is tf.string else np.asarray(a).astype(dtype.as_numpy_dtype)), dtype=dtype)
    path = tf.train.Checkpoint(v=v).write(tmp_path / "c")
    blank = tf.Variable(tf.zeros_like(v))
    tf.train.Checkpoint(v=blank).read(path).assert_consumed()
    same(blank, v)


def test_many_blocks(tmp_path):
    table = {f"{i:x}/{'n' * (i % 50)}".encode(): b"v" * (i % 300) for i in range(2000)}
    assert files.read_table("", files.table(table)) == dict(sorted(table.items()))


def test_devices_have_their_own_files(tmp_path):
    saved = {n: tf.Variable(float(n)) for n in range(3)}
    class Away:   # a variable of another worker, as a checkpoint sees it
        device = "/job:worker/replica:0/task:1/device:CPU:0"
        def __saved__(self): return {"value": lambda: np.array(7.0)}
        def __restore__(self, saved): self.got = saved["value"]
    away = Away()
    checkpoint = tf.train.Checkpoint(here=saved[2], away=away)
    path = checkpoint.write(tmp_path / "c")
    assert sorted(os.listdir(tmp_path)) == ["c.data-00000-of-00002", "c.data-00001-of-00002", "c.index"]
    saved[2].assign(0.)
    checkpoint.read(path).assert_consumed()
    assert saved[2].numpy() == 2 and away.got == 7


def write_part(prefix, shard): files.write_shard(prefix, shard, 3, {f"part{shard}/{i}": np.full(1000, shard * 10 + i) for i in range(4)})


def test_processes_write_together(tmp_path):
    prefix = str(tmp_path / "big")
    workers = [multiprocessing.get_context("fork").Process(target=write_part, args=(prefix, i)) for i in range(3)]
    for w in workers: w.start()
    for w in workers: w.join()
    with pytest.raises(tf.errors.NotFoundError): files.Bundle(prefix)   # nothing is valid before it is merged
    files.merge(prefix, 3)
    found = files.Bundle(prefix)
    assert all((found.get(f"part{s}/{i}") == s * 10 + i).all() for s in range(3) for i in range(4))
    assert len(os.listdir(tmp_path)) == 4


def test_a_key_in_two_parts_is_an_error(tmp_path):
    prefix = str(tmp_path / "c")
    for i in range(2): files.write_shard(prefix, i, 2, {"same": np.array(i)})
    with pytest.raises(tf.errors.DataLossError, match="another part"): files.merge(prefix, 2)


# -- crashes and damage --------------------------------------------------------------------------------------------------------------

class Crash(BaseException): pass


def test_a_crash_at_any_step_leaves_a_whole_checkpoint(tmp_path):
    "Every call that changes a file may be the last one; what is read afterwards is all old or all new."
    names, seen, n = ("open", "os.replace", "os.remove", "os.fsync"), set(), 0
    def values(path):
        v, w = tf.Variable([0., 0.]), tf.Variable(0)
        tf.train.Checkpoint(v=v, w=w).read(path).assert_consumed()
        return v.numpy().tolist(), int(w)
    done = False
    while not done:
        folder = tmp_path / str(n)
        folder.mkdir()
        path = tf.train.Checkpoint(v=tf.Variable([1., 1.]), w=tf.Variable(1)).write(folder / "c")
        left = [n]
        def crashing(real, left=left):
            def call(*args, **kw):
                left[0] -= 1
                if left[0] < 0: raise Crash
                return real(*args, **kw)
            return call
        try:
            with patch("builtins.open", crashing(open)), patch("os.replace", crashing(os.replace)), patch("os.remove",
                crashing(os.remove)), \
                 patch("os.fsync", crashing(os.fsync)):
                tf.train.Checkpoint(v=tf.Variable([2., 2.]), w=tf.Variable(2)).write(path)
            done = True
        except Crash: pass
        found = values(path)
        assert found in (([1., 1.], 1), ([2., 2.], 2))
        seen.add(found[1])
        tf.train.Checkpoint(v=tf.Variable([3., 3.]), w=tf.Variable(3)).write(path)   # the next one repairs
        assert values(path) == ([3., 3.], 3) and sorted(os.listdir(folder)) == ["c.data-00000-of-00001", "c.index"]
        n += 1
    assert seen == {1, 2} and n > len(names)


def test_a_torn_write_is_not_seen(tmp_path):
    "The file that was being written is cut at every length."
    path = tf.train.Checkpoint(v=tf.Variable([1., 1.])).write(tmp_path / "c")
    whole = Path(f"{path}.index").read_bytes()
    for length in range(0, len(whole), 7):
        Path(f"{path}.index.aside").write_bytes(whole[:length])
        Path(f"{path}.data-00000-of-00001.aside").write_bytes(b"x" * length)
        v = tf.Variable([0., 0.])
        tf.train.Checkpoint(v=v).read(path).assert_consumed()
        assert v.numpy().tolist() == [1, 1]


def damaged_files(path, rng, count):
    for _ in range(count):
        end = rng.choice([".index", ".data-00000-of-00001"])
        data = bytearray(Path(path + end).read_bytes())
        if rng.random() < .3: del data[rng.randrange(len(data)):]
        else:
            for _ in range(rng.choice([1, 1, 3])): data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        yield end, bytes(data)


def test_damaged_files_give_clear_errors(tmp_path, request):
    rng = random.Random(0)
    path = tf.train.Checkpoint(net=Net()).write(tmp_path / "good")
    bad = str(tmp_path / "bad")
    silent = 0
    for end, data in damaged_files(path, rng, 10_000 if request.config.getoption("--slow", False) else 300):
        for other in (".index", ".data-00000-of-00001"): shutil.copyfile(path + other, bad + other)
        Path(bad + end).write_bytes(data)
        net = Net(blank=True)
        try: tf.train.Checkpoint(net=net).read(bad).assert_consumed()
        except (tf.errors.DataLossError, tf.errors.NotFoundError, tf.errors.UnimplementedError): continue
        silent += 1
        for a, b in zip(net.variables, Net().variables, strict=True): same(a, b)   # what was not noticed changed nothing
    assert silent < 10


def test_a_table_that_lies():
    "Right checksums, wrong contents."
    from tfedu.ops.wire import field
    header = {b"": field(1, 1)}
    def load(tmp, pairs, data=b""):
        Path(f"{tmp}.index").write_bytes(files.table(pairs))
        Path(f"{tmp}.data-00000-of-00001").write_bytes(data)
        found = files.Bundle(tmp)
        return [found.get(key) for key in found.entries]
    import tempfile
    tmp = os.path.join(tempfile.mkdtemp(), "c")
    entry = files.Entry(tf.float32, (2**40, 2**20), 0, 0, 8, bytes(4))
    with pytest.raises(tf.errors.DataLossError): load(tmp, {**header, b"huge": entry.message()})
    with pytest.raises(tf.errors.DataLossError, match="beyond the end"): load(tmp,
        {**header, b"far": entry._replace(shape=(2,), offset=2**50).message()})
    with pytest.raises(tf.errors.DataLossError, match="data file"): load(tmp,
        {**header, b"shard": entry._replace(shape=(2,), shard=5).message()})
    with pytest.raises(tf.errors.DataLossError, match="0 data files"): load(tmp, {b"a": b""})
    with pytest.raises(tf.errors.DataLossError, match="0 data files"): load(tmp, {b"": field(1, 0)})
    with pytest.raises(tf.errors.DataLossError, match="texts"): load(tmp,
        {**header, b"s": files.Entry(tf.string, (2**40,), 0, 0, 4, bytes(4)).message()}, bytes(4))
    with pytest.raises(tf.errors.UnimplementedError): load(tmp, {b"": field(1, 1) + field(2, 1)})
    with pytest.raises(tf.errors.DataLossError): load(tmp, {**header, b"\xff": entry._replace(shape=(2,)).message()})


# -- restoring -----------------------------------------------------------------------------------------------------------------------

def trained():
    net, optimizer = Net(), tf.keras.optimizers.Adam(0.1)
    floats = [v for v in net.trainable_variables if v.dtype is tf.float32]
    for step in range(3): optimizer.apply_gradients([(tf.ones_like(v) * (step + 1.), v) for v in floats])
    return net, optimizer, floats


def test_training_goes_on_as_if_nothing_had_happened(tmp_path):
    net, optimizer, floats = trained()
    path = tf.train.Checkpoint(net=net, optimizer=optimizer).save(tmp_path / "ckpt")
    other, second = Net(blank=True), tf.keras.optimizers.Adam(0.5)
    status = tf.train.Checkpoint(net=other, optimizer=second).restore(path)
    with pytest.raises(AssertionError, match=r"\(root\).optimizer"): status.assert_consumed()   # the counter does not exist yet
    others = [v for v in other.trainable_variables if v.dtype is tf.float32]
    for o, vs in ((optimizer, floats), (second, others)): o.apply_gradients([(tf.ones_like(v), v) for v in vs])
    status.assert_consumed()
    for a, b in zip(floats, others, strict=True):
        same(a, b)
        for slot in ("m", "v"): same(optimizer.get_slot(a, slot), second.get_slot(b, slot))
    assert float(second.learning_rate) == pytest.approx(0.1)


def test_slots_are_there_at_once(tmp_path):
    net, optimizer, floats = trained()
    path = tf.train.Checkpoint(net=net, optimizer=optimizer).write(tmp_path / "c")
    other, second = Net(blank=True), tf.keras.optimizers.Adam()
    tf.train.Checkpoint(net=other, optimizer=second).read(path).expect_partial()
    same(second.get_slot(other.layers[1].w, "v"), optimizer.get_slot(net.layers[1].w, "v"))


def test_values_wait_for_attributes_lists_and_dictionaries(tmp_path):
    path = tf.train.Checkpoint(net=Net()).write(tmp_path / "c")
    net = tf.Module()
    status = tf.train.Checkpoint(net=net).read(path)
    net.scale = tf.Variable(0, dtype=tf.int64)
    assert int(net.scale) == 6
    net.layers = [Layer([0., 0.])]
    assert net.layers[0].w.numpy().tolist() == [1, 2]
    net.layers.append(Layer([0., 0.]))
    net.heads = {"head": Layer([[0.]])}
    assert net.layers[1].w.numpy().tolist() == [3, 4] and net.heads["head"].w.numpy() == 5
    full = Net(blank=True)
    for name in ("words", "half", "flag", "wave"): setattr(net, name, getattr(full, name))
    status.assert_consumed()
    assert "_waiting" not in vars(net)


def test_the_last_restore_wins(tmp_path):
    paths = [tf.train.Checkpoint(m=Layer([float(i)])).write(tmp_path / str(i)) for i in range(2)]
    m = tf.Module()
    checkpoint = tf.train.Checkpoint(m=m)
    kept = [checkpoint.read(p).expect_partial() for p in paths]
    m.w = tf.Variable([9.])
    assert m.w.numpy() == 1 and kept


def test_a_variable_made_in_a_function_gets_its_value(tmp_path):
    path = tf.train.Checkpoint(m=Layer([3.])).write(tmp_path / "c")
    class Lazy(tf.Module):
        w = None
        @tf.function
        def __call__(self, x):
            if self.w is None: self.w = tf.Variable([0.])
            return self.w * x
    lazy = Lazy()
    tf.train.Checkpoint(m=lazy).read(path)
    assert lazy(tf.constant(2.)).numpy() == 6


def test_shared_objects_stay_shared(tmp_path):
    a = Layer([1.])
    path = tf.train.Checkpoint(first=a, second=a).write(tmp_path / "c")
    assert len([k for k in files.Bundle(path).entries if k.endswith("VALUE")]) == 1
    b = Layer([0.])
    tf.train.Checkpoint(first=b, second=b).read(path).assert_consumed()
    x, y = Layer([0.]), Layer([0.])
    status = tf.train.Checkpoint(first=x, second=y).read(path)
    assert (x.w.numpy(), y.w.numpy()) == (1, 0)
    with pytest.raises(AssertionError, match="not bound"): status.assert_consumed()


def test_statuses(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.), b=tf.Variable(2.)).write(tmp_path / "c")
    a = tf.Variable(0.)
    status = tf.train.Checkpoint(a=a).read(path).expect_partial()
    assert status.assert_existing_objects_matched() is status and status.assert_nontrivial_match() is status
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\).b"): status.assert_consumed()
    none = tf.train.Checkpoint(z=tf.Variable(0.)).read(path).expect_partial()
    with pytest.raises(AssertionError, match="Nothing except the root object"): none.assert_nontrivial_match()
    with pytest.raises(AssertionError, match="not bound to checkpointed values"): none.assert_existing_objects_matched()
    status.initialize_or_restore()
    status.run_restore_ops()
    empty = tf.train.Checkpoint(a=a).restore(None)
    for question in (empty.assert_consumed, empty.assert_existing_objects_matched, empty.assert_nontrivial_match, empty.run_restore_ops):
        with pytest.raises(AssertionError, match="No checkpoint specified"): question()
    assert empty.expect_partial() is empty and empty.initialize_or_restore() is None


def test_unused_values_are_warned_of_once_nobody_waits(tmp_path, caplog):
    path = tf.train.Checkpoint(a=tf.Variable(1.), b=tf.Variable(2.)).write(tmp_path / "c")
    logging.getLogger("tfedu").propagate = True
    with caplog.at_level(logging.WARNING, "tfedu"):
        tf.train.Checkpoint(a=tf.Variable(0.)).read(path).expect_partial()
        gc.collect()
        assert "Unresolved" not in caplog.text
        tf.train.Checkpoint(a=tf.Variable(0.)).read(path)
        gc.collect()
    assert "Unresolved object in checkpoint: (root).b" in caplog.text and "(root).a" not in caplog.text


def test_other_shapes_and_types_are_refused(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1., 2.])).write(tmp_path / "c")
    with pytest.raises(ValueError, match="incompatible tensor with shape"): tf.train.Checkpoint(v=tf.Variable([0.])).read(path)
    with pytest.raises(tf.errors.InvalidArgumentError,
        match="expected float64"): tf.train.Checkpoint(v=tf.Variable([0., 0.], dtype=tf.float64)).read(path)
    free = tf.Variable([0.], shape=[None])
    tf.train.Checkpoint(v=free).read(path).assert_consumed()
    assert free.numpy().tolist() == [1, 2]


def test_a_root_lends_its_names(tmp_path):
    path = tf.train.Checkpoint(Layer([4.])).write(tmp_path / "c")
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in files.Bundle(path).entries
    m = tf.Module()
    status = tf.train.Checkpoint(root=m).read(path)
    m.w = tf.Variable([0.])
    assert m.w.numpy() == 4
    status.assert_existing_objects_matched()
    with pytest.raises(ValueError, match="root.w already exists"): tf.train.Checkpoint(m, w=tf.Variable(0.))


def test_what_cannot_be_saved_is_refused():
    with pytest.raises(ValueError, match="trackable"): tf.train.Checkpoint(x=5)
    with pytest.raises(ValueError, match="text as keys"): tf.train.Checkpoint(d={1: tf.Variable(1.)}).write("/nonexistent/x")
    @tf.function
    def f(): tf.train.Checkpoint(v=tf.Variable(1.)).save("x")
    with pytest.raises(NotImplementedError, match="outside of a tf.function"): f()


def test_generators_python_state_loss_scales_and_cycles(tmp_path):
    class Epoch(tf.train.experimental.PythonState):
        n = 0
        def serialize(self): return json.dumps(self.n)
        def deserialize(self, text): self.n = json.loads(text)
    def program():
        m = tf.Module()
        m.me, m.generator, m.epoch, m.scale = m, tf.random.Generator.from_seed(1), Epoch(), tf.train.experimental.DynamicLossScale()
        return m, tf.train.Checkpoint(m=m)
    m, checkpoint = program()
    m.generator.normal([3])
    m.epoch.n = 5
    m.scale.update([tf.constant(np.inf)])
    path = checkpoint.save(tmp_path / "c")
    other, again = program()
    again.restore(path).assert_consumed()
    assert np.array_equal(other.generator.normal([4]).numpy(), m.generator.normal([4]).numpy())
    assert other.epoch.n == 5 and float(other.scale()) == 2**14


def test_averages_can_be_saved_as_variables(tmp_path):
    w, ema = tf.Variable(1., name="w"), tf.train.ExponentialMovingAverage(0.5)
    ema.apply([w])
    w.assign(3.)
    ema.apply([w])
    assert float(ema.average(w)) == 2 and ema.average_name(w) == "w/ExponentialMovingAverage"
    assert list(ema.variables_to_restore([w])) == ["w/ExponentialMovingAverage"]
    path = tf.train.Checkpoint(average=ema.average(w)).write(tmp_path / "c")
    assert tf.train.load_variable(path, "average/.ATTRIBUTES/VARIABLE_VALUE") == 2


def test_averages_inside_a_function():
    w, ema = tf.Variable(1.), tf.train.ExponentialMovingAverage(0.9)
    ema.apply([w])
    @tf.function
    def step():
        w.assign_add(1.)
        ema.apply([w])
    for _ in range(3): step()
    expected = 1.
    for x in (2., 3., 4.): expected -= (expected - x) * .1
    assert float(ema.average(w)) == pytest.approx(expected)


# -- folders -------------------------------------------------------------------------------------------------------------------------

def test_manager_keeps_the_last(tmp_path):
    v = tf.Variable(0.)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, max_to_keep=2)
    for i in range(4): manager.save(v.assign(float(i)) and None)
    assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-3",
        "ckpt-4"] and manager.latest_checkpoint == tf.train.latest_checkpoint(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-3.data-00000-of-00001", "ckpt-3.index", "ckpt-4.data-00000-of-00001",
        "ckpt-4.index"]
    w = tf.Variable(0.)
    again = tf.train.CheckpointManager(tf.train.Checkpoint(v=w), tmp_path, max_to_keep=2)
    assert again.restore_or_initialize() == manager.latest_checkpoint and float(w) == 3
    assert os.path.basename(again.save()) == "ckpt-5" and [os.path.basename(p) for p in again.checkpoints] == ["ckpt-4", "ckpt-5"]
    assert os.path.basename(again.save(checkpoint_number=70)) == "ckpt-70"


def test_manager_begins_if_there_is_nothing(tmp_path):
    started = []
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(), tmp_path / "new", 1, init_fn=lambda: started.append(1))
    assert manager.restore_or_initialize() is None and started == [1] and manager.latest_checkpoint is None and manager.checkpoints == []


def test_tensorflow_reads_our_note_and_we_read_theirs(tmp_path):
    shutil.copytree(GOLDEN, tmp_path / "theirs")
    state = tf.train.get_checkpoint_state(tmp_path / "theirs")
    assert os.path.basename(state.model_checkpoint_path) == "ckpt-1"
    assert tf.train.latest_checkpoint(tmp_path / "theirs").endswith("theirs/ckpt-1")


def test_readers(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([[1., 2.]])).save(tmp_path / "c")
    reader = tf.train.load_checkpoint(tmp_path)
    key = "v/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.get_variable_to_shape_map()[key] == [1,
        2] and reader.get_variable_to_dtype_map()[key] is tf.float32 and reader.has_tensor(key)
    assert reader.get_tensor(key).tolist() == [[1, 2]] and key in reader.debug_string().decode()
    assert (key, [1, 2]) in tf.train.list_variables(path)
    with pytest.raises(tf.errors.NotFoundError): tf.train.load_variable(path, "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"): tf.train.load_checkpoint(tmp_path / "empty")


def test_iterator_waits_for_the_next(tmp_path):
    checkpoint, seen = tf.train.Checkpoint(v=tf.Variable(1.)), []
    def timed_out():
        if len(seen) == 3: return True
        checkpoint.save(tmp_path / "c")
        return False
    for path in tf.train.checkpoints_iterator(tmp_path, timeout=0, timeout_fn=timed_out): seen.append(os.path.basename(path))
    assert seen == ["c-1", "c-2", "c-3"]
