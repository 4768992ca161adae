"""What is wrong with a program, as it is told while a graph is written: in the classes that TensorFlow raises there."""
import pytest

import tfedu as tf

Invalid = tf.errors.InvalidArgumentError
A, B, ROW, INT = tf.ones((2, 3)), tf.ones((2, 4)), tf.ones(3), tf.ones(3, tf.int32)

SHAPES = {
    "matmul": (lambda: (A, A), tf.matmul), "matmul_rank": (lambda: (ROW, ROW), tf.matmul), "add": (lambda: (A, B), tf.add),
    "concat": (lambda: (A, B), lambda a, b: tf.concat([a, b], 0)), "concat_axis": (lambda: (A, A), lambda a, b: tf.concat([a, b], 5)),
    "stack": (lambda: (A, B), lambda a, b: tf.stack([a, b])), "reshape": (lambda: (A,), lambda a: tf.reshape(a, [4])),
    "reduce_sum": (lambda: (A,), lambda a: tf.reduce_sum(a, 3)), "expand_dims": (lambda: (A,), lambda a: tf.expand_dims(a, 5)),
    "squeeze": (lambda: (A,), lambda a: tf.squeeze(a, 0)), "transpose": (lambda: (A,), lambda a: tf.transpose(a, [0, 1, 2])),
    "gather_axis": (lambda: (A,), lambda a: tf.gather(a, [0], axis=4)), "index": (lambda: (A,), lambda a: a[5]),
    "split": (lambda: (A,), lambda a: tf.split(a, 4, 0)), "unstack": (lambda: (A,), lambda a: tf.unstack(a, 4)),
    "broadcast_to": (lambda: (A,), lambda a: tf.broadcast_to(a, [4, 4])), "tile": (lambda: (A,), lambda a: tf.tile(a, [2])),
    "pad": (lambda: (A,), lambda a: tf.pad(a, [[1, 1]])), "bias_add": (lambda: (A, tf.ones(4)), tf.nn.bias_add),
    "conv2d": (lambda: (tf.ones((1, 4, 4, 3)), tf.ones((3, 3, 2, 8))), lambda x, k: tf.nn.conv2d(x, k, 1, "SAME")),
    "cross_entropy": (lambda: (A, B), tf.nn.softmax_cross_entropy_with_logits),
    "sparse_cross_entropy": (lambda: (INT, A), tf.nn.sparse_softmax_cross_entropy_with_logits),
    "einsum": (lambda: (A, A), lambda a, b: tf.einsum("ij,jk->ik", a, b)),
    "tensordot": (lambda: (A, A), lambda a, b: tf.tensordot(a, b, 1)),
    "where": (lambda: (A > 0, B), lambda c, b: tf.where(c, b, b)), "argmax": (lambda: (A,), lambda a: tf.argmax(a, 4)),
    "scatter": (lambda: (ROW,), lambda a: tf.tensor_scatter_nd_update(a, [[0]], [1.0, 2.0])),
    "gather_nd": (lambda: (A,), lambda a: tf.gather_nd(a, [[0, 0, 0]])),
    "ensure_shape": (lambda: (A,), lambda a: tf.ensure_shape(a, [3, 3])),
    "cholesky": (lambda: (A,), tf.linalg.cholesky), "inv": (lambda: (ROW,), tf.linalg.inv),
    "top_k": (lambda: (ROW,), lambda a: tf.math.top_k(a, 9)),
    "moments": (lambda: (ROW,), lambda a: tf.nn.moments(a, [4])), "add_n": (lambda: (A, B), lambda a, b: tf.add_n([a, b])),
    "fill": (lambda: (A,), lambda a: tf.fill([-1], a[0, 0])), "norm": (lambda: (A,), lambda a: tf.norm(a, axis=7)),
    "segments": (lambda: (ROW,), lambda a: tf.math.unsorted_segment_sum(a, [0, 1], 2)), "constants": (lambda: (), lambda: tf.matmul(A, A))}

TYPES = {
    "add": (lambda: (ROW, INT), tf.add), "concat": (lambda: (ROW, INT), lambda a, b: tf.concat([a, b], 0)),
    "where": (lambda: (ROW > 0, ROW, INT), tf.where), "gather": (lambda: (A,), lambda a: tf.gather(a, [0.5])),
    "one_hot": (lambda: (ROW,), lambda a: tf.one_hot(a, 3)), "sqrt": (lambda: (INT,), tf.sqrt),
    "logical_and": (lambda: (ROW, ROW), tf.logical_and), "embedding": (lambda: (A,), lambda a: tf.nn.embedding_lookup(a, [0.5]))}


def told(f, args, kind):
    with pytest.raises(kind) as caught: f(*args)
    return caught.value


@pytest.mark.parametrize("name", SHAPES)
def test_a_wrong_shape_in_a_graph_is_a_value_error_and_an_invalid_argument(name):
    args, f = SHAPES[name]
    error = told(tf.function(lambda *given: f(*given)), args(), ValueError)
    assert isinstance(error, Invalid) and error.error_code == tf.errors.INVALID_ARGUMENT
    assert not isinstance(told(f, args(), Invalid), ValueError)   # at once it is what the kernel says


@pytest.mark.parametrize("name", TYPES)
def test_a_wrong_type_in_a_graph_is_a_type_error_and_an_invalid_argument(name):
    args, f = TYPES[name]
    error = told(tf.function(lambda *given: f(*given)), args(), TypeError)
    assert isinstance(error, Invalid) and str(error) == str(told(f, args(), Invalid))


def test_a_program_may_catch_it_inside_and_what_runs_raises_no_value_error():
    @tf.function
    def either(a, b):
        try: return a @ b
        except ValueError: return a
    assert either(A, A).shape == (2, 3)
    error = told(tf.function(lambda a, i: tf.gather(a, i)), (ROW, tf.constant([7])), Invalid)
    assert not isinstance(error, ValueError)


def test_python_questions_to_a_symbolic_tensor_are_the_public_error():
    f = tf.function(lambda x: 1 if x > 0 else 2, autograph=False)
    assert "using a `tf.Tensor` as a Python `bool`" in str(told(f, (tf.constant(1.0),), tf.errors.OperatorNotAllowedInGraphError))
