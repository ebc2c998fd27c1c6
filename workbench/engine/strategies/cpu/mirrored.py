from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import CROSS_DEVICE_OPS, REPLICAS
    from workbench.engine.strategies.cpus import split_cpu


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each part of the CPU; every step sums the gradients of all."""
    tf.config.set_visible_devices([], "GPU")
    devices = split_cpu(REPLICAS)
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)
