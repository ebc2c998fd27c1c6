from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import AUTO_SHARD, GLOBAL_BATCH_SIZE, STEPS_PER_EPOCH
    from ..data.synthetic import load_arrays
    from ..orders.drop import shuffled_rows
    from .tests import deal_tests


def make_data(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches over and over.

    The strategy gives each worker its share of the training batches by the rule AUTO_SHARD.
    """
    (features, labels), test = load_arrays()
    features, labels = tf.constant(features), tf.constant(labels)

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.gather(features, rows), tf.gather(labels, rows)

    train = tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(*map(tf.constant, test))),
    )
