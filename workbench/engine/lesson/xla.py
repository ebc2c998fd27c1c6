from collections.abc import Callable

import tensorflow as tf


def compile_by_xla(make_model: Callable) -> Callable:
    """Let XLA compile the model's forward pass, and with it its gradient.

    The sum of gradients and the update of the weights stay outside, because they wait for other
    replicas.
    """

    def make_compiled_model() -> tf.keras.Model:
        model = make_model()
        model.call = tf.function(model.call, jit_compile=True)
        return model

    return make_compiled_model
