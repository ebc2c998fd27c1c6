from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import COMMUNICATION
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each GPU of each worker's host; every step sums all gradients."""
    open_gpus()
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)
