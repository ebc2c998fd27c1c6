from collections.abc import Callable

import tensorflow as tf


def make_loop(strategy: tf.distribute.Strategy, train_step: Callable) -> Callable:
    """Return a graph function that trains on some batches of a worker.

    It returns the results of the last one.
    """

    @tf.function
    def train(batches: tf.distribute.DistributedIterator, steps: tf.Tensor) -> dict[str, tf.Tensor]:
        for _ in tf.range(steps):
            results = strategy.run(train_step, args=(next(batches),))
        return results

    return train
