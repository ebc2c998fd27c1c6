from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import DEVICES
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on its GPU, at its own pace."""
    tf.config.set_visible_devices([], "GPU")
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return tf.distribute.ParameterServerStrategy(resolver)


def open_devices(worker: int) -> None:
    """Let a worker compute on its GPU."""
    open_gpus(DEVICES[worker : worker + 1])
