from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import COMMUNICATION


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each worker, on its host's CPU; every step sums all gradients."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)
