from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import LEARNING_RATE


def make_optimizer() -> tf.keras.optimizers.Optimizer:
    """Return Adam with its other settings as published."""
    return tf.keras.optimizers.Adam(LEARNING_RATE)
