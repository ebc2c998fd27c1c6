from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Return a strategy of one replica, with variables and computation on one GPU."""
    open_gpus()
    return tf.distribute.OneDeviceStrategy("GPU:0")
