"""The graph functions that do many steps in a call."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from .constants import STEPS_PER_EXECUTION, STEPS_PER_STACK
    from .slots import make_loops


def make_loops__usual(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> tuple[Callable, Callable]:
    """Return two graph functions: one trains on some batches, one tests on all batches."""

    @tf.function
    def train(batches: tf.distribute.DistributedIterator, steps: tf.Tensor) -> None:
        for _ in tf.range(steps):
            strategy.run(train_step, args=(next(batches),))

    @tf.function
    def test(batches: Iterable) -> None:
        for batch in batches:
            strategy.run(test_step, args=(batch,))

    return train, test


def make_loops__stacked(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> tuple[Callable, Callable]:
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

    return train, test


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


def make_train_functions(strategy: tf.distribute.Strategy, model: tf.keras.Model) -> None:
    """Make the functions that `fit` calls.

    Those of Keras 3 fail with several workers (keras#20585), and take no stacks of batches.
    """
    train, test = make_loops(strategy, model.train_step, model.test_step)
    results = tf.function(model.get_metrics_result)

    def train_function(batches: tf.distribute.DistributedIterator) -> dict[str, tf.Tensor]:
        train(batches, tf.constant(STEPS_PER_EXECUTION))
        return results()

    def test_function(batches: tf.distribute.DistributedIterator) -> dict[str, tf.Tensor]:
        test(batches)
        return results()

    model.train_function, model.test_function = train_function, test_function
    model._maybe_symbolic_build = lambda **_: None  # private; it averages a batch, or fails
