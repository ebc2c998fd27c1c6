from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import STEPS_PER_EXECUTION


def compile_model(model: tf.keras.Model) -> None:
    """Choose how many steps `fit` does in a call; your function has compiled the rest."""
    model.steps_per_execution = STEPS_PER_EXECUTION
    model.jit_compile = False  # XLA cannot compile the sums over replicas
