"""What recording.py does with TensorFlow and test_golden.py with tfedu: `tf` is the one in question.

The functions in HOW compute cases that are more than a call of the public function `f` with the arguments. A decomposition is unique only
up to signs and order: what is recorded of it are numbers that come out the same, whoever computed it.
"""
import numpy as np


def rows(tf, v):
    "How the rows of ragged `v` are divided, outermost first: splits, or one number where all are equally long."
    if not isinstance(v, tf.RaggedTensor): return []
    return [v.row_splits if v.uniform_row_length is None else int(v.uniform_row_length), *rows(tf, v.values)]


def parts(tf, v):
    "What a composite tensor holds, in the order that it is written down in."
    if isinstance(v, tf.RaggedTensor): return [v.flat_values, *rows(tf, v)]
    return [v.indices, v.values, v.dense_shape] if isinstance(v, tf.SparseTensor) else [v.values, v.indices, v.dense_shape]


def moving(tf, v):
    "The floating tensors in `v`."
    if isinstance(v, list | tuple): return [t for part in v for t in moving(tf, part)]
    if isinstance(v, tf.RaggedTensor): v = v.flat_values
    if isinstance(v, tf.SparseTensor | tf.IndexedSlices): v = v.values
    return [v] if isinstance(v, tf.Tensor) and (v.dtype.is_floating or v.dtype.is_complex) else []


def weight(tf, y):
    w = (np.arange(int(np.prod(y.shape))) * 7 % 5 - 1.5).reshape(tuple(y.shape)) * (1 + .5j if y.dtype.is_complex else 1)
    return tf.constant(w.astype(y.dtype.as_numpy_dtype))


def spectral(tf, values, vectors, other, g):
    "vectors @ diag(g(values)) @ adjoint(other)"
    return tf.linalg.matmul(vectors * tf.cast(g(values), vectors.dtype)[..., None, :], other, adjoint_b=True)


def svd(tf, f, *x, **k):
    s, u, v = f(*x, **k)
    return [s, spectral(tf, s, u, v, tf.exp)]


def eigh(tf, f, *x, **k):
    values, vectors = f(*x, **k)
    return [values, spectral(tf, values, vectors, vectors, tf.sin)]


def eig(tf, f, *x, **k):
    values, vectors = f(*x, **k)
    return tf.linalg.matmul(vectors * tf.exp(values)[..., None, :], tf.linalg.inv(vectors))


def qr(tf, f, *x, **k): return [tf.abs(part) for part in f(*x, **k)]


def eigvals(tf, f, *x, **k): return tf.reduce_sum(tf.exp(f(*x, **k)[0]))


def seeded(tf, f, *x, global_seed, times, **k):
    "The last of `times` calls after the global seed was set."
    tf.random.set_seed(global_seed)
    for _ in range(times): y = f(*x, **k)
    tf.random.set_seed(None)
    return y


def threefry(tf, f, state, method, *x, **k):
    "What a method of tf.random.Generator gives, and the state after it. `f` is Generator.from_state."
    generator = f(state, alg="threefry")
    draw = lambda: getattr(generator, method)(*x, **k)
    if tf.__name__ == "tensorflow": draw = tf.function(draw, jit_compile=True)      # otherwise it would not be ThreeFry there
    return [draw(), tf.identity(generator.state)]


def methods(tf, f, *x, **k):
    "Method after method, each of what the one before returned; the last argument lists them, each with its own arguments."
    *x, calls = x
    y = f(*x, **k)
    for name, *given in calls: y = getattr(y, name)(*given)
    return y


HOW = {f.__name__: f for f in (svd, eigh, eig, qr, eigvals, seeded, threefry, methods)}
