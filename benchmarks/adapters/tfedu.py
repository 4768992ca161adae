"""tfedu: TensorFlow's programs, word for word, with the optimizers of Keras instead of TensorFlow's fused kernels."""
from adapters import tensorflow


class Adapter(tensorflow.Adapter):
    module = "tfedu"

    def updater(self, work, variables):
        optimizers = self.tf.keras.optimizers
        optimizer = optimizers.SGD(work.learning_rate) if work.optimizer == "sgd" else optimizers.Adam(work.learning_rate, epsilon=1e-7)
        return lambda gradients: optimizer.apply_gradients(zip(gradients, variables, strict=True))
