import tensorflow as tf


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on its CPU, at its own pace."""
    tf.config.set_visible_devices([], "GPU")
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return tf.distribute.ParameterServerStrategy(resolver)


def open_devices(worker: int) -> None:
    """Let a worker compute on its CPU."""
    tf.config.set_visible_devices([], "GPU")
