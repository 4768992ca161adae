"""tf.debugging, tf.test, tf.version and other names around the ops, by their public names."""
import logging
import unittest

import numpy as np
import pytest

import tfedu as tf

INVALID = tf.errors.InvalidArgumentError


def test_assertions_hold_and_return_nothing():
    held = [tf.debugging.assert_equal(1, 1), tf.debugging.assert_none_equal(1, 2), tf.debugging.assert_less(1, 2),
            tf.debugging.assert_less_equal(1, 1), tf.debugging.assert_greater(2, 1), tf.debugging.assert_greater_equal(1, 1),
            tf.debugging.assert_near(1.0, 1.0), tf.debugging.assert_positive(1), tf.debugging.assert_negative(-1),
            tf.debugging.assert_non_negative(0), tf.debugging.assert_non_positive(0), tf.debugging.Assert(True, []), tf.Assert(True, []),
            tf.assert_equal("a", "a"), tf.assert_less(1, 2), tf.assert_greater(2, 1), tf.assert_rank(1, 0), tf.debugging.assert_rank(1, 0),
            tf.debugging.assert_rank_at_least([1], 1), tf.debugging.assert_rank_in([1], [1, 2]), tf.debugging.assert_scalar(1),
            tf.debugging.assert_integer(1), tf.debugging.assert_type(1, tf.int32), tf.debugging.assert_proper_iterable([1]),
            tf.debugging.assert_shapes([(tf.ones((2, 3)), ("N", 3))])]
    assert held == [None] * len(held)
    assert tf.debugging.assert_same_float_dtype([tf.ones(1)]) is tf.float32 and tf.debugging.is_numeric_tensor(tf.Variable(1))
    assert tf.debugging.assert_all_finite([1.0], "fine").numpy() == [1]


def test_messages_show_where_and_what():
    with pytest.raises(INVALID) as caught: tf.debugging.assert_less([[1, 5], [7, 2]], [3], "too large", summarize=1)
    for part in ("assert_less", "too large", "x < y", "2 of 4", "[[0, 1]]", "x, shape (2, 2)", "[5]", "[3]"):
        assert part in str(caught.value)
    assert "7" not in str(caught.value)
    with pytest.raises(INVALID, match="7"): tf.debugging.assert_less([[1, 5], [7, 2]], [3], summarize=-1)
    with pytest.raises(INVALID, match="NaN"): tf.debugging.assert_all_finite([np.nan], "m")
    with pytest.raises(TypeError, match="floating"): tf.debugging.assert_all_finite([1], "m")
    with pytest.raises(INVALID, match="at 1 of 1"): tf.debugging.assert_near(*[tf.constant(v, tf.bfloat16) for v in (1, 1.5)])
    with pytest.raises(ValueError, match="layer: tensor 1 has shape"):
        tf.debugging.assert_shapes([(tf.ones((2, 3)), "ND"), (tf.ones(4), "D")], message="layer")


def test_placement_is_logged(caplog):
    with caplog.at_level(logging.INFO, "tensorflow"):
        tf.get_logger().propagate = True
        tf.debugging.set_log_device_placement(True)
        assert tf.debugging.get_log_device_placement()
        tf.add(tf.constant(1.0), 2.0)
        tf.debugging.set_log_device_placement(False)
        tf.subtract(tf.constant(1.0), 2.0)
    lines = [r.getMessage() for r in caplog.records]
    assert lines == ["Executing op add in device /job:localhost/replica:0/task:0/device:CPU:0"]


def test_a_scope_may_return_early():
    with tf.experimental.async_scope(): assert not tf.config.experimental.get_synchronous_execution()
    assert tf.config.experimental.get_synchronous_execution()


def test_small_names():
    x = tf.constant([[1.0, 2.0]])
    assert tf.ensure_shape(x, [None, 2]).shape == (1, 2) and tf.get_static_value(x).tolist() == [[1, 2]]
    assert tf.tuple([x, None])[1] is None and tf.type_spec_from_value(x) == tf.TensorSpec([1, 2])
    assert tf.type_spec_from_value(tf.IndexedSlices(x, [0])) == tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int32, indices_shape=[1])
    assert tf.__operators__.add("a", tf.constant("b")).numpy() == b"ab" and tf.__operators__.getitem(x, (0, 1)).numpy() == 2
    assert tf.__operators__.eq(x, x).numpy().all() and not tf.__operators__.ne(x, x).numpy().any()
    assert isinstance(3, tf.types.experimental.TensorLike)
    assert tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x)).numpy().tolist() == [[1, 2]]
    assert tf.__version__ == tf.version.VERSION and tf.version.GIT_VERSION and tf.version.COMPILER_VERSION
    assert tf.sysconfig.get_build_info()["is_rocm_build"] is False


def test_the_version_is_that_of_the_settings(root):
    assert f"\nversion = {tf.version.VERSION.partition('+tfedu.')[2]}\n" in (root / "settings.ini").read_text()


def test_the_machine():
    assert tf.test.is_gpu_available() == (tf.test.gpu_device_name() != "") and not tf.test.is_built_with_rocm()
    assert tf.test.is_built_with_gpu_support() == tf.test.is_built_with_cuda() and not tf.test.is_built_with_xla()


class Sums(tf.test.TestCase):
    def test_sum(self):
        self.assertAllClose({"a": [tf.constant(1.0) + 1.0]}, {"a": [2.0]})
        self.assertAllEqual(tf.constant([b"a"]), [b"a"])
        self.assertShapeEqual(np.ones((2, 3)), tf.zeros((2, 3)))
        with self.assertRaisesOpError("matmul"): tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))
        with self.cached_session(), self.session(), open(self.get_temp_dir() + "/f", "w") as stream:
            with self.captureWritesToStream(stream) as written: print("caught", file=stream)
            self.assertStartsWith(written.contents(), "caught")


def test_seeds_are_set_before_each_test():
    draws = []
    class Draw(tf.test.TestCase):
        def test_it(self): draws.append(float(tf.random.uniform(())))
    for _ in range(2): Draw("test_it").run(unittest.TestResult())
    assert draws[0] == draws[1] and len(draws) == 2


def test_main_and_benchmark(tmp_path, monkeypatch):
    class Empty(tf.test.Benchmark):
        def benchmark_it(self): self.report_benchmark(iters=1, wall_time=.5)
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", str(tmp_path) + "/")
    (bench := Empty()).benchmark_it()
    assert bench.reports == [{"name": "Empty.benchmark_it", "iters": 1, "wall_time": .5}] and (tmp_path / "Empty.benchmark_it").exists()
    with pytest.raises(SystemExit): tf.test.main(["program", "--help"])
