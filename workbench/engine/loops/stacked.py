from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import STEPS_PER_STACK


def make_loops(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> list[Callable]:
    """Return two graph functions: one trains for some steps, one tests on all batches."""

    def train_on_layer(stack: tuple[tf.Tensor, ...], layer: tf.Tensor) -> None:
        train_step(tf.nest.map_structure(lambda part: part[layer], stack))

    @tf.function
    def train(stacks: tf.distribute.DistributedIterator, steps: tf.Tensor) -> None:
        for first in tf.range(0, steps, STEPS_PER_STACK):
            stack = next(stacks)
            for layer in tf.range(tf.minimum(STEPS_PER_STACK, steps - first)):
                strategy.run(train_on_layer, args=(stack, layer))

    @tf.function
    def test(batches: Iterable) -> None:
        for batch in batches:
            strategy.run(test_step, args=(batch,))

    return [train, test]
