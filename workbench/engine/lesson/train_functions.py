from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import STEPS_PER_EXECUTION
    from ..loops.usual import make_loops


def make_train_functions(strategy: tf.distribute.Strategy, model: tf.keras.Model) -> None:
    """Make the functions that `fit` calls for its steps.

    Those of Keras 3 fail with several workers (keras#20585), and know no stacks of batches.
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
    model._maybe_symbolic_build = lambda **_: None  # it sums a batch of its own, or fails
