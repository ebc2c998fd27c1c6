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
    from .written_files import write_files


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches.

    The strategy gives each worker its share of the files by the rule AUTO_SHARD. Seed and epoch
    decide the order, in a buffer that holds all examples of the share. To start at a step, all
    steps before it are read again and skipped, which takes the time of reading.
    """
    (features, labels), tests = make_data()
    features, labels = np.asarray(features), np.asarray(labels)

    def parse(records: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        texts = tf.io.FixedLenFeature([], tf.string)
        found = tf.io.parse_example(records, {"features": texts, "label": texts})
        batch = tf.io.decode_raw(found["features"], features.dtype)
        answers = tf.io.decode_raw(found["label"], labels.dtype)
        return (
            tf.reshape(batch, [GLOBAL_BATCH_SIZE, *features.shape[1:]]),
            tf.reshape(answers, [GLOBAL_BATCH_SIZE, *labels.shape[1:]]),
        )

    files = write_files(features, labels) / "*.tfrecord"
    train = tf.data.Dataset.list_files(str(files), shuffle=False)
    train = train.interleave(
        tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE
    )
    # The inner repeat fills an epoch longer than the share; take ends a shorter epoch.
    train = train.shuffle(NUM_TRAIN_EXAMPLES, SEED).repeat()
    train = train.take(STEPS_PER_EPOCH * READ_PER_STEP).repeat()
    train = train.skip(start_step * READ_PER_STEP).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.map(parse, tf.data.AUTOTUNE).with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
    )
