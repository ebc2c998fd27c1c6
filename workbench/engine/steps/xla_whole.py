import functools
from collections.abc import Callable

import tensorflow as tf


def compile_by_xla(make_steps: Callable) -> Callable:
    """Have XLA compile the steps whole, the update of the weights with them."""

    @functools.wraps(make_steps)
    def make_compiled_steps(model: tf.keras.Model) -> list[Callable]:
        return [tf.function(step, jit_compile=True) for step in make_steps(model)]

    return make_compiled_steps
