from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Return the default strategy: one replica, on the GPU."""
    open_gpus()
    return tf.distribute.get_strategy()
