from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import STEPS_PER_STACK


def make_loops(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> list[Callable]:
    """Return two graph functions of many steps: one to train from stacks, one to test.

    Each returns an array [step, replica, 3] of the results of all replicas.
    """

    def on_replicas(step: Callable, *args: object) -> tf.Tensor:
        return tf.stack(strategy.experimental_local_results(strategy.run(step, args=args)))

    def train_on_layer(stack: tuple[tf.Tensor, ...], layer: tf.Tensor) -> tf.Tensor:
        return train_step(tf.nest.map_structure(lambda part: part[layer], stack))

    @tf.function
    def train(iterator: tf.distribute.DistributedIterator, count: tf.Tensor) -> tf.Tensor:
        rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
        for first in tf.range(0, count, STEPS_PER_STACK):
            stack = next(iterator)
            for layer in tf.range(tf.minimum(STEPS_PER_STACK, count - first)):
                rows = rows.write(first + layer, on_replicas(train_on_layer, stack, layer))
        return rows.stack()

    @tf.function
    def test(iterator: tf.distribute.DistributedIterator, count: tf.Tensor) -> tf.Tensor:
        rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
        for number in tf.range(count):
            rows = rows.write(number, on_replicas(test_step, next(iterator)))
        return rows.stack()

    return [train, test]
