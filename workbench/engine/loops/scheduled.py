from collections.abc import Callable

import tensorflow as tf


def make_loops(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> list[Callable]:
    """Return two graph functions of many steps: one to train on a worker, one to test here.

    Training returns the worker's number, the results of its steps [step, 1, 3], the times before
    each step read the weights and after it updated them [step, 2], and the times when the call
    began and ended. Times are float64 seconds since 1970 on the worker.
    """

    @tf.function  # separate: control dependencies do not reach into strategy.run
    def step(batch: tuple[tf.Tensor, ...]) -> tf.Tensor:
        return strategy.run(train_step, args=(batch,))

    @tf.function
    def train(iterator: tf.distribute.DistributedIterator, count: tf.Tensor) -> tuple:
        worker = tf.distribute.coordinator.experimental_get_current_worker_index()
        began = tf.timestamp()
        rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
        times = tf.TensorArray(tf.float64, size=count)
        with tf.control_dependencies([began]):
            for number in tf.range(count):
                batch = next(iterator)
                with tf.control_dependencies(tf.nest.flatten(batch)):
                    reads = tf.timestamp()
                with tf.control_dependencies([reads]):
                    row = step(batch)
                with tf.control_dependencies([row]):
                    updated = tf.timestamp()
                rows = rows.write(number, row[None])
                times = times.write(number, tf.stack([reads, updated]))
        result = rows.stack()
        with tf.control_dependencies([result]):
            return worker, result, times.stack(), tf.stack([began, tf.timestamp()])

    @tf.function
    def test(iterator: tf.data.Iterator, count: tf.Tensor) -> tf.Tensor:
        rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
        for number in tf.range(count):
            rows = rows.write(number, test_step(next(iterator))[None])
        return rows.stack()

    return [train, test]
