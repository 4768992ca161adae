"""Complex gradients against those that TensorFlow 2.21 gave (its convention is that of 2.4: the conjugate of the derivative)."""
import numpy as np
import pytest

import tfedu as tf
from tfedu.autodiff.check import check_grads

Z = np.array([1 + 2j, -.5 + .3j, .2 - 1j])
TENSORFLOW = [
    (lambda z: z * z, [2-4j, -1-0.6j, 0.4+2j]),
    (tf.exp, [-1.13120438376-2.471726672j, 0.579440870997-0.179242065905j, 0.659926726628+1.02777498176j]),
    (lambda z: tf.math.real(z * tf.math.conj(z)), [2+4j, -1+0.6j, 0.4-2j]),
    (tf.abs, [0.4472135955+0.894427191j, -0.857492925713+0.514495755428j, 0.196116135138-0.980580675691j]),
    (tf.math.real, [1+0j, 1+0j, 1+0j]),
    (tf.math.imag, [0+1j, 0+1j, 0+1j]),
    (tf.math.angle, [-0.4+0.2j, -0.882352941176-1.47058823529j, 0.961538461538+0.192307692308j]),
    (tf.math.conj, [1-0j, 1-0j, 1-0j]),
    (lambda z: 1 / z, [0.12-0.16j, -1.38408304498+2.59515570934j, 0.887573964497+0.369822485207j]),
    (tf.math.log, [0.2+0.4j, -1.47058823529+0.882352941176j, 0.192307692308-0.961538461538j]),
    (tf.sin, [2.03272300702+3.05189779915j, 0.917370851272-0.145994805702j, 1.5123217571-0.233476434691j]),
    (tf.sqrt, [0.284432240503+0.175788792127j, 0.174784730501+0.631028336004j, 0.382898218852-0.313901454159j]),
    (tf.tanh, [-0.302001598236-0.568103020892j, 0.810625455679-0.236591805636j, 2.48849962608-1.68954578733j]),
    (lambda z: z ** 3, [-9-12j, 0.48+0.9j, -2.88+1.2j]),
    (lambda z: (2 + 1j) / z, [0.08-0.44j, -0.173010380623+6.57439446367j, 2.1449704142-0.147928994083j]),
    (lambda z: tf.matmul(z[:, None], z[None, :]), [1.4-2.6j, 1.4-2.6j, 1.4-2.6j]),
    (lambda z: tf.reduce_sum(tf.abs(z * z - 1) ** 2), [16+48j, 1.32+1.608j, 0.032-8.16j]),
    (tf.cosh, [-0.489056259041-1.40311925062j, -0.49782135965-0.333236258274j, 0.108782306427+0.858356577421j]),
    (tf.sigmoid, [0.14088880757+0.420718279705j, 0.239385833236-0.0177464489124j, 0.318542642107-0.0347917224442j]),
    (tf.reduce_prod, [0.2-0.56j, 2.2+0.6j, -1.1+0.7j]),
    (lambda z: tf.reduce_sum(z) * tf.math.conj(z), [1.4+2.6j, 1.4+2.6j, 1.4+2.6j]),
    (tf.cumsum, [3+0j, 2+0j, 1+0j]),
    (lambda z: tf.complex(tf.abs(z), tf.math.real(z)),
     [0.4472135955+0.894427191j, -0.857492925713+0.514495755428j, 0.196116135138-0.980580675691j]),
]


@pytest.mark.parametrize("f, wanted", TENSORFLOW)
@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_are_tensorflows(f, wanted, recorded):
    z = tf.constant(Z)
    with tf.GradientTape() as outer:
        if recorded: outer.watch(z)
        with tf.GradientTape() as tape:
            tape.watch(z)
            y = f(z)
        g = tape.gradient(y, z)
    np.testing.assert_allclose(g.numpy(), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", [f for f, _ in TENSORFLOW])
def test_every_mode_and_order_agrees_with_differences(f): check_grads(f, [Z], order=2)


def test_descending_a_real_loss():
    v, optimizer = tf.Variable(1.5 + 1j, dtype=tf.complex128), tf.keras.optimizers.SGD(0.02)
    losses = []
    for _ in range(40):
        with tf.GradientTape() as tape: loss = tf.abs(v ** 3 - 1) ** 2
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        losses.append(float(loss))
    assert losses == sorted(losses, reverse=True) or losses[-1] < 1e-6 * losses[0]
