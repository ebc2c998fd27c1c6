import tensorflow as tf


def make_strategy(devices: list[str]) -> tf.distribute.Strategy:
    """One replica, its variables and computation on one device."""
    return tf.distribute.OneDeviceStrategy(devices[0])
