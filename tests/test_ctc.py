"""The connectionist loss and its decoders against the list of all rows of symbols."""
from itertools import product
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import tfedu as tf
from tfedu.autodiff.check import check_grads


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def read(row, blank): return tuple(int(c) for i, c in enumerate(row) if c != blank and (i == 0 or c != row[i - 1]))


def words(logits, blank):
    "Every word that the frames can spell, and its probability."
    p, found = softmax(logits), {}
    for row in product(range(p.shape[1]), repeat=len(p)):
        word = read(row, blank)
        found[word] = found.get(word, 0) + np.prod(p[range(len(p)), row])
    return found


def padded(rows, fill=0):
    out = np.full((len(rows), max(1, *map(len, rows))), fill)
    for i, row in enumerate(rows): out[i, :len(row)] = row
    return out, np.array([len(r) for r in rows])


@given(st.integers(0, 999), st.integers(0, 2), st.lists(st.lists(st.integers(0, 2), max_size=3), min_size=2, max_size=3))
def test_the_loss_is_the_sum_over_all_ways(seed, blank, labels):
    labels = [[c for c in row if c != blank] for row in labels]
    logits = np.random.default_rng(seed).normal(size=(5, len(labels), 3)) * 2
    lengths = np.random.default_rng(seed).integers(1, 6, len(labels))
    dense, counts = padded(labels, fill=-1)
    loss = tf.nn.ctc_loss(dense, logits, counts, lengths, blank_index=blank).numpy()
    for i, row in enumerate(labels):
        p = words(logits[:lengths[i], i], blank).get(tuple(row), 0)
        np.testing.assert_allclose(loss[i], -np.log(p) if p else np.inf, rtol=1e-9, atol=1e-12)


LABELS, LOGITS = np.array([[1, 2, 2], [3, 1, 0]]), np.random.default_rng(1).normal(size=(7, 2, 5))


def test_first_and_second_derivatives():
    f = lambda x: tf.nn.ctc_loss(LABELS, x, [3, 2], [7, 5], blank_index=-1)   # noqa: E731
    check_grads(f, [LOGITS], order=2)


def gradient(*args, **kw):
    x = tf.constant(args[1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.ctc_loss(args[0], x, *args[2:], **kw)
    return y.numpy(), tape.gradient(y, x).numpy()


def test_all_ways_to_give_the_labels_agree():
    loss, g = gradient(LABELS, LOGITS, [3, 2], [7, 5])
    other, h = gradient(LABELS, LOGITS.transpose(1, 0, 2), [3, 2], [7, 5], logits_time_major=False)
    np.testing.assert_array_equal(loss, other), np.testing.assert_array_equal(g, h.transpose(1, 0, 2))
    same = tf.nn.ctc_loss(LABELS, LOGITS, [3, 2], [7, 5], unique=tf.nn.ctc_unique_labels(LABELS), blank_index=0)
    np.testing.assert_array_equal(loss, same.numpy())
    rows = SimpleNamespace(indices=[[1, 1], [0, 0], [0, 2], [0, 1], [1, 0]], values=[1, 1, 2, 2, 3], dense_shape=[2, 3])
    np.testing.assert_array_equal(loss, tf.nn.ctc_loss(rows, LOGITS, None, [7, 5], blank_index=0).numpy())
    assert not g[5:, 1].any()                                   # frames that do not count


def test_what_cannot_be_spelled_is_infinite_and_has_no_gradient():
    loss, g = gradient([[1, 1], [1, 2]], np.zeros((2, 2, 3)), [2, 2], [2, 2])
    assert loss[0] == np.inf and not g[0, 0].any() and np.isfinite(loss[1]) and g[:, 1].any()
    loss, g = gradient([[1]], np.array([[[0, -np.inf, 0]]]), [1], [1])
    assert loss[0] == np.inf and np.isfinite(g).all()
    assert gradient([[1]], np.zeros((0, 1, 3)), [0], [0])[0].tolist() == [0]
    assert gradient([[1]], np.zeros((3, 1, 3)), [1], [0])[0][0] == np.inf


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 2e-3), ("bfloat16", 2e-2)])
def test_long_rows_stay_exact(dtype, tolerance):
    rng = np.random.default_rng(0)
    labels, logits = rng.integers(1, 20, (2, 60)), tf.constant(rng.normal(size=(1500, 2, 20)) * 3, dtype)
    exact, g = gradient(labels, logits.numpy().astype(np.float64), [60, 50], [1500, 1200])
    loss, h = gradient(labels, logits, [60, 50], [1500, 1200])
    assert str(loss.dtype) == dtype
    np.testing.assert_allclose(loss.astype(float), exact, rtol=tolerance)
    np.testing.assert_allclose(h.astype(float), g, atol=tolerance)
    np.testing.assert_allclose(h.astype(float).sum(-1), 0, atol=tolerance * 4)


@pytest.mark.parametrize("change, error, words", [
    (dict(labels=[1, 2]), tf.errors.InvalidArgumentError, "labels must be"),
    (dict(logits=np.zeros((7, 2))), tf.errors.InvalidArgumentError, "3 axes"),
    (dict(label_length=[4, 2]), tf.errors.InvalidArgumentError, "label_length must be between 0 and 3"),
    (dict(logit_length=[7, 8]), tf.errors.InvalidArgumentError, "logit_length must be between 0 and 7"),
    (dict(labels=[[1, 2, 5], [3, 1, 0]]), tf.errors.InvalidArgumentError, r"labels must be in \[0, 5\)"),
    (dict(blank_index=5), ValueError, "blank_index"),
    (dict(labels=SimpleNamespace(indices=[[0, 0]], values=[1], dense_shape=[2, 1])), ValueError, "blank_index must be given"),
    (dict(labels=SimpleNamespace(indices=[[2, 0]], values=[1], dense_shape=[2, 1]), blank_index=0), tf.errors.InvalidArgumentError, "row"),
])
def test_what_does_not_fit_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        tf.nn.ctc_loss(**{**dict(labels=LABELS, logits=LOGITS, label_length=[3, 2], logit_length=[7, 5]), **change})


def test_helpers():
    merged, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 4, 0]], [5, 3])
    assert merged.numpy().tolist() == [[1, 2, 1], [3, 0, 0]] and lengths.numpy().tolist() == [3, 1]
    found, places = tf.nn.ctc_unique_labels([[3, 4, 4, 3]])
    assert (found.dtype, places.dtype) == (tf.int64, tf.int32)
    assert found.numpy().tolist() == [[3, 4, 0, 0]] and places.numpy().tolist() == [[0, 1, 1, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="collapse_repeated"): tf.nn.collapse_repeated([1], [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="ctc_unique_labels"): tf.nn.ctc_unique_labels([1])


# ---- decoders

def rows(sp, n):
    out = [[] for _ in range(n)]
    for (i, _), v in zip(sp.indices.numpy(), sp.values.numpy(), strict=True): out[i].append(int(v))
    return out


@given(st.integers(0, 999))
def test_a_wide_beam_finds_the_best_words(seed):
    rng = np.random.default_rng(seed)
    logits, lengths = rng.normal(size=(5, 2, 3)) * 2, rng.integers(1, 6, 2)
    paths, totals = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=200, top_paths=2)
    for i in range(2):
        all_words = words(logits[:lengths[i], i], 2)
        likely = sorted(all_words, key=all_words.get, reverse=True)[:2]
        np.testing.assert_allclose(np.exp(totals.numpy()[i]), [all_words[w] for w in likely])
        assert [tuple(rows(path, 2)[i]) for path in paths] == likely
    likely = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=1)[0][0]
    assert likely.dense_shape.numpy()[0] == 2


@given(st.integers(0, 999), st.booleans())
def test_the_greedy_reads_the_loudest(seed, merge):
    rng = np.random.default_rng(seed)
    logits, lengths = rng.normal(size=(6, 3, 3)).astype(np.float32), rng.integers(0, 7, 3)
    (path,), score = tf.nn.ctc_greedy_decoder(logits, lengths, merge)
    for i, n in enumerate(lengths):
        said = logits[:n, i].argmax(-1)
        assert rows(path, 3)[i] == (list(read(said, 2)) if merge else [int(c) for c in said if c != 2])
        np.testing.assert_allclose(score.numpy()[i, 0], -logits[:n, i].max(-1).sum(), rtol=1e-5)
    assert path.dense_shape.numpy().tolist() == [3, max(map(len, rows(path, 3)))] and path.values.dtype == tf.int64


def test_decoders_refuse_what_does_not_fit():
    for decode in (tf.nn.ctc_greedy_decoder, tf.nn.ctc_beam_search_decoder):
        with pytest.raises(tf.errors.InvalidArgumentError, match="sequence_length"): decode(np.zeros((3, 2, 4)), [3])
        with pytest.raises(tf.errors.InvalidArgumentError, match="between 0 and 3"): decode(np.zeros((3, 1, 4)), [4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="top_paths"): tf.nn.ctc_beam_search_decoder(np.zeros((3, 1, 4)), [3], 2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 readings"): tf.nn.ctc_beam_search_decoder(np.zeros((3, 1, 4)), [0], 5, 3)
