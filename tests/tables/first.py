"""What the sweep must know about the ops of the first slice: arithmetic, reductions, arrays, gathering, losses."""
import numpy as np

from tables.inputs import FLAGS, ROWS, ZERO_ONE, A, B, draw

# What an op needs beyond positive numbers of shape (2, 3): a list of (inputs, settings). Inputs that are not floats get no gradient.
CASES = {
    "getitem": [((A,), dict(key=(slice(None), slice(None, None, -2)))), ((A,), dict(key=(1, None, Ellipsis)))],
    "put_slice": [((A[:, :2],), dict(shape=(2, 4), key=(slice(None), slice(0, None, 2))))],
    "reshape": [((A,), dict(shape=(3, -1)))], "squeeze": [((A[None, :, None],), {}), ((A[None],), dict(axis=[0]))],
    "expand_dims": [((A,), dict(axis=-1))], "swapaxes": [((A,), dict(axis1=0, axis2=1))],
    "concatenate": [(([A, B],), dict(axis=1))], "stack": [(([A, B],), dict(axis=-1))],
    "split": [((A,), dict(num_or_size_splits=[1, 2], axis=1))],
    "cast": [((A,), dict(dtype="float64"))], "saturate_cast": [((A,), dict(dtype="float64"))],
    "where": [((FLAGS, A, B), {}), ((FLAGS, A, B[:1]), {})],
    "complex_": [((A, B), {})], "sign": [((A,), {}), ((A - 1j * B,), {})],
    "squared_difference": [((A, B), {}), ((A, B[:1]), {}), ((A + 1j * B, B + 2j * A), {})],
    **{name: [((A + 1j * B,), {})] for name in ("conj", "real", "imag", "magnitude", "angle")},
    "multiply_no_nan": [((A, B), {})],
    "shift": [((A,), dict(axis=1, step=1, fill=0))], "recurrence": [((A, B), dict(axis=1))],
    "sum_to": [((A,), dict(shape=(3,)))], "broadcast_to": [((A,), dict(shape=(4, 2, 3)))],
    "add_n": [(([A, B, A],), {})],
    "pad": [((A,), dict(paddings=[[1, 0], [2, 1]])), ((A,), dict(paddings=[[1, 0], [2, 1]], mode="REFLECT"))],
    "tile": [((A,), dict(multiples=[2, 3]))], "reverse": [((A,), dict(axis=[1]))], "roll": [((A,), dict(shift=1, axis=1))],
    "gather": [((A, np.array([1, 0, 1])), {}), ((A, ROWS), dict(axis=1))],
    "scatter_rows": [((draw(3, 2), ROWS), dict(shape=(3, 2), axis=0, batch_dims=0))],
    "put_rows": [((draw(3, 2), draw(2, 2), np.array([2, 0])), {})],
    "matmul": [((A, draw(3, 4)), {}), ((A, draw(4, 3)), dict(transpose_b=True)),
               ((draw(5, 3, 2), A), dict(transpose_a=True, transpose_b=True))],
    "contract": [(([A, draw(3, 4)],), dict(terms=("ab", "bc"), result="ca"))],
    "bias_add": [((draw(2, 3, 4), draw(4)), {}), ((draw(2, 3, 4), draw(3)), dict(data_format="NCHW"))],
    "gelu": [((A,), {}), ((A,), dict(approximate=True))],
    "blame": [((np.array([1, 2]), A), {})],
    "sparse_softmax_cross_entropy_with_logits": [((np.array([1, 2]), A), {})],
    "softmax_cross_entropy_with_logits": [((ZERO_ONE, A), {}), ((A / A.sum(1, keepdims=True), B), {})],
    "sigmoid_cross_entropy": [((A, B), {})], "weighted_cross_entropy": [((A, B, B), {})],
    **{name: [((A,), {}), ((A,), dict(axis=0, keepdims=True)), ((draw(2, 3, 2),), dict(axis=[-1, 0]))] for name in
       ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_logsumexp", "reduce_variance", "reduce_std")},
    **{name: [((A,), dict(axis=1)), ((A,), dict(axis=0, exclusive=True, reverse=True))] for name in ("cumsum", "cumprod")},
    **{name: [((A,), {}), ((A,), dict(axis=0))] for name in ("softmax", "log_softmax")},
    "transpose": [((A,), {}), ((draw(2, 3, 4),), dict(perm=[2, 0, 1]))], "unstack": [((A,), {}), ((A,), dict(axis=1))],
}
KINKED = {"maximum", "minimum", "floormod"}   # in a coarse dtype two numbers may meet at the kink, where the slope jumps
BETWEEN = ("asin", "acos", "atanh", "sigmoid", "tanh", "erf", "erfc", "elu", "selu", "silu", "softsign")
NARROW = {name: (draw(2, 3, low=-.9, high=.9),) for name in BETWEEN} | {"acosh": (1.5 + A,)}

NO_GRADIENT = set("""and_ argmax argmin bitwise_and bitwise_or bitwise_xor ceil equal floor floordiv greater greater_equal invert
    invert_ is_finite is_inf is_nan less less_equal logical_and logical_not logical_or logical_xor not_equal one_hot_rows ones_like or_
    positive ratio reduce_all reduce_any rint round stop_gradient xor_ zero_fraction zeros_like""".split())
NOT_MOVING = {"where": ["condition"], "blame": ["labels"], "sparse_softmax_cross_entropy_with_logits": ["labels"], "gather": ["indices"],
              "scatter_rows": ["indices"], "put_rows": ["places"]}
PLAIN = {"abs", "gather_nd", "tensor_equals", "tensor_not_equals", "truediv"}   # in the registry, though not declared as ops

# Which types an op takes, as TensorFlow's op definitions list them (a few take more, as their notebooks say). A second entry beside the
# declaration, so that widening or narrowing one is noticed.
TYPES = {
    "ANY": """broadcast_to cast concatenate equal expand_dims gather getitem identity not_equal one_hot_rows ones_like pad put_rows
        put_slice reshape reverse roll shift split squeeze stack stop_gradient swapaxes tile transpose unstack where
        zero_fraction zeros_like""",
    "BOOL": """logical_and logical_not logical_or logical_xor reduce_all reduce_any""",
    "BOOL | INTEGER": """and_ invert_ or_ xor_""",
    "BOOL | REAL": """argmax argmin""",
    "COMPLEX": """magnitude""",
    "FLOATING": """atan2 blame ceil elu erf erfc floor gelu is_finite is_inf is_nan l2_loss leaky log_softmax reduce_logsumexp rint
        selu sigmoid_cross_entropy silu softmax softmax_cross_entropy_with_logits softplus softsign
        sparse_softmax_cross_entropy_with_logits weighted_cross_entropy""",
    "INDEX | INEXACT": """contract matmul""",
    "INEXACT": """acos acosh angle asin asinh atan atanh cos cosh divide_no_nan exp expm1 log log1p multiply_no_nan quotient reciprocal
        reciprocal_no_nan recurrence reduce_std reduce_variance rsqrt sigmoid sin sinh sqrt sum_to tan tanh""",
    "INTEGER": """bitwise_and bitwise_or bitwise_xor invert ratio""",
    "NUMBER": """add_n bias_add conj cumprod cumsum imag multiply negative pow real reduce_mean reduce_prod reduce_sum scatter_rows
        sign square squared_difference subtract""",
    "NUMBER | TEXT": """add""",
    "REAL": """absolute floordiv floormod greater greater_equal less less_equal maximum minimum positive reduce_max reduce_min relu
        relu6 round saturate_cast""",
    "float32 float64": """complex_""",
}
