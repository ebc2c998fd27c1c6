from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import LEARNING_RATE


def make_optimizer() -> tf.keras.optimizers.Optimizer:
    """Return plain stochastic gradient descent."""
    return tf.keras.optimizers.SGD(LEARNING_RATE)
