from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import DEVICES, GPU_MEMORY


def open_gpus(devices: tuple[str, ...] = DEVICES) -> list[str]:
    """Make only these devices visible to TensorFlow; return their new names, numbered from 0."""
    found = {gpu.name.split(":", 1)[1]: gpu for gpu in tf.config.list_physical_devices("GPU")}
    if not set(devices) <= set(found):
        raise SystemExit(f"Needs {devices}; found {list(found)}. Change DEVICES to GPUs found.")
    gpus = [found[name] for name in devices]
    tf.config.set_visible_devices(gpus, "GPU")
    for gpu in gpus:
        if GPU_MEMORY == "growth":
            tf.config.experimental.set_memory_growth(gpu, True)
        elif isinstance(GPU_MEMORY, int):
            limit = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_MEMORY)
            tf.config.set_logical_device_configuration(gpu, [limit])
    return [f"GPU:{number}" for number in range(len(gpus))]
