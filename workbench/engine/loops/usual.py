from collections.abc import Callable

import tensorflow as tf


def make_loops(strategy: tf.distribute.Strategy, *steps: Callable) -> list[Callable]:
    """Return, for each kind of step, a graph function that runs many such steps in one call.

    It returns an array [step, replica, 3] of the results of all replicas.
    """

    def in_graph(step: Callable) -> Callable:
        @tf.function
        def run(iterator: tf.distribute.DistributedIterator, count: tf.Tensor) -> tf.Tensor:
            rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
            for number in tf.range(count):
                values = strategy.run(step, args=(next(iterator),))
                rows = rows.write(number, tf.stack(strategy.experimental_local_results(values)))
            return rows.stack()

        return run

    return [in_graph(step) for step in steps]
