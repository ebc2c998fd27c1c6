import ctypes
import os

import tensorflow as tf


def split_cpu(replicas: int) -> list[str]:
    """Split the CPU into a virtual device for each replica, with its part of the cores.

    A strategy of one replica leaves the CPU whole. Returns the names of the devices.
    """
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * replicas
    tf.config.set_logical_device_configuration(cpu, parts)
    cores_per_replica = max(1, (os.cpu_count() or 1) // replicas)
    tf.config.threading.set_intra_op_parallelism_threads(cores_per_replica)
    keep_freed_memory()
    return [f"CPU:{number}" for number in range(replicas)]


def keep_freed_memory() -> None:
    """Let glibc keep freed memory.

    With input for several devices, TensorFlow makes glibc return it at once
    (generator_dataset_op.cc), which can double the time of a step.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(-3, 2**25)  # M_MMAP_THRESHOLD, in bytes
        libc.mallopt(-2, 2**28)  # M_TOP_PAD, in bytes
