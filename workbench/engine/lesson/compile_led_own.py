from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import STEPS_PER_EXECUTION


def compile_model(model: tf.keras.Model) -> None:
    """Choose how many steps a worker does in a call; your function has compiled the rest."""
    model._configure_steps_per_execution(STEPS_PER_EXECUTION)  # not public outside of compile
