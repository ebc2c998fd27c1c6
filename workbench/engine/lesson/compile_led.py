from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import STEPS_PER_EXECUTION


def compile_model(model: tf.keras.Model) -> None:
    """Choose what `fit` measures, and how many steps a worker does in a call."""
    model.compile(
        model.optimizer,
        model.loss,
        metrics=["accuracy"],
        steps_per_execution=STEPS_PER_EXECUTION,
    )
