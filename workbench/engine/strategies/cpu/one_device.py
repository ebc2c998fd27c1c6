import tensorflow as tf


def make_strategy() -> tf.distribute.Strategy:
    """Return a strategy of one replica, with variables and computation on the CPU."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.OneDeviceStrategy("CPU:0")
