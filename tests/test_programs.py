"""The programs of programs.py in four ways, with gradients: eager, traced, traced without passes, vectorised."""
import logging

import numpy as np
import pytest
from programs import PROGRAMS

import tfedu as tf
from tfedu.core.config import OPTIONS


def has(name):
    "Whether a public name, or AutoGraph, is there."
    if name == "autograph":
        def choose(x):
            if x > 0: return x
            return -x
        try: return float(tf.function(choose)(tf.constant(-1.0))) == 1
        except TypeError: return False
    at = tf
    try:
        for part in name.split(".")[1:]: at = getattr(at, part)
    except AttributeError: return False
    return True


PRESENT = {name: has(name) for name in {name for p in PROGRAMS for name in p.needs} | {"tf.vectorized_map"}}
LABELS = [p.name for p in PROGRAMS]


@pytest.fixture(autouse=True)
def silent():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def skip_unless(*names):
    if lacking := [name for name in names if not PRESENT[name]]: pytest.skip(f"missing: {', '.join(lacking)}")


def floats(nest): return [x for x in tf.nest.flatten(nest, expand_composites=True) if isinstance(x, tf.Tensor) and x.dtype.is_floating]


def flat(y):   # as it is now
    return [x.read_value() if isinstance(x, tf.Variable) else x for x in tf.nest.flatten(y, expand_composites=True)]


def results(f, inputs, calls=2):
    "What `calls` calls give, and the gradients of the last one."
    found = [flat(f(*inputs)) for _ in range(calls - 1)]
    watched = floats(inputs)
    with tf.GradientTape() as tape:
        tape.watch(watched)
        y = flat(f(*inputs))
        total = [tf.reduce_sum(part * part + part) for part in floats(y)]
    grads = tape.gradient(total, watched) if total and watched else []
    return [x for each in found for x in each], y, [None if g is None else tf.convert_to_tensor(g) for g in grads]


def assert_same(found, want, near=2e-5):
    for ours, theirs in zip(found, want, strict=True):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            if b is None: assert a is None
            elif isinstance(b, tf.Tensor) and b.dtype.is_floating:
                np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=near, atol=near)
            else: np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_there_are_enough(): assert len(PROGRAMS) >= 150 and len(set(LABELS)) == len(LABELS)


@pytest.mark.parametrize("program", PROGRAMS, ids=LABELS)
def test_traced(program):
    skip_unless(*program.needs)
    as_written = getattr(tf.autograph.experimental, "do_not_convert", lambda f: f)
    want = results(as_written(program.make()), program.inputs)
    assert_same(results(tf.function(program.make()), program.inputs), want)


@pytest.mark.parametrize("program", PROGRAMS, ids=LABELS)
def test_without_passes(program):
    skip_unless(*program.needs)
    want = results(program.make(), program.inputs)
    before = dict(OPTIONS)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try: assert_same(results(tf.function(program.make()), program.inputs), want)
    finally:
        OPTIONS.clear()
        OPTIONS.update(before)


@pytest.mark.parametrize("program", PROGRAMS, ids=LABELS)
def test_outer_tape_sees_inside(program):
    "A traced program inside of another one."
    skip_unless(*program.needs)
    want = results(program.make(), program.inputs)
    inner = tf.function(program.make())
    assert_same(results(tf.function(lambda *inputs: inner(*inputs)), program.inputs), want)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.rows], ids=[p.name for p in PROGRAMS if p.rows])
def test_vectorised(program):
    skip_unless(*program.needs, "tf.vectorized_map")
    f = tf.function(program.make()) if "autograph" in program.needs else program.make()   # a mapped function is not converted
    batch = [tf.stack([x, x * 0.5 + 0.25, x * -1.5]) for x in program.inputs]
    def rows(*batch):
        eager = program.make()
        each = [eager(*[x[i] for x in batch]) for i in range(3)]
        return tf.nest.map_structure(lambda *parts: None if parts[0] is None else tf.stack(parts), *each)
    def at_once(*batch): return tf.vectorized_map(lambda xs: f(*xs), tuple(batch))
    assert_same(results(at_once, batch, 1), results(rows, batch, 1), 1e-4)


def optimizers(program):
    "Those that a program holds in closures."
    cells = [cell.cell_contents for cell in program.__closure__ or ()]
    return [x for x in cells if isinstance(x, tf.keras.optimizers.Optimizer)]


@pytest.mark.parametrize("program", PROGRAMS, ids=LABELS)
def test_saved_and_loaded(program, tmp_path):
    "A program in a folder gives what it gives here, with its gradients, and goes on from the state in which it was saved."
    skip_unless(*program.needs)
    module, made = tf.Module(), program.make()
    module.f = f = tf.function(made)
    f(*program.inputs)
    module.state = [[v for c in f.concrete_functions() for v in c.variables], optimizers(made)]
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert_same(results(loaded.f, program.inputs), results(f, program.inputs))
