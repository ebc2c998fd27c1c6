from collections.abc import Callable

import tensorflow as tf


def make_loops(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> list[Callable]:
    """Return graph functions of many steps a call: one for a worker to train, one to test here.

    Training gives the worker's number, [step, 1, 3] of what its steps gave, for each step how
    many steps the others did from before it read the weights until it had updated them (int64),
    and the time at which the call began and ended on the worker, in seconds since 1970.
    """
    with strategy.scope():
        updates = tf.Variable(0, dtype=tf.int64, trainable=False)

    @tf.function  # of its own, for control dependencies do not reach into strategy.run
    def step(batch: tuple[tf.Tensor, ...]) -> tf.Tensor:
        return strategy.run(train_step, args=(batch,))

    @tf.function
    def train(iterator: tf.distribute.DistributedIterator, count: tf.Tensor) -> tuple:
        worker = tf.distribute.coordinator.experimental_get_current_worker_index()
        began = tf.timestamp()
        rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
        stale = tf.TensorArray(tf.int64, size=count)
        with tf.control_dependencies([began]):
            for number in tf.range(count):
                batch = next(iterator)
                seen = updates.read_value()
                with tf.control_dependencies([seen]):
                    row = step(batch)
                with tf.control_dependencies([row]):
                    now = updates.assign_add(1, read_value=True)
                rows = rows.write(number, row[None])
                stale = stale.write(number, tf.maximum(now - 1 - seen, 0))
        result, behind = rows.stack(), stale.stack()
        with tf.control_dependencies([result, behind]):
            return worker, result, behind, tf.stack([began, tf.timestamp()])

    @tf.function
    def test(iterator: tf.data.Iterator, count: tf.Tensor) -> tf.Tensor:
        rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
        for number in tf.range(count):
            rows = rows.write(number, test_step(next(iterator))[None])
        return rows.stack()

    return [train, test]
