import tensorflow as tf


def make_strategy() -> tf.distribute.Strategy:
    """No strategy: one replica, on the CPU."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.get_strategy()
