from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import (
        AUTO_SHARD,
        GLOBAL_BATCH_SIZE,
        NUM_TRAIN_EXAMPLES,
        READ_PER_STEP,
        SEED,
        STEPS_PER_EPOCH,
    )
    from ..data.synthetic import make_data
    from .tests import deal_tests


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches.

    The examples of NumPy arrays are shuffled in a buffer that holds them all; seed and epoch decide
    the order. To start at a step, all steps before it are read again and skipped.
    """
    examples, tests = make_data()
    train = tf.data.Dataset.from_tensor_slices(tf.nest.map_structure(np.asarray, examples))
    # The inner repeat fills an epoch longer than the data; take ends a shorter epoch.
    train = train.shuffle(NUM_TRAIN_EXAMPLES, SEED).repeat()
    train = train.take(STEPS_PER_EPOCH * READ_PER_STEP).repeat()
    train = train.skip(start_step * READ_PER_STEP).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
    )
