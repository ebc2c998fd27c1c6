import functools
from collections.abc import Callable

import tensorflow as tf


def compile_by_xla(make_steps: Callable) -> Callable:
    """Let XLA compile the whole steps, with the update of the weights."""

    @functools.wraps(make_steps)
    def make_compiled_steps(model: tf.keras.Model) -> list[Callable]:
        return [tf.function(step, jit_compile=True) for step in make_steps(model)]

    return make_compiled_steps
