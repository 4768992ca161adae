"""Sizes, ranks and numbers that are not known while a function is traced: what the graph claims of them must hold when it runs."""
import numpy as np
import pytest

import tfedu as tf

S, I = tf.TensorSpec, tf.int32   # noqa: E741
ROW, TABLE, N = tf.range(6.), tf.reshape(tf.range(12.), [4, 3]), tf.constant(2)
OTHER = TABLE[::-1] + .5


def doubled(x): return tf.numpy_function(lambda a: a * 2, [x], tf.float32)   # of unknown rank


NUMBERS = {   # results whose sizes depend on numbers: function, arguments
    "both_ends": (lambda x, a, b: x[a:b], (ROW, tf.constant(1), tf.constant(4))),
    "batch": (lambda x, i: x[i:i + 2], (ROW, tf.constant(1))),
    "window": (lambda x, i: x[tf.maximum(0, i - 1):i + 1], (ROW, tf.constant(3))),
    "crop": (lambda x, h, w: x[h:h + 2, w:w + 2], (TABLE, tf.constant(1), tf.constant(1))),
    "box": (lambda x, n: tf.image.crop_to_bounding_box(x[..., None], 0, 0, n, n), (TABLE, N)),
    "heads": (lambda x, h: tf.transpose(tf.reshape(x, [tf.shape(x)[0], h, -1]), [1, 0, 2]), (tf.ones([3, 4]), N)),
    "front": (lambda x, n: tf.reshape(x, [n, -1]), (TABLE, N)),
    "back": (lambda x, n: tf.reshape(x, [-1, n]), (TABLE, N)),
    "permuted": (lambda x, p: tf.transpose(x, p), (TABLE, tf.constant([1, 0]))),
    "segments": (lambda x, y: tf.math.unsorted_segment_mean(x, y, tf.reduce_max(y) + 1), (ROW, tf.constant([0, 0, 1, 1, 2, 2]))),
    "dense": (lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x)), (TABLE,)),
    "turned": (lambda x: tf.sparse.to_dense(tf.sparse.transpose(tf.sparse.from_dense(x))), (TABLE,)),
    "found": (lambda x: tf.where(x > 4.), (TABLE,)),
    "masked": (lambda x: tf.boolean_mask(x, x > 4.), (TABLE,)),
    "embedded": (lambda e, i: tf.nn.embedding_lookup_sparse(e, tf.sparse.from_dense(i), None),
                 (TABLE, tf.constant([[1, 2], [3, 0]]))),
}
SIZES = {   # sizes that are not known while others are: function, signature, arguments
    "first_two": (lambda x: x[:2], [S([None, 3])], (tf.ones([1, 3]),)),
    "middle": (lambda x: x[1:3], [S([None, 3])], (tf.ones([1, 3]),)),
    "last_two": (lambda x: x[-2:], [S([None, 3])], (tf.ones([1, 3]),)),
    "hundred": (lambda x: x[:100], [S([None, 3])], (tf.ones([150, 3]),)),
    "hundred_of_few": (lambda x: x[:100], [S([None, 3])], (tf.ones([4, 3]),)),
    "singular": (lambda x: tf.linalg.svd(x)[0], [S([None, 3])], (tf.ones([1, 3]),)),
    "diagonal": (lambda x: tf.linalg.diag_part(x), [S([None, 3])], (tf.ones([2, 3]),)),
    "product": (lambda x, y: tf.matmul(x, y, transpose_a=True), [S([None, 3]), S([4, 3])], (TABLE, OTHER)),
    "labels": (lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, x), [S([None, 3]), S([2], I)],
               (tf.ones([2, 3]), tf.constant([0, 1]))),
    "where": (lambda x, y: tf.where(x > y, x, y), [S([None, 3]), S([4, 3])], (TABLE, OTHER)),
    "complex": (tf.complex, [S([None, 3]), S([4, 3])], (TABLE, OTHER)),
    "stacked": (lambda x, y: tf.stack([x, y]), [S([None, 3]), S([4, 3])], (TABLE, OTHER)),
    "joined": (lambda x, y: tf.concat([x, y], 1), [S([None, 3]), S([4, 3])], (TABLE, OTHER)),
    "clipped": (lambda x, y: tf.clip_by_value(x, y, y), [S([None, 3]), S([4, 3])], (TABLE, OTHER)),
    "searched": (lambda x, y: tf.searchsorted(x, y), [S([None, 3]), S([4, 3])], (TABLE, OTHER)),
    "two_unknown": (lambda x, y, z: tf.matmul(x, z) + tf.matmul(y, z), [S([None, 3]), S([None, 3]), S([None, 2])],
                    (TABLE, OTHER, tf.ones([3, 2]))),
    "unique": (lambda x: tf.boolean_mask(x, tf.unique(x[:, 0])[1] == 0), [S([None, 3])], (tf.ones([2, 3]),)),
}
RANKS = {   # not even the number of axes is known
    "argmax": (lambda x: tf.argmax(doubled(x)) + 1, [None], (TABLE,)),
    "cast": (lambda x: tf.cast(doubled(x), tf.int32) // 2, [None], (TABLE,)),
    "shape": (lambda x: tf.shape(x)[0] + 1, [S(None)], (TABLE,)),
    "compared": (lambda x: tf.reduce_sum(tf.cast(doubled(x) > 4., tf.int32)), [None], (TABLE,)),
    "where": (lambda x: tf.where(doubled(x) > 3., doubled(x), 0.) + 1., [None], (TABLE,)),
    "gather": (lambda x: tf.gather(x, tf.cast(doubled(x[0]) / 2, tf.int32)), [None], (TABLE,)),
    "mapped": (lambda x: tf.map_fn(lambda r: r + 1, x), [S(None)], (TABLE,)),
    "folded": (lambda x: tf.foldl(lambda a, r: a + r, x), [S(None)], (TABLE,)),
    "rank": (lambda x: tf.rank(x) == 2, [S(None)], (TABLE,)),
    "mean": (lambda x: tf.reduce_mean(x) + tf.cast(tf.size(x), tf.float32), [S(None)], (TABLE,)),
}
CASES = [*[(name, f, None, args) for name, (f, args) in NUMBERS.items()], *[(name, *case) for name, case in SIZES.items()],
         *[("rank_" + name, f, sign if sign[0] else None, args) for name, (f, sign, args) in RANKS.items()]]


@pytest.mark.parametrize("f, signature, args", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_the_graph_claims_holds(f, signature, args):
    traced, expected = tf.function(f, input_signature=signature), f(*args)
    found = traced(*args)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    concrete = traced.get_concrete_function(*(() if signature else args))
    assert concrete.output_dtypes == expected.dtype
    assert concrete.output_shapes.is_compatible_with(expected.shape), f"the graph claims {concrete.output_shapes}, got {expected.shape}"
    about = tf.function(lambda *xs: (tf.shape(f(*xs)), tf.size(f(*xs))), input_signature=signature)
    shape, size = about(*args)
    assert shape.numpy().tolist() == expected.shape.as_list() and int(size) == expected.shape.num_elements()


FLOATS = [case for case in CASES if case[1](*case[3]).dtype in (tf.float32, tf.float64) and not case[0].startswith("rank")]
GRADIENTS = [case for case in FLOATS if case[0] not in ("masked", "dense", "turned", "embedded", "singular", "unique")]


@pytest.mark.parametrize("f, signature, args", [case[1:] for case in GRADIENTS], ids=[case[0] for case in GRADIENTS])
def test_gradients_are_those_of_eager_code(f, signature, args):
    def slope(*xs):
        with tf.GradientTape() as tape:
            tape.watch(xs[0])
            y = tf.reduce_mean(f(*xs) ** 2)
        return tape.gradient(y, xs[0])
    np.testing.assert_allclose(tf.function(slope, input_signature=signature)(*args), slope(*args), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("signature, f, claims", [
    ([S(None)], tf.reduce_sum, ()), ([S(None)], tf.rank, ()), ([S([None, 3])], lambda x: x[:2], (None, 3)),
    ([S([None, 3]), S([4, 3])], lambda x, y: tf.matmul(x, y, transpose_a=True), (3, 3)), ([S([None, 3])], tf.squeeze, None),
    ([S([None, 3])], lambda x: tf.reduce_sum(x, 0), (3,)), ([S([None, 3])], lambda x: tf.reshape(x, [-1]), (None,)),
    ([S([None, 3]), S([4, 3])], lambda x, y: tf.concat([x, y], 0), (None, 3)), ([S([2, 3]), S([], I)], lambda x, n: x[:, :n], (2, None))])
def test_static_shapes(signature, f, claims):
    shape = tf.function(f, input_signature=signature).get_concrete_function().output_shapes
    assert shape.as_list() == list(claims) if claims is not None else shape.rank is None


def test_sums_in_loops_keep_their_shape():
    @tf.function(input_signature=[S([None, 3]), S([4, 3])])
    def products(x, y):
        s = tf.zeros([3, 3])
        for _ in tf.range(2): s += tf.matmul(x, y, transpose_a=True)
        return s
    @tf.function(input_signature=[S(None)])
    def rows(x):
        s = 0.
        for i in tf.range(3): s += tf.reduce_sum(x[i])
        return s
    np.testing.assert_allclose(products(TABLE, TABLE), 2 * tf.matmul(TABLE, TABLE, transpose_a=True))
    assert float(rows(TABLE)) == sum(range(9))
