from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import REPLICAS


def open_devices() -> list[str]:
    """Split the CPU into virtual devices, one a replica, before TensorFlow opens it."""
    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration() for _ in range(REPLICAS)]
    tf.config.set_logical_device_configuration(cpu, parts)
    return [f"CPU:{number}" for number in range(REPLICAS)]
