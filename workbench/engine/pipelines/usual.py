from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import GLOBAL_BATCH_SIZE, STEPS_PER_EPOCH
    from ..data.synthetic import load_arrays
    from ..orders.drop import shuffled_rows


def make_data(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches over and over.

    The strategy deals each global batch out to its replicas.
    """
    (features, labels), test = load_arrays()
    features, labels = tf.constant(features), tf.constant(labels)

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.gather(features, rows), tf.gather(labels, rows)

    train = tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
    tests = tf.data.Dataset.from_tensor_slices(test).batch(GLOBAL_BATCH_SIZE).repeat()
    options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    return tuple(
        strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE), options)
        for batches in (train, tests)
    )
