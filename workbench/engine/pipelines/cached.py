from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import AUTO_SHARD, GLOBAL_BATCH_SIZE, READ_PER_STEP, STEPS_PER_EPOCH
    from .dataset_tests import deal_tests
    from .own_data import make_data


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches.

    Memory keeps the examples of the first epoch and their order. The strategy gives each worker
    its share of the examples by the rule AUTO_SHARD.
    """
    train, test = make_data()
    # The inner repeat fills an epoch longer than the data; take ends a shorter epoch.
    # cache comes after take, because a cache that is not read to its end is dropped.
    train = train.repeat().take(STEPS_PER_EPOCH * READ_PER_STEP).cache().repeat()
    train = train.skip(start_step * READ_PER_STEP).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(test)),
    )
