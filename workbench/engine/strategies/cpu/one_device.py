import tensorflow as tf


def make_strategy() -> tf.distribute.Strategy:
    """One replica, its variables and computation on the CPU."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.OneDeviceStrategy("CPU:0")
