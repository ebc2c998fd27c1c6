from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import GLOBAL_BATCH_SIZE
    from ..data.synthetic import make_data
    from .shuffled import shuffled_batches


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches repeated without end.

    The strategy splits each global batch among its replicas.
    """
    examples, tests = make_data()
    train = shuffled_batches(examples, start_step)
    test = tf.data.Dataset.from_tensor_slices(tests).batch(GLOBAL_BATCH_SIZE).repeat()
    options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    return tuple(
        strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE), options)
        for batches in (train, test)
    )
