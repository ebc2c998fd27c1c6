from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import CROSS_DEVICE_OPS, REPLICAS


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each part of the CPU; every step sums the gradients of all."""
    import ctypes
    import os

    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    tf.config.set_logical_device_configuration(cpu, parts)
    cores_per_replica = max(1, (os.cpu_count() or 1) // REPLICAS)
    tf.config.threading.set_intra_op_parallelism_threads(cores_per_replica)
    # With input for several devices, TensorFlow makes glibc return freed memory at once
    # (generator_dataset_op.cc), which can double the time of a step. This keeps the memory.
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(-3, 2**25)  # M_MMAP_THRESHOLD, in bytes
        libc.mallopt(-2, 2**28)  # M_TOP_PAD, in bytes
    devices = [f"CPU:{number}" for number in range(REPLICAS)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)
