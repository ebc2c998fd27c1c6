from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables once, on the CPU; each GPU computes with its part of the batch."""
    devices = open_gpus()
    # TensorFlow 2.21 asks input options for a misspelt name (parameter_server_strategy.py).
    options = tf.distribute.InputOptions
    options.experimental_replication_moden = options.experimental_replication_mode
    return tf.distribute.experimental.CentralStorageStrategy(devices, parameter_device="CPU:0")
