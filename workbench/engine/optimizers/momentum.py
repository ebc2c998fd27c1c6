from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import LEARNING_RATE


def make_optimizer() -> tf.keras.optimizers.Optimizer:
    """Return stochastic gradient descent with momentum."""
    return tf.keras.optimizers.SGD(LEARNING_RATE, momentum=0.9)
