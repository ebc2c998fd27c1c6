from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import REPLICAS


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables once, on the CPU; each part of the CPU computes with a part of the batch."""
    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    tf.config.set_logical_device_configuration(cpu, parts)
    devices = [f"CPU:{number}" for number in range(REPLICAS)]
    # TensorFlow 2.21 asks input options for a misspelt name (parameter_server_strategy.py).
    options = tf.distribute.InputOptions
    options.experimental_replication_moden = options.experimental_replication_mode
    return tf.distribute.experimental.CentralStorageStrategy(devices, parameter_device="CPU:0")
