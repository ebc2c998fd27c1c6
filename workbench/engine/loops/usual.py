from collections.abc import Callable, Iterable

import tensorflow as tf


def make_loops(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> list[Callable]:
    """Return two graph functions: one trains on some batches, one tests on all batches."""

    @tf.function
    def train(batches: tf.distribute.DistributedIterator, steps: tf.Tensor) -> None:
        for _ in tf.range(steps):
            strategy.run(train_step, args=(next(batches),))

    @tf.function
    def test(batches: Iterable) -> None:
        for batch in batches:
            strategy.run(test_step, args=(batch,))

    return [train, test]
