"""tf.random and tf.random.Generator: reproducible sequences, distributions, bounds, dtypes. (Not TF's bits.)"""
import numpy as np
import pytest

import tfedu as tf

BAD = (ValueError, TypeError, tf.errors.InvalidArgumentError)
N = 20000
MAKERS = {"normal": lambda **kw: tf.random.normal([4], **kw), "uniform": lambda **kw: tf.random.uniform([4], **kw),
          "uniform_int": lambda **kw: tf.random.uniform([4], maxval=10 ** 6, dtype=tf.int32, **kw),
          "truncated": lambda **kw: tf.random.truncated_normal([4], **kw), "shuffle": lambda **kw: tf.random.shuffle(tf.range(50), **kw)}


@pytest.fixture(autouse=True)
def seeded():
    tf.random.set_seed(1234)


def draw(make, count=3, **kw):
    return [make(**kw).numpy().tolist() for _ in range(count)]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_seeds(make):
    tf.random.set_seed(7)
    first = draw(make)
    assert first[0] != first[1] != first[2]                     # a sequence, not one value
    tf.random.set_seed(7)
    assert draw(make) == first                                  # the same seed restarts it
    tf.random.set_seed(8)
    assert draw(make) != first
    for global_seed in (7, 8):                                  # op seeds: as TF documents, the pair of seeds counts
        tf.random.set_seed(global_seed)
        one = draw(make, seed=1)
        assert one[0] != one[1]
        tf.random.set_seed(global_seed)
        assert draw(make, seed=1) == one
        tf.random.set_seed(global_seed)
        assert draw(make, seed=2) != one
        assert one != first
    tf.random.set_seed(7)
    assert draw(make, seed=1) != one


def test_different_ops_do_not_share_numbers():
    a, b = tf.random.uniform([8]).numpy(), tf.random.uniform([8]).numpy()
    assert not np.isin(a, b).any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_normal(dtype):
    x = tf.random.normal([N], mean=2.0, stddev=3.0, dtype=dtype)
    assert x.dtype == dtype and x.shape == [N]
    v = x.numpy().astype(np.float64)
    assert abs(v.mean() - 2) < 0.1 and abs(v.std() - 3) < 0.1 and abs(np.mean(v < 2 - 3) - 0.1587) < 0.015
    assert abs(np.mean(v > 8) - 0.0228) < 0.01
    assert np.isfinite(v).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform(dtype):
    v = tf.random.uniform([N], dtype=dtype).numpy().astype(np.float64)
    assert v.min() >= 0 and v.max() < 1 and abs(v.mean() - 0.5) < 0.01 and abs(v.var() - 1 / 12) < 0.005
    x = tf.random.uniform([N], -3.0, 5.0, dtype)
    v = x.numpy().astype(np.float64)
    assert x.dtype == dtype and v.min() >= -3 and v.max() <= 5 and abs(v.mean() - 1) < 0.1
    if dtype in ("float32", "float64"):
        assert v.max() < 5 and np.histogram(v, 8, (-3, 5))[0].min() > N / 8 * 0.9


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_uniform(dtype):
    x = tf.random.uniform([N], minval=-2, maxval=3, dtype=dtype)
    assert x.dtype == dtype
    values, counts = np.unique(x.numpy(), return_counts=True)
    assert values.tolist() == [-2, -1, 0, 1, 2] and counts.min() > N / 5 * 0.9
    assert set(tf.random.uniform([100], maxval=2, dtype=dtype).numpy().tolist()) == {0, 1}
    assert tf.random.uniform([3], 5, 6, dtype).numpy().tolist() == [5, 5, 5]
    with pytest.raises(ValueError, match="maxval"):
        tf.random.uniform([2], dtype=dtype)
    for low, high in ((0, 0), (5, 2)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)minval|maxval"):
            tf.random.uniform([2], low, high, dtype)


def test_large_integer_ranges():
    v = tf.random.uniform([1000], -2 ** 62, 2 ** 62, tf.int64).numpy()
    assert v.min() < -2 ** 61 and v.max() > 2 ** 61 and len(np.unique(v)) == 1000


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_truncated_normal(dtype):
    x = tf.random.truncated_normal([N], mean=1.0, stddev=2.0, dtype=dtype)
    v = x.numpy().astype(np.float64)
    assert x.dtype == dtype and v.min() >= -3 and v.max() <= 5 and abs(v.mean() - 1) < 0.05 and abs(v.std() - 2 * 0.87962) < 0.05


def test_shuffle_permutes_rows():
    x = np.arange(200).reshape(100, 2)
    y = tf.random.shuffle(x)
    assert isinstance(y, tf.Tensor) and y.dtype == tf.int64 and y.numpy().tolist() != x.tolist()
    assert sorted(y.numpy().tolist()) == x.tolist()
    np.testing.assert_array_equal(x, np.arange(200).reshape(100, 2))          # the argument stays as it was
    assert sorted(tf.random.shuffle(["a", "b", "c"]).numpy().tolist()) == [b"a", b"b", b"c"]
    assert tf.random.shuffle(tf.zeros([0, 3])).shape == [0, 3]
    counts = np.zeros((3, 3))
    for _ in range(600):
        counts[np.arange(3), tf.random.shuffle([0, 1, 2]).numpy()] += 1
    assert counts.min() > 140 and counts.max() < 260                          # 200 each: no place is preferred


def test_shapes_broadcasting_and_keywords():
    assert tf.random.normal([]).shape == [] and tf.random.uniform((2, 0)).shape == [2, 0]
    assert tf.random.normal(tf.constant([2, 3])).shape == [2, 3]
    assert tf.random.uniform(shape=(), minval=0, maxval=1, dtype=tf.float32, seed=1, name="u").dtype == tf.float32
    assert tf.random.normal(shape=tf.TensorShape([2]), mean=0.0, stddev=1.0, dtype=tf.float32, seed=None, name="n").shape == [2]
    assert tf.random.truncated_normal(shape=[1], mean=0.0, stddev=1.0, dtype=tf.float32, seed=3, name="t").shape == [1]
    assert tf.random.shuffle(value=[1], seed=1, name="s").shape == [1]
    v = tf.random.normal([2, 3], mean=[0.0, 100.0, 200.0], stddev=0.0).numpy()
    np.testing.assert_array_equal(v, [[0, 100, 200]] * 2)
    v = tf.random.uniform([1000, 2], minval=[0.0, 10.0], maxval=tf.constant([1.0, 11.0])).numpy()
    assert v[:, 0].max() < 1 and v[:, 1].min() >= 10


def test_errors():
    for bad in (lambda: tf.random.normal([2], dtype=tf.int32), lambda: tf.random.normal([-2]),
                lambda: tf.random.uniform([2], dtype=tf.int8, maxval=3),
                lambda: tf.random.normal([2], mean=[1.0, 2.0, 3.0]), lambda: tf.random.uniform("ab"),
                lambda: tf.random.truncated_normal([2], dtype=tf.string)):
        with pytest.raises(BAD):
            bad()


def test_gradients_flow_to_mean_and_stddev():
    mean, stddev = tf.Variable([0.0, 1.0]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        x = tf.random.normal([5, 2], mean, stddev)
        total = tf.reduce_sum(x)
    d_mean, d_stddev = tape.gradient(total, [mean, stddev])
    np.testing.assert_allclose(d_mean.numpy(), [5, 5])
    np.testing.assert_allclose(d_stddev.numpy(), ((x - mean) / stddev).numpy().sum(), rtol=1e-5)


# ------------------------------------------------------------------ Generator

def test_generator_is_reproducible_and_advances():
    a, b, c = (tf.random.Generator.from_seed(s) for s in (1, 1, 2))
    first = [a.normal([3]).numpy().tolist() for _ in range(3)]
    assert first[0] != first[1] and [b.normal([3]).numpy().tolist() for _ in range(3)] == first
    assert c.normal([3]).numpy().tolist() != first[0]
    a.reset_from_seed(1)
    assert a.normal([3]).numpy().tolist() == first[0]
    a.uniform([5])
    a.reset_from_seed(1)
    assert a.normal(shape=[3]).numpy().tolist() == first[0]
    tf.random.set_seed(99)                                                    # generators do not depend on the global seed
    assert tf.random.Generator.from_seed(1).normal([3]).numpy().tolist() == first[0]


def test_generator_state():
    g = tf.random.Generator.from_seed(5)
    assert isinstance(g.state, tf.Variable) and g.state.dtype == tf.int64 and g.state.shape == [3]
    assert g.algorithm == 1 and g.key.dtype == tf.int64 and g.key.shape == []        # Philox, the default: a counter of two words and a key
    before = g.state.numpy()
    x = g.uniform([10])
    assert (g.state.numpy() != before).any()
    clone = tf.random.Generator.from_state(before, alg="philox")
    np.testing.assert_array_equal(clone.uniform([10]).numpy(), x.numpy())
    np.testing.assert_array_equal(clone.state.numpy(), g.state.numpy())
    g.reset(before)
    np.testing.assert_array_equal(g.uniform([10]).numpy(), x.numpy())
    g.reset_from_key_counter(key=3, counter=[1, 0])
    other = tf.random.Generator.from_key_counter(key=3, counter=[1, 0], alg="philox")
    np.testing.assert_array_equal(g.normal([4]).numpy(), other.normal([4]).numpy())
    assert int(other.key) == 3
    g.skip(4)


def test_generator_distributions():
    g = tf.random.Generator.from_seed(3)
    v = g.normal([N], mean=1.0, stddev=2.0).numpy()
    assert abs(v.mean() - 1) < 0.1 and abs(v.std() - 2) < 0.1
    v = g.truncated_normal([N], dtype=tf.float64).numpy()
    assert np.abs(v).max() <= 2 and abs(v.std() - 0.87962) < 0.03
    v = g.uniform([N], -1.0, 1.0).numpy()
    assert v.min() >= -1 and v.max() < 1 and abs(v.mean()) < 0.03
    v = g.uniform([N], minval=0, maxval=3, dtype=tf.int32)
    assert v.dtype == tf.int32 and np.unique(v.numpy()).tolist() == [0, 1, 2]
    v = g.uniform_full_int([1000], dtype=tf.uint32)
    assert v.dtype == tf.uint32 and v.numpy().max() > 2 ** 31
    with pytest.raises(ValueError):
        g.uniform([2], dtype=tf.int32)                                        # maxval is missing


def test_generator_split_and_make_seeds():
    g = tf.random.Generator.from_seed(3)
    seeds = g.make_seeds(4)
    assert seeds.shape == [2, 4] and seeds.dtype == tf.int64
    children = g.split(3)
    values = [c.normal([4]).numpy().tolist() for c in [g, *children]]
    assert len(children) == 3 and all(a != b for i, a in enumerate(values) for b in values[:i])
    again = tf.random.Generator.from_seed(3)
    again.make_seeds(4)
    assert [c.normal([4]).numpy().tolist() for c in again.split(3)] == values[1:]


def test_other_generators():
    a, b = tf.random.Generator.from_non_deterministic_state(), tf.random.Generator.from_non_deterministic_state()
    assert a.normal([4]).numpy().tolist() != b.normal([4]).numpy().tolist()
    copy = tf.random.Generator(copy_from=a)
    assert copy.normal([4]).numpy().tolist() == a.normal([4]).numpy().tolist()
    g = tf.random.get_global_generator()
    assert isinstance(g, tf.random.Generator) and tf.random.get_global_generator() is g
    tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    assert tf.random.get_global_generator() is not g
    np.testing.assert_array_equal(tf.random.get_global_generator().normal([2]).numpy(),
                                  tf.random.Generator.from_seed(1).normal([2]).numpy())
    tf.random.set_global_generator(g)
    for bad in (lambda: tf.random.Generator.from_seed(1, alg="no such algorithm"),
                lambda: tf.random.Generator.from_state([1, 2], "philox")):
        with pytest.raises(BAD):
            bad()


@pytest.mark.parametrize("alg, size", [("philox", 3), ("threefry", 2)])
def test_a_generator_starts_from_the_state_that_its_seed_gives(alg, size):
    state = tf.random.create_rng_state(3, alg)
    assert state.shape == [size] and state.dtype == tf.int64
    made, seeded = tf.random.Generator.from_state(state, alg), tf.random.Generator.from_seed(3, alg)
    np.testing.assert_array_equal(made.normal([5]), seeded.normal([5]))


def test_a_generator_is_split_in_the_first_call_of_a_function():
    kept = []
    source, twin = (tf.random.Generator.from_seed(7) for _ in range(2))
    @tf.function
    def draw():
        if not kept: kept.extend(source.split(2))
        return [g.normal([3]) for g in kept]
    wanted = twin.split(2)
    for _ in range(3):
        for got, g in zip(draw(), wanted, strict=True): np.testing.assert_allclose(got, g.normal([3]), rtol=1e-6)
    np.testing.assert_array_equal(source.state, twin.state)   # which moved once
    with pytest.raises(ValueError, match="create variables on non-first call"):
        tf.function(lambda: [g.normal([3]) for g in source.split(2)])()
