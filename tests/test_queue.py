"""Queues, with threads that have a time limit and never sleep."""
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf

LIMIT = 60   # seconds until a thread counts as stuck


class Started:
    "A function in a thread; `result()` is what it returned or raised."
    def __init__(self, function, *args):
        self.value, self.error = None, None
        def run():
            try: self.value = function(*args)
            except Exception as error: self.error = error
        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def result(self):
        self.thread.join(LIMIT)
        assert not self.thread.is_alive(), "the thread is stuck"
        if self.error: raise self.error
        return self.value


def waits(queue):
    "Return once a thread waits for room in `queue`."
    with queue.queue_ref.changed: assert queue.queue_ref.changed.wait_for(lambda: queue.queue_ref.waiting, LIMIT)


def test_first_in_first_out():
    q = tf.queue.FIFOQueue(10, [tf.int32, tf.string], [[], [2]])
    q.enqueue([1, ["a", "b"]])
    q.enqueue_many([[2, 3], [["c", "d"], ["e", "f"]]])
    assert q.size().numpy() == 3 and q.size().dtype is tf.int32 and not q.is_closed().numpy()
    n, words = q.dequeue()
    assert (n.numpy(), words.numpy().tolist()) == (1, [b"a", b"b"])
    n, words = q.dequeue_many(2)
    assert (n.numpy().tolist(), words.numpy().tolist()) == ([2, 3], [[b"c", b"d"], [b"e", b"f"]])


def test_names():
    q = tf.queue.FIFOQueue(10, [tf.int32, tf.float32], [[], []], names=["n", "x"])
    q.enqueue({"x": 1.5, "n": 7})
    found = q.dequeue()
    assert (found["n"].numpy(), found["x"].numpy()) == (7, 1.5)
    with pytest.raises(ValueError, match="dictionary"): q.enqueue([1, 2.])
    with pytest.raises(ValueError, match="dictionary"): q.enqueue({"n": 1})
    with pytest.raises(ValueError, match="no names"): tf.queue.FIFOQueue(1, tf.int32).enqueue({"n": 1})


def test_shapes_are_checked():
    q = tf.queue.FIFOQueue(10, tf.int32, [[2]])
    for bad in ([1], [1, 2, 3], 1):
        with pytest.raises(ValueError, match="shape"): q.enqueue(tf.constant(bad))
    with pytest.raises(ValueError, match="shape"): q.enqueue_many(tf.constant([1, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="need shapes"): tf.queue.FIFOQueue(1, tf.int32).dequeue_many(1)
    with pytest.raises(ValueError, match="must be known"): tf.queue.FIFOQueue(1, tf.int32, [[None]])
    with pytest.raises(ValueError, match="as many shapes"): tf.queue.FIFOQueue(1, [tf.int32, tf.int32], [[]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 components"):
        tf.queue.FIFOQueue(1, [tf.int32, tf.int32]).enqueue([1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="-1 elements"): q.dequeue_many(-1)
    assert q.dequeue_many(0).shape == (0, 2)


def test_dequeue_waits_for_an_element():
    q = tf.queue.FIFOQueue(10, tf.int32, [[]])
    taker = Started(q.dequeue)
    q.enqueue(5)
    assert taker.result().numpy() == 5
    many = Started(q.dequeue_many, 3)
    for i in range(3): q.enqueue(i)
    assert many.result().numpy().tolist() == [0, 1, 2]


def test_enqueue_waits_for_room():
    q = tf.queue.FIFOQueue(1, tf.int32, [[]])
    putter = Started(q.enqueue_many, list(range(5)))
    assert q.dequeue_many(5).numpy().tolist() == [0, 1, 2, 3, 4]
    putter.result()


def test_closing_lets_those_who_wait_finish():
    q = tf.queue.FIFOQueue(1, tf.int32, [[]])
    q.enqueue(1)
    putter = Started(q.enqueue, 2)
    waits(q)
    q.close()
    with pytest.raises(tf.errors.CancelledError, match="is closed"): q.enqueue(3)
    assert [q.dequeue().numpy(), q.dequeue().numpy()] == [1, 2]
    putter.result()
    with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has 0 elements, 1 were requested"): q.dequeue()
    assert q.is_closed().numpy()


def test_closing_may_cancel_those_who_wait():
    q = tf.queue.FIFOQueue(1, tf.int32, [[]])
    q.enqueue(1)
    putter = Started(q.enqueue, 2)
    waits(q)
    q.close(cancel_pending_enqueues=True)
    with pytest.raises(tf.errors.CancelledError, match="while this waited"): putter.result()
    assert q.dequeue().numpy() == 1


def test_closing_wakes_those_who_take():
    q = tf.queue.FIFOQueue(10, tf.int32, [[]])
    q.enqueue(1)
    taker = Started(q.dequeue_many, 2)
    q.close()
    with pytest.raises(tf.errors.OutOfRangeError, match="has 1 elements, 2 were requested"): taker.result()
    assert q.size().numpy() == 1 and q.dequeue_up_to(2).numpy().tolist() == [1]
    with pytest.raises(tf.errors.OutOfRangeError): q.dequeue_up_to(1)


def test_what_was_taken_in_vain_is_given_back_in_order():
    q = tf.queue.FIFOQueue(10, tf.int32, [[]])
    q.enqueue_many([1, 2, 3])
    q.close()
    with pytest.raises(tf.errors.OutOfRangeError): q.dequeue_many(4)
    assert q.dequeue_many(3).numpy().tolist() == [1, 2, 3]


def test_padding():
    q = tf.queue.PaddingFIFOQueue(10, [tf.int32, tf.string], [[None, 2], [None]])
    q.enqueue([[[1, 2]], ["a", "b"]])
    q.enqueue([[[3, 4], [5, 6]], ["c"]])
    numbers, words = q.dequeue_many(2)
    assert numbers.numpy().tolist() == [[[1, 2], [0, 0]], [[3, 4], [5, 6]]] and words.numpy().tolist() == [[b"a", b"b"], [b"c", b""]]
    q.enqueue([np.zeros((0, 2), np.int32), ["d"]])
    assert q.dequeue()[0].shape == (0, 2)
    with pytest.raises(ValueError): tf.queue.PaddingFIFOQueue(1, tf.int32, [tf.TensorShape(None)])


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_priorities(priorities):
    q = tf.queue.PriorityQueue(20, tf.int32, [[]])
    for i, p in enumerate(priorities): q.enqueue([tf.constant(p, tf.int64), i])
    first, second = q.dequeue_many(len(priorities))
    wanted = sorted((p, i) for i, p in enumerate(priorities))
    assert list(zip(first.numpy().tolist(), second.numpy().tolist(), strict=True)) == wanted


def test_shuffling():
    def drawn(seed):
        q = tf.queue.RandomShuffleQueue(100, 0, tf.int32, [[]], seed=seed)
        q.enqueue_many(list(range(50)))
        return q.dequeue_many(50).numpy().tolist()
    assert drawn(1) == drawn(1) != drawn(2) and sorted(drawn(1)) == list(range(50)) != drawn(1)
    q = tf.queue.RandomShuffleQueue(10, 2, tf.int32, [[]])
    q.enqueue_many([1, 2])
    taker = Started(q.dequeue)
    assert taker.thread.is_alive() and q.size().numpy() == 2      # two must stay behind
    q.enqueue(3)
    assert taker.result().numpy() in (1, 2, 3)
    q.close()
    assert q.dequeue_many(2).shape == (2,)                         # not any more
    with pytest.raises(tf.errors.InvalidArgumentError, match="min_after_dequeue"): tf.queue.RandomShuffleQueue(2, 2, tf.int32)


def test_many_threads_lose_and_double_nothing():
    q, got = tf.queue.FIFOQueue(3, tf.int32, [[]]), []
    def consume():
        while True:
            try: got.append(int(q.dequeue()))
            except tf.errors.OutOfRangeError: return
    putters = [Started(q.enqueue_many, list(range(25 * i, 25 * i + 25))) for i in range(4)]
    takers = [Started(consume) for _ in range(3)]
    for t in putters: t.result()
    q.close()
    for t in takers: t.result()
    assert sorted(got) == list(range(100))


def test_rows_go_in_and_out_together():
    q = tf.queue.FIFOQueue(2, tf.int32, [[]])
    putters = [Started(q.enqueue_many, [i] * 6) for i in range(3)]
    takers = [Started(q.dequeue_many, 6) for _ in range(3)]
    assert sorted(t.result().numpy().tolist() for t in takers) == [[i] * 6 for i in range(3)]
    for t in putters: t.result()


def test_from_list_and_shared_names():
    a, b = tf.queue.FIFOQueue(5, tf.int32), tf.queue.FIFOQueue(5, tf.int32)
    assert tf.queue.QueueBase.from_list(1, [a, b]) is b
    with pytest.raises(TypeError, match="same dtypes"): tf.queue.QueueBase.from_list(0, [a, tf.queue.FIFOQueue(5, tf.string)])
    one, two = (tf.queue.FIFOQueue(5, tf.int32, shared_name="shared by a test") for _ in range(2))
    one.enqueue(3)
    assert two.dequeue().numpy() == 3 and a.name == "fifo_queue" and a.dtypes == [tf.int32] and a.names is None
    assert isinstance(a, tf.queue.QueueBase) and a.shapes[0].rank is None
