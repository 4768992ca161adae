"""Device names, tf.device scopes and tf.config."""
import contextvars
import subprocess
import sys
import textwrap
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.core import config, device, trace
from tfedu.core.device import LOCAL, RUNTIME, Driver, Place, current_device, default_device, device_table, merge, parse, register_physical

HERE = "/job:localhost/replica:0/task:0"
CPU0, CPU1, GPU0 = (f"{HERE}/device:{d}" for d in ("CPU:0", "CPU:1", "GPU:0"))
CARD = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
PROCESSOR = tf.config.PhysicalDevice("/physical_device:CPU:0", "CPU")
PIECE = tf.config.LogicalDeviceConfiguration()


@pytest.fixture
def fresh():
    "The devices and switches of a process that has just started; what was there before comes back."
    shelves = vars(RUNTIME), config.GROWTH, config.THREADS, config.SWITCHES, config.OPTIONS
    saved = [dict(shelf) for shelf in shelves]
    vars(RUNTIME).update({k: v for k, v in vars(device.Runtime()).items() if k != "lock"})
    config.GROWTH.clear()
    yield RUNTIME
    for shelf, old in zip(shelves, saved, strict=True):
        shelf.clear()
        shelf.update(old)


@pytest.fixture
def two(fresh):
    "A process whose processor is cut in two."
    tf.config.set_logical_device_configuration(PROCESSOR, [PIECE, PIECE])
    return fresh


@pytest.fixture(autouse=True)
def nothing_left():
    "No test leaves a scope open."
    yield
    assert current_device() is None and not [reason for reason in trace.UNUSUAL if "device" in reason]


def in_thread(f):
    "What `f` returns, or raises, in a new thread."
    result = []
    def work():
        try: result.append(f())
        except Exception as error: result.append(error)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert result
    return result[0]


def in_process(root, code):
    "What `code` prints in a new interpreter."
    code = "import tfedu as tf\n" + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


# ---------------------------------------------------------------- names

@pytest.mark.parametrize("spelling, expected", [
    ("/CPU:0", "/device:CPU:0"), ("cpu:0", "/device:CPU:0"), ("CPU", "/device:CPU:*"), ("/cpu", "/device:CPU:*"),
    ("Cpu:1", "/device:CPU:1"), ("/device:CPU:1", "/device:CPU:1"), ("device:cpu:1", "/device:CPU:1"), ("/device:GPU:*", "/device:GPU:*"),
    ("gpu:0", "/device:GPU:0"),
    ("/GPU:12", "/device:GPU:12"), ("tpu:0", "/device:TPU:0"), ("CPU:*", "/device:CPU:*"), ("CPU:00", "/device:CPU:0"),
    ("/device:XLA_CPU:0", "/device:XLA_CPU:0"), ("/device:foo:3", "/device:foo:3"),
    ("/job:localhost/device:CPU:0", "/job:localhost/device:CPU:0"), ("/job:ps-7/task:1/gpu:2", "/job:ps-7/task:1/device:GPU:2"),
    ("/task:0/job:localhost/cpu:1", "/job:localhost/task:0/device:CPU:1"), ("/replica:*/task:*/job:*", ""), ("/replica:3", "/replica:3"),
    (CPU1, CPU1), ("", ""), ("/", ""), ("//CPU:0/", "/device:CPU:0"), ("/job:0/cpu:0", "/job:0/device:CPU:0"), ("/job:a/job:b", "/job:b"),
])
def test_every_spelling(spelling, expected):
    assert str(parse(spelling)) == expected


@pytest.mark.parametrize("name", [
    "foo", "/foo:0", "/foo/bar", "CPU:x", "CPU:-1", "CPU:1.5", "CPU:", "/device:", "/device:CPU", "/device:CPU:", "/task:x", "/task:-1",
    "/job:a:b", " CPU:1", "CPU:1 ", "XLA_CPU:0", "/JOB:localhost/cpu:0", "CPU:0:0", "/job:/cpu:0", "CPU:\N{ARABIC-INDIC DIGIT ONE}",
    "CPU:0\n", "\0", "/CPU:0/CPU:1", "/cpu:0/gpu:0", "/cpu/device:CPU:0",
])
def test_malformed_names(name):
    with pytest.raises(ValueError, match="tf.device") as e: tf.device(name)
    assert repr(name) in str(e.value)


@pytest.mark.parametrize("name", [3, 0, b"CPU:0", ("CPU", 0), ["CPU:0"], 1.5])
def test_what_is_no_name(name):
    with pytest.raises(ValueError, match="expected a device name"): tf.device(name)


def test_functions_are_refused_when_executing_eagerly():
    with pytest.raises(RuntimeError, match="functions"): tf.device(lambda op: "/CPU:0")


indices = st.none() | st.integers(0, 10 ** 6)
kinds = st.one_of(st.tuples(st.none(), st.none()), st.tuples(st.sampled_from(["CPU", "GPU", "TPU", "XLA_CPU"]), indices))
places = st.builds(lambda job, replica, task, kind: Place(job, replica, task, *kind),
                   st.none() | st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_-]*", fullmatch=True), indices, indices, kinds)


@given(places, places)
def test_names_survive_and_merge(inner, outer):
    assert parse(str(inner)) == inner
    merged = merge(inner, outer)
    assert all(m == (o if i is None else i) for m, i, o in zip(merged, inner, outer, strict=True))
    assert parse(str(merge(merged, LOCAL))) == merge(merged, LOCAL) and None not in merge(merged, LOCAL)


# ---------------------------------------------------------------- what there is

def test_namedtuples_look_like_tensorflows(fresh):
    assert repr(tf.config.list_physical_devices()) == "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]"
    assert repr(tf.config.list_logical_devices()) == "[LogicalDevice(name='/device:CPU:0', device_type='CPU')]"
    assert repr(tf.config.LogicalDeviceConfiguration(5)) == "LogicalDeviceConfiguration(memory_limit=5, experimental_priority=None)"
    assert tf.config.LogicalDevice("/device:CPU:0", "CPU") == tf.config.list_logical_devices("CPU")[0]
    assert tf.config.list_physical_devices("GPU") == tf.config.list_physical_devices("cpu") == tf.config.list_logical_devices("GPU") == []


def test_looking_fixes_nothing(fresh):
    tf.config.list_physical_devices(), tf.config.get_visible_devices(), tf.config.get_logical_device_configuration(PROCESSOR)
    default_device(), tf.config.set_soft_device_placement(True), tf.device("/CPU:0"), tf.config.experimental.get_device_details(PROCESSOR)
    with tf.device(None): pass
    assert fresh.table is None


@pytest.mark.parametrize("use", [
    tf.config.list_logical_devices, lambda: tf.device("/CPU:0").__enter__(), lambda: default_device("cpu"), device_table],
    ids=["list_logical_devices", "tf.device", "default_device", "device_table"])
def test_using_fixes_everything(fresh, use):
    register_physical(CARD)
    contextvars.copy_context().run(use)
    trace.UNUSUAL[:] = [reason for reason in trace.UNUSUAL if reason != f"tf.device {CPU0}"]
    again = [CARD, PROCESSOR]
    with pytest.raises(RuntimeError, match="Virtual devices cannot be modified after being initialized"):
        tf.config.set_logical_device_configuration(PROCESSOR, [PIECE, PIECE])
    with pytest.raises(RuntimeError, match="Visible devices cannot be modified after being initialized"):
        tf.config.set_visible_devices([], "GPU")
    with pytest.raises(RuntimeError, match="Physical devices cannot be modified after being initialized"):
        tf.config.experimental.set_memory_growth(CARD, True)
    with pytest.raises(RuntimeError, match="Intra op parallelism cannot be modified after initialization"):
        tf.config.threading.set_intra_op_parallelism_threads(3)
    with pytest.raises(RuntimeError, match="Inter op parallelism cannot be modified after initialization"):
        tf.config.threading.set_inter_op_parallelism_threads(3)
    with pytest.raises(RuntimeError, match="too late"): register_physical(CARD._replace(name="/physical_device:GPU:1"))
    register_physical(CARD)
    assert again == sorted(tf.config.get_visible_devices(), key=lambda d: d.device_type, reverse=True)


def test_saying_it_again_is_no_change(two):
    tf.config.set_visible_devices(PROCESSOR)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    device_table()
    tf.config.set_logical_device_configuration(PROCESSOR, (PIECE for _ in range(2)))
    tf.config.set_visible_devices([PROCESSOR])
    tf.config.threading.set_inter_op_parallelism_threads(2)
    assert list(device_table()) == [CPU0, CPU1]


def test_logical_devices_in_a_new_process(root):
    assert in_process(root, """
        cpu, = tf.config.list_physical_devices("CPU")
        assert tf.config.get_logical_device_configuration(cpu) is None
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
        print(len(tf.config.get_logical_device_configuration(cpu)))
        print(*[d.name for d in tf.config.list_logical_devices()])
        try: tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        except RuntimeError as error: print(error)
        from tfedu.core.device import current_device
        with tf.device("/CPU:3"): print(current_device())
    """) == ["4", "/device:CPU:0 /device:CPU:1 /device:CPU:2 /device:CPU:3",
             "tf.config.set_logical_device_configuration: Virtual devices cannot be modified after being initialized. "
             "Choose before the first device is used", f"{HERE}/device:CPU:3"]


def test_import_and_aliases_fix_nothing_in_a_new_process(root):
    assert in_process(root, """
        import tfedu.core.device, tfedu.core.config
        from tfedu.core.device import RUNTIME
        x = tf.config.experimental
        cpu, = x.list_physical_devices()
        x.set_virtual_device_configuration(cpu, [x.VirtualDeviceConfiguration()] * 2)
        x.set_visible_devices(x.get_visible_devices())
        print(len(x.get_virtual_device_configuration(cpu)), RUNTIME.table)
        print(len(x.list_logical_devices()), len(RUNTIME.table))
    """) == ["2 None", "2 2"]


def test_aliases():
    x = tf.config.experimental
    assert x.list_physical_devices is tf.config.list_physical_devices and x.list_logical_devices is tf.config.list_logical_devices
    assert x.VirtualDeviceConfiguration is tf.config.LogicalDeviceConfiguration
    assert x.set_virtual_device_configuration is tf.config.set_logical_device_configuration
    assert x.get_virtual_device_configuration is tf.config.get_logical_device_configuration
    assert x.set_visible_devices is tf.config.set_visible_devices and x.get_visible_devices is tf.config.get_visible_devices
    assert tf.config.experimental_run_functions_eagerly is tf.config.run_functions_eagerly
    assert tf.config.experimental_functions_run_eagerly is tf.config.functions_run_eagerly


def test_pieces_are_checked(fresh):
    setter = tf.config.set_logical_device_configuration
    for bad in (tf.config.LogicalDeviceConfiguration(memory_limit=10), tf.config.LogicalDeviceConfiguration(None, 1)):
        with pytest.raises(ValueError, match="memory limit nor a priority"): setter(PROCESSOR, [PIECE, bad])
    with pytest.raises(TypeError, match="LogicalDeviceConfiguration for each piece, got 'x'"): setter(PROCESSOR, [PIECE, "x"])
    with pytest.raises(TypeError): setter(PROCESSOR, None)
    for bad in (CARD, "CPU:0", None, [PROCESSOR]):
        with pytest.raises(ValueError, match="unrecognized device"): setter(bad, [PIECE])
        with pytest.raises(ValueError, match="unrecognized device"): tf.config.get_logical_device_configuration(bad)
    assert tf.config.get_logical_device_configuration(PROCESSOR) is None
    setter(PROCESSOR, [PIECE])
    tf.config.get_logical_device_configuration(PROCESSOR).append(PIECE)
    assert len(tf.config.list_logical_devices()) == 1


def test_visible_devices(fresh):
    register_physical(CARD)
    assert tf.config.get_visible_devices() == [PROCESSOR, CARD] and tf.config.get_visible_devices("GPU") == [CARD]
    tf.config.set_visible_devices([], "GPU")
    assert tf.config.get_visible_devices() == [PROCESSOR]
    tf.config.set_visible_devices([CARD, CARD], "GPU")
    assert tf.config.get_visible_devices() == [PROCESSOR, CARD]
    tf.config.set_visible_devices([CARD, PROCESSOR])
    assert [d.name for d in tf.config.list_logical_devices()] == ["/device:CPU:0", "/device:GPU:0"]
    for bad in ("x", None, [None], [PROCESSOR, "x"], CARD._replace(name="/physical_device:GPU:7")):
        with pytest.raises(ValueError, match="unrecognized device"): tf.config.set_visible_devices(bad)
    with pytest.raises(ValueError, match="of type 'GPU'"): tf.config.set_visible_devices(PROCESSOR, "GPU")


@pytest.mark.parametrize("hide", [
    lambda: tf.config.set_visible_devices([]),
    lambda: tf.config.set_logical_device_configuration(PROCESSOR, []),
], ids=["hidden", "no pieces"])
def test_no_processor_left(fresh, hide):
    hide()
    with pytest.raises(tf.errors.NotFoundError, match="no CPU device is left"): tf.config.list_logical_devices()
    with pytest.raises(tf.errors.NotFoundError):
        with tf.device("/CPU:0"): pass
    tf.config.set_visible_devices([PROCESSOR])
    tf.config.set_logical_device_configuration(PROCESSOR, [PIECE])
    assert len(tf.config.list_logical_devices()) == 1


def test_cards_are_a_seam(fresh):
    register_physical(CARD, Driver(lambda: {"device_name": "a card"}, lambda: 42))
    pieces = [tf.config.LogicalDeviceConfiguration(100), tf.config.LogicalDeviceConfiguration(200, 1)]
    tf.config.set_logical_device_configuration(CARD, pieces)
    assert default_device() == GPU0
    assert list(device_table()) == [CPU0, GPU0, f"{HERE}/device:GPU:1"]
    assert device_table()[f"{HERE}/device:GPU:1"] == (("/device:GPU:1", "GPU"), CARD, (200, 1))
    assert tf.config.experimental.get_device_details(CARD) == {"device_name": "a card"}
    assert tf.config.experimental.get_memory_usage("gpu:1") == 42
    with pytest.warns(UserWarning, match="GPU:0 is used instead"):
        with tf.device("/GPU:7"): assert current_device() == GPU0
    with tf.device("gpu"): assert current_device() == GPU0
    with tf.device(""): assert current_device() == CPU0


def test_table_is_built_once_by_many_threads(two):
    tables, start = [], threading.Barrier(8)
    def work():
        start.wait(60)
        tables.append(device_table())
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join(60)
    assert len(tables) == 8 and all(table is tables[0] for table in tables)


# ---------------------------------------------------------------- tf.device

@pytest.mark.parametrize("names, expected", [
    (["/CPU:0"], CPU0), (["cpu:1"], CPU1), (["CPU"], CPU0), (["/device:CPU:1"], CPU1), ([CPU1], CPU1), ([""], CPU0), (["/task:0"], CPU0),
    ([None], None), (["/CPU:1", "/job:localhost"], CPU1), (["/job:localhost", "/CPU:1"], CPU1), (["/CPU:1", "/task:0"], CPU1),
    (["/CPU:1", None], None),
    (["/CPU:1", ""], CPU1), (["/CPU:1", "CPU"], CPU1), (["/CPU:1", "/CPU:0"], CPU0), (["/CPU:1", "/device:CPU:*"], CPU1),
    (["/CPU:1", None, ""], CPU0), (["/CPU:1", None, "CPU:1", None], None),
])
def test_scopes(two, names, expected):
    scopes = [tf.device(name) for name in names]
    for scope in scopes: scope.__enter__()
    assert current_device() == expected
    assert trace.UNUSUAL.count(f"tf.device {CPU1}") + trace.UNUSUAL.count(f"tf.device {CPU0}") == len([n for n in names if n is not None])
    for scope in reversed(scopes): scope.__exit__(None, None, None)


def test_nesting_comes_back(two):
    seen = []
    with tf.device("/CPU:1"):
        seen.append(current_device())
        with tf.device("/CPU:0"): seen.append(current_device())
        seen.append(current_device())
    assert [*seen, current_device()] == [CPU1, CPU0, CPU1, None]


def test_a_logical_device_is_a_name(two):
    for logical, full in zip(tf.config.list_logical_devices(), device_table(), strict=True):
        with tf.device(logical): assert current_device() == full


def test_errors_leave_nothing_behind(two):
    for error in (KeyError, KeyboardInterrupt, SystemExit, GeneratorExit):
        with pytest.raises(error):
            with tf.device("/CPU:1"), tf.device("/CPU:0"): raise error
        assert current_device() is None and trace.UNUSUAL == []


def test_one_object_many_times(two):
    scope = tf.device("/CPU:1")
    for _ in range(2):
        with scope:
            with scope:
                with tf.device("/CPU:0"), scope: assert current_device() == CPU1
            assert current_device() == CPU1 and len(trace.UNUSUAL) == 1


def test_threads_have_their_own_scope(two):
    scope, start, seen = tf.device("/CPU:1"), threading.Barrier(8), set()
    def work(i):
        start.wait(60)
        for j in range(200):
            name = f"/CPU:{(i + j) % 2}"
            with tf.device(name), scope, tf.device(name if j % 3 else None):
                seen.add((name[-1] if j % 3 else None) == (None if current_device() is None else current_device()[-1]))
    with tf.device("/CPU:1"):
        assert in_thread(current_device) is None
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join(60)
        assert current_device() == CPU1 and trace.UNUSUAL == [f"tf.device {CPU1}"]
    assert seen == {True}


def test_closing_in_the_wrong_order(two):
    outer, inner = tf.device("/CPU:0"), tf.device("/CPU:1")
    with outer:
        with inner:
            with pytest.raises(RuntimeError, match="another is open inside"): outer.__exit__(None, None, None)
            assert isinstance(in_thread(lambda: inner.__exit__(None, None, None)), RuntimeError)
            assert current_device() == CPU1
        assert current_device() == CPU0
    with pytest.raises(RuntimeError): outer.__exit__(None, None, None)


# ---------------------------------------------------------------- missing devices

def test_soft_placement_warns_and_is_right(fresh):
    assert tf.config.get_soft_device_placement() is True
    with pytest.warns(UserWarning, match="no device .*GPU:0, .*CPU:0 is used instead") as told:
        with tf.device("/GPU:0"):
            assert current_device() == CPU0
            with pytest.warns(UserWarning, match="GPU:0"), tf.device("/job:localhost"): assert current_device() == CPU0
            with tf.device("/CPU:0"): assert current_device() == CPU0
    assert told[0].filename == __file__


@pytest.mark.parametrize("name", ["gpu:0", "/CPU:7", "/device:foo:0", "TPU"])
def test_strict_placement(fresh, name):
    tf.config.set_soft_device_placement(False)
    assert tf.config.get_soft_device_placement() is False
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        with tf.device(name): pytest.fail("must not run")
    assert str(merge(parse(name), LOCAL)) in str(e.value) and CPU0 in str(e.value)
    with pytest.raises(tf.errors.InvalidArgumentError): default_device(name)
    with tf.device("/CPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
        tf.device(name).__enter__()


@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.parametrize("name", ["/job:worker", "/job:worker/task:1/CPU:0", "/task:1", "/job:Localhost/cpu:0"])
def test_other_machines_are_never_replaced(fresh, soft, name):
    tf.config.set_soft_device_placement(soft)
    with pytest.raises(tf.errors.InvalidArgumentError, match="there is no device"):
        with tf.device(name): pytest.fail("must not run")


# ---------------------------------------------------------------- switches

def test_memory_growth(fresh):
    get, put = tf.config.experimental.get_memory_growth, tf.config.experimental.set_memory_growth
    register_physical(CARD)
    assert get(CARD) is None
    put(CARD, True)
    assert get(CARD) is True
    with pytest.raises(TypeError, match="'yes'"): put(CARD, "yes")
    for bad in (PROCESSOR, "GPU:0", CARD._replace(name="x")):
        with pytest.raises(ValueError): put(bad, True)
        with pytest.raises(ValueError): get(bad)
    tf.config.set_logical_device_configuration(CARD, [PIECE])
    with pytest.raises(ValueError, match="cut into logical devices"): put(CARD, False)


def test_details_and_memory(fresh):
    assert tf.config.experimental.get_device_details(PROCESSOR) == {}
    for bad in ("CPU:0", CARD, tf.config.LogicalDevice("/device:CPU:0", "CPU")):
        with pytest.raises(ValueError): tf.config.experimental.get_device_details(bad)
    for bad, why in (("CPU:0", "not counted"), ("/CPU:0", "not counted"), ("GPU:0", "no device"), ("GPU", "such as"),
                     ("foo", "cannot read"), (3, "expected")):
        with pytest.raises(ValueError, match=why): tf.config.experimental.get_memory_usage(bad)


def test_threads(fresh):
    t = tf.config.threading
    assert (tf.config.threading.get_inter_op_parallelism_threads(), tf.config.threading.get_intra_op_parallelism_threads()) == (0, 0)
    tf.config.threading.set_inter_op_parallelism_threads(3)
    tf.config.threading.set_intra_op_parallelism_threads(5)
    assert (t.get_inter_op_parallelism_threads(), t.get_intra_op_parallelism_threads()) == (3, 5)
    for bad in ("4", 1.5, None):
        with pytest.raises(TypeError, match="set_inter_op_parallelism_threads: num_threads must be a whole number"):
            t.set_inter_op_parallelism_threads(bad)
    with pytest.raises(ValueError, match="got -1"): t.set_intra_op_parallelism_threads(-1)
    assert (t.get_inter_op_parallelism_threads(), t.get_intra_op_parallelism_threads()) == (3, 5)


def test_device_policy():
    assert tf.config.experimental.get_device_policy() == "silent"
    for policy in ("explicit", "warn", "silent", "silent_for_int32"):
        tf.config.experimental.set_device_policy(policy)
        assert tf.config.experimental.get_device_policy() == policy and in_thread(tf.config.experimental.get_device_policy) == "silent"
    with pytest.raises(ValueError, match="one of explicit, warn, silent, silent_for_int32, got 'loud'"):
        tf.config.experimental.set_device_policy("loud")
    tf.config.experimental.set_device_policy(None)
    assert tf.config.experimental.get_device_policy() == "silent"


def test_synchronous_execution():
    assert tf.config.experimental.get_synchronous_execution() is True
    tf.config.experimental.set_synchronous_execution(False)
    assert tf.config.experimental.get_synchronous_execution() is False
    assert in_thread(tf.config.experimental.get_synchronous_execution) is True
    tf.config.experimental.set_synchronous_execution(None)
    assert tf.config.experimental.get_synchronous_execution() is True


def test_tf32(fresh):
    assert tf.config.experimental.tensor_float_32_execution_enabled() is True
    for value in (False, True, 0, 1):
        tf.config.experimental.enable_tensor_float_32_execution(value)
        assert tf.config.experimental.tensor_float_32_execution_enabled() is bool(value)
        assert in_thread(tf.config.experimental.tensor_float_32_execution_enabled) is bool(value)
    for bad in ("False", None, 2):
        with pytest.raises(TypeError, match="True or False"): tf.config.experimental.enable_tensor_float_32_execution(bad)


def test_optimizer(fresh):
    assert tf.config.optimizer.get_jit() is False
    tf.config.optimizer.set_jit(True)
    assert tf.config.optimizer.get_jit() is True
    with pytest.raises(TypeError): tf.config.optimizer.set_jit("off")
    assert tf.config.optimizer.get_experimental_options() == {"disable_model_pruning": False, "disable_meta_optimizer": False}
    tf.config.optimizer.set_experimental_options({"remapping": False, "min_graph_nodes": 7})
    tf.config.optimizer.set_experimental_options({"constant_folding": True})
    before = tf.config.optimizer.get_experimental_options()
    assert before["remapping"] is False and before["min_graph_nodes"] == 7 and before["constant_folding"] is True
    with pytest.raises(ValueError, match="unknown option 'remaping'"):
        tf.config.optimizer.set_experimental_options({"remapping": True, "remaping": True})
    with pytest.raises(TypeError, match="remapping must be True or False"): tf.config.optimizer.set_experimental_options({"remapping": 3})
    with pytest.raises(TypeError, match="whole number"): tf.config.optimizer.set_experimental_options({"min_graph_nodes": "many"})
    before["remapping"] = True
    assert tf.config.optimizer.get_experimental_options()["remapping"] is False


def test_running_functions_eagerly(fresh):
    assert tf.config.functions_run_eagerly() is False and tf.config.experimental_functions_run_eagerly() is False
    tf.config.run_functions_eagerly(True)
    assert tf.config.functions_run_eagerly() is True
    tf.config.experimental_run_functions_eagerly(False)
    assert tf.config.functions_run_eagerly() is False


def test_executing_eagerly():
    assert tf.executing_eagerly() is True
    token = config.GRAPH.set(object())
    try: assert tf.executing_eagerly() is False and in_thread(tf.executing_eagerly) is True
    finally: config.GRAPH.reset(token)
    assert tf.executing_eagerly() is True
