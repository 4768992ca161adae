"""Philox against the vectors that its authors publish, and the numbers that TensorFlow makes of its bits for the same seeds."""
import threading

import ml_dtypes
import numpy as np
import pytest
from scipy import stats

from tfedu.ops import philox
from tfedu.ops.generator import Generator
from tfedu.ops.random import SEEDS, dropout, normal, set_seed, shuffle, truncated_normal, uniform

F16, BF16, F32, F64 = (np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64))

# counter, key, rounds, words: kat_vectors of Random123, lowest word first
KNOWN = [
    ((0, 0, 0, 0), (0, 0), 7, (0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, 7, (0x5207DDC2, 0x45165E59, 0x4D8EE751, 0x8C52F662)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), 7, (0x4DFCCABA, 0x190A87F0, 0xC47362BA, 0xB6B5242A)),
    ((0, 0, 0, 0), (0, 0), 10, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, 10, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), 10, (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]


@pytest.fixture(autouse=True)
def unseeded():
    yield
    set_seed(None)


@pytest.mark.parametrize("counter, key, rounds, words", KNOWN)
def test_known_answers(counter, key, rounds, words):
    given = [np.array([w], np.uint64) for w in counter]
    assert tuple(int(w[0]) for w in philox.mix(given, key, rounds)) == words
    if rounds == 10:
        start = sum(w << 32 * i for i, w in enumerate(counter))
        assert tuple(philox.bits(key[0] | key[1] << 32, start, np.zeros(1, np.uint64))[0].tolist()) == words


def test_counters_carry():
    steps = np.arange(3, dtype=np.uint64)
    for start in (0, 2**32 - 1, 2**64 - 2, 2**96 - 1, 2**128 - 1):
        whole = [(start + i) % 2**128 for i in range(3)]
        found = [[int(word[i]) for word in philox.counters(start, steps)] for i in range(3)]
        assert found == [[n >> 32 * j & 0xFFFFFFFF for j in range(4)] for n in whole]


def test_blocks_do_not_show():
    count = 4 * philox.BLOCK + 6
    whole = philox.sequence(5, 2**64 - 3, count)
    np.testing.assert_array_equal(whole[-6:], philox.sequence(5, 2**64 - 3 + philox.BLOCK, 6))
    assert len(philox.sequence(5, 0, 0)) == 0 and len(np.unique(whole)) > count * 0.9999


# what TensorFlow 2.21 draws on a CPU after tf.random.set_seed(42)
def test_seeded_uniforms_are_tensorflows():
    set_seed(42)
    np.testing.assert_allclose(uniform([5]).numpy(), np.float32([0.6645621, 0.44100678, 0.3528825, 0.46448255, 0.03366041]), rtol=2e-7)
    np.testing.assert_allclose(uniform([3]).numpy(), np.float32([0.68789124, 0.48447883, 0.9309944]), rtol=1e-7)
    np.testing.assert_allclose(normal([4]).numpy(), [-0.55909735, -0.5347214, 2.3730333, -1.5725931], rtol=1e-5)


def test_op_seeds_are_tensorflows():
    set_seed(42)
    np.testing.assert_allclose(uniform([3], seed=7).numpy(), np.float32([0.8627677, 0.6567626, 0.99054587]), rtol=1e-7)
    np.testing.assert_allclose(uniform([3], seed=7).numpy(), np.float32([0.34647572, 0.9437165, 0.2607335]), rtol=1e-7)
    np.testing.assert_allclose(uniform([], seed=7).numpy(), np.float32(0.46504366), rtol=1e-7)
    np.testing.assert_allclose(uniform([3], seed=7, dtype="float64").numpy(), [0.902142425, 0.924367269, 0.869446159], rtol=1e-8)
    set_seed(2**40 + 17)
    np.testing.assert_allclose(uniform([2]).numpy(), [0.54163337, 0.8095943], rtol=1e-6)
    np.testing.assert_allclose(uniform([2], seed=-3).numpy(), [0.417701, 0.2830088], rtol=1e-6)
    np.testing.assert_allclose(uniform([2], seed=2**50).numpy(), [0.53213763, 0.5942848], rtol=1e-6)
    set_seed(0)
    np.testing.assert_allclose(uniform([2], seed=0).numpy(), [0.01975703, 0.00704217], rtol=1e-5)
    set_seed(-7)
    np.testing.assert_allclose(uniform([2], seed=0).numpy(), [0.51958, 0.61831355], rtol=1e-6)


def test_small_and_large_types_are_tensorflows():
    set_seed(42)
    for dtype, flat, bell, cut, rtol in (
        (F16, [0.0928, 0.7275, 0.8135, 0.04102], [0.0842, -0.861, 0.3782, -0.005196, -0.4946],
         [-0.559, -0.5347, -1.572, 0.8057, -0.00413], 1e-3),
        (BF16, [0.765625, 0.734375, 0.40625, 0.59375], [0.00921631, -0.660156, -0.742188, 1.19531, 0.863281],
         [0.0307617, 0.291016, 1.28125, 0.8125, -1.30469], 1e-2),
        (F64, [0.484443667, 0.973974951, 0.865211944, 0.717547298], [-1.732698365, -0.969422327, -0.625035684, 0.943707438, -0.733016483],
         [-0.201354907, -0.928449414, 0.768371374, 0.960310501, 0.387272251], 1e-7)):
        for make, expected in ((uniform, flat), (normal, bell), (truncated_normal, cut)):
            x = make([len(expected)], dtype=dtype)
            assert x.array.dtype == dtype
            np.testing.assert_allclose(x.numpy().astype(np.float64), expected, rtol=rtol)


def test_integers_shuffles_and_dropout_are_tensorflows():
    set_seed(42)
    np.testing.assert_allclose(truncated_normal([20]).numpy()[[0, 3, 12, 19]], [0.3274685, -1.4075519, 1.7314558, 1.1631414], rtol=1e-5)
    assert shuffle(np.arange(10)).numpy().tolist() == [8, 5, 1, 4, 0, 3, 6, 9, 2, 7]
    assert shuffle(np.arange(10)).numpy().tolist() == [4, 9, 3, 6, 5, 7, 2, 0, 8, 1]
    assert uniform([5], 0, 1000, dtype="int32").numpy().tolist() == [594, 590, 844, 844, 342]
    assert uniform([5], 0, 1000, dtype="int64").numpy().tolist() == [209, 6, 801, 961, 268]
    set_seed(5)
    kept = dropout(np.ones((2, 6), np.float32), 0.4).numpy()
    np.testing.assert_allclose(kept, np.float32([[1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0]]) / np.float32(0.6), rtol=1e-6)
    assert dropout(np.ones((2, 6), np.float32), 0.4, noise_shape=[2, 1], seed=3).numpy().any(1).tolist() == [False, True]
    assert shuffle(np.arange(10, dtype=np.int32), seed=1).numpy().tolist() == [4, 8, 7, 3, 1, 2, 5, 9, 0, 6]
    assert shuffle(np.arange(10, dtype=np.int32), seed=1).numpy().tolist() == [6, 2, 9, 1, 5, 4, 0, 3, 8, 7]


def test_generators_are_tensorflows():
    g = Generator.from_seed(1234)
    np.testing.assert_allclose(g.normal([3]).numpy(), [0.9356609, 1.0854305, -0.93788373], rtol=1e-6)
    assert g.state.numpy().tolist() == [2002, 0, 0]
    np.testing.assert_allclose(g.uniform([5]).numpy(), [0.31073415, 0.3681823, 0.96182954, 0.31345785, 0.85380936], rtol=1e-6)
    g.truncated_normal([10])
    assert g.uniform([3], 0, 10, dtype="int64").numpy().tolist() == [3, 1, 6]
    assert g.uniform_full_int([3]).numpy().tolist() == [17433454971461791787, 4531621439034222364, 18125574480135491364]
    assert g.uniform_full_int([3], dtype="int32").numpy().tolist() == [-54951750, 433358222, 1255475179]
    assert g.uniform_full_int([3], dtype="uint32").numpy().tolist() == [2908821825, 3581648031, 4246841493]
    assert g.uniform_full_int([2], dtype="int64").numpy().tolist() == [-5577472974198837707, 114062311612833323]
    assert g.make_seeds(3).numpy().tolist() == [[-2498331707455808824, -3794101794313632052, 4559892987295507042], [0, 0, 0]]
    assert [child.state.numpy()[2] for child in g.split(2)] == [-5401690798989439519, -8256145029997321868]
    assert g.state.numpy().tolist() == [10706, 0, 0]
    g = Generator.from_seed(3)
    assert g.uniform([4], -5, 5, dtype="int32").numpy().tolist() == [0, 1, -2, -5]
    np.testing.assert_allclose(g.normal([3], 2.0, 3.0, dtype="bfloat16").numpy().astype(float), [0.328125, -5.75, 1.17188], rtol=1e-2)
    assert g.uniform([3], minval=None, dtype="int32").numpy().tolist() == [-964470129, 54237375, 1732168853]


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_distributions(dtype):
    n = 50_000
    assert stats.kstest(philox.uniform(1, 0, n, dtype), "uniform").pvalue > 0.01
    assert stats.kstest(philox.normal(2, 0, n, dtype), "norm").pvalue > 0.01
    assert stats.kstest(philox.truncated(3, 0, n, dtype), stats.truncnorm(-2, 2).cdf).pvalue > 0.01
    pairs = philox.normal(4, 0, n, dtype).reshape(-1, 2)
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.02 and abs(np.corrcoef((pairs**2).T)[0, 1]) < 0.02


def test_every_bit_is_fair():
    words = philox.sequence(6, 0, 40_000)
    share = np.array([(words >> np.uint32(i) & 1).mean() for i in range(32)])
    assert np.abs(share - 0.5).max() < 0.015
    assert np.abs(np.corrcoef(np.array([words >> np.uint32(i) & 1 for i in range(32)])) - np.eye(32)).max() < 0.03


def test_integer_ranges():
    values, counts = np.unique(philox.integers(7, 0, 60_000, np.dtype(np.int64), -3, 3), return_counts=True)
    assert values.tolist() == [-3, -2, -1, 0, 1, 2] and stats.chisquare(counts).pvalue > 0.01
    wide = philox.integers(7, 0, 1000, np.dtype(np.int32), -2**31, 2**31 - 1)
    assert wide.min() < -2**30 and wide.max() > 2**30


def test_binomial():
    counts = Generator.from_seed(1).binomial([20_000], 12.0, 0.3).numpy()
    expected = stats.binom(12, 0.3).pmf(np.arange(13)) * 20_000
    assert counts.dtype == np.int32 and np.abs(np.bincount(counts, minlength=13) - expected).max() < 4 * np.sqrt(expected.max())
    mixed = Generator.from_seed(1).binomial([2, 1000], counts=[[5.0], [50.0]], probs=[[0.5], [0.1]]).numpy()
    np.testing.assert_allclose(mixed.mean(1), [2.5, 5], atol=0.4)


def test_threads_never_share_numbers():
    g, found = Generator.from_seed(8), []
    threads = [threading.Thread(target=lambda: found.extend(g.uniform_full_int([2]).numpy().tolist() for _ in range(40))) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    alone = Generator.from_seed(8)
    assert sorted(found) == sorted(alone.uniform_full_int([2]).numpy().tolist() for _ in range(160))


def test_threads_with_op_seeds_never_share_numbers():
    def draws(): return [uniform([2], seed=4).numpy().tolist() for _ in range(40)]
    set_seed(1)
    found = []
    threads = [threading.Thread(target=lambda: found.extend(draws())) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    set_seed(1)
    assert sorted(found) == sorted(sum((draws() for _ in range(4)), []))


def test_calls_without_op_seed_leave_nothing_behind():
    set_seed(1)
    for _ in range(100): normal([1])
    assert not SEEDS.used


def test_a_refused_call_does_not_move_the_sequence():
    set_seed(3)
    expected = normal([2]).numpy()
    set_seed(3)
    with pytest.raises(ValueError): uniform([2], dtype="int32")
    with pytest.raises(Exception, match="shape"): normal([-1])
    np.testing.assert_array_equal(normal([2]).numpy(), expected)
