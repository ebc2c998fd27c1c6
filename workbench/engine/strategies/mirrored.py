from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import CROSS_DEVICE_OPS


def make_strategy(devices: list[str]) -> tf.distribute.Strategy:
    """A copy of every variable on each device; each step sums the gradients of all."""
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)
