"""What is compared of a decomposition that is unique only up to signs and order: the same numbers, whoever computed it."""


def spectral(tf, values, vectors, other, f):
    "vectors @ diag(f(values)) @ adjoint(other)"
    return tf.linalg.matmul(vectors * tf.cast(f(values), vectors.dtype)[..., None, :], other, adjoint_b=True)


INVARIANTS = {
    "svd": lambda tf, out: [out[0], spectral(tf, out[0], out[1], out[2], tf.exp)],
    "eigh": lambda tf, out: [out[0], spectral(tf, out[0], out[1], out[1], tf.sin)],
    "eig": lambda tf, out: [tf.linalg.matmul(out[1] * tf.exp(out[0])[..., None, :], tf.linalg.inv(out[1]))],
    "qr": lambda tf, out: [tf.abs(out[0]), tf.abs(out[1])],
    "sum": lambda tf, out: [tf.reduce_sum(tf.exp(out[0]))],
    "x": lambda tf, out: [out.x],
    "all": lambda tf, out: list(out),
}
