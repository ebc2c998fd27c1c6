from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import CROSS_DEVICE_OPS
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each GPU; every step sums the gradients of all."""
    return tf.distribute.MirroredStrategy(open_gpus(), cross_device_ops=CROSS_DEVICE_OPS)
