from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import CROSS_DEVICE_OPS, DEVICES, GPU_MEMORY, REPLICAS


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each virtual device; the virtual devices share one GPU's memory."""
    found = {gpu.name.split(":", 1)[1]: gpu for gpu in tf.config.list_physical_devices("GPU")}
    if not set(DEVICES) <= set(found):
        raise SystemExit(f"Needs {DEVICES}; found {list(found)}. Change DEVICES to a GPU found.")
    gpu = found[DEVICES[0]]
    tf.config.set_visible_devices([gpu], "GPU")
    part = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_MEMORY)
    tf.config.set_logical_device_configuration(gpu, [part] * REPLICAS)
    devices = [f"GPU:{number}" for number in range(REPLICAS)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)
