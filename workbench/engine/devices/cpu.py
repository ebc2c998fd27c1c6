import tensorflow as tf


def open_devices() -> list[str]:
    """Keep to the CPU, whatever else the machine has."""
    tf.config.set_visible_devices([], "GPU")
    return ["CPU:0"]
