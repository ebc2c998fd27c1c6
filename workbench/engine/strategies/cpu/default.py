import tensorflow as tf


def make_strategy() -> tf.distribute.Strategy:
    """Return the default strategy: one replica, on the CPU."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.get_strategy()
