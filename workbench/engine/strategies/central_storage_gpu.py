from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from .gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Variables once, on the CPU; each GPU computes with its part of the batch."""
    devices = open_gpus()
    return tf.distribute.experimental.CentralStorageStrategy(devices, parameter_device="CPU:0")
