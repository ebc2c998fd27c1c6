from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import GLOBAL_BATCH_SIZE, STEPS_PER_EPOCH
    from ..data.synthetic import make_data
    from ..orders.drop import shuffled_rows


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, without end, and the test batches.

    The strategy splits each global batch among its replicas.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices(tests).batch(GLOBAL_BATCH_SIZE)
    options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    return tuple(
        strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE), options)
        for batches in (train, test)
    )
