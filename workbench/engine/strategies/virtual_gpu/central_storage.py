from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import DEVICES, GPU_MEMORY, REPLICAS


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables once, on the CPU; each virtual part of one GPU takes a part of the batch."""
    found = {gpu.name.split(":", 1)[1]: gpu for gpu in tf.config.list_physical_devices("GPU")}
    if not set(DEVICES) <= set(found):
        raise SystemExit(f"Needs {DEVICES}; found {list(found)}. Change DEVICES to a GPU found.")
    gpu = found[DEVICES[0]]
    tf.config.set_visible_devices([gpu], "GPU")
    part = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_MEMORY)
    tf.config.set_logical_device_configuration(gpu, [part] * REPLICAS)
    devices = [f"GPU:{number}" for number in range(REPLICAS)]
    # TensorFlow 2.21 asks input options for a misspelt name (parameter_server_strategy.py).
    options = tf.distribute.InputOptions
    options.experimental_replication_moden = options.experimental_replication_mode
    return tf.distribute.experimental.CentralStorageStrategy(devices, parameter_device="CPU:0")
