from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import AUTO_SHARD, GLOBAL_BATCH_SIZE, READ_PER_STEP, STEPS_PER_EPOCH
    from ..data.synthetic import make_data
    from ..orders.drop import shuffled_rows
    from .tests import deal_tests


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches.

    The strategy gives each worker its share of the training batches by the rule AUTO_SHARD. By
    the rule OFF the share is all batches, and a worker uses a batch for several steps.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)
    steps = GLOBAL_BATCH_SIZE // READ_PER_STEP

    def rows_of(step: tf.Tensor) -> tf.Tensor:
        first = step % STEPS_PER_EPOCH * READ_PER_STEP
        return shuffled_rows(step // STEPS_PER_EPOCH, first, READ_PER_STEP)

    def batch_from(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        rows = tf.concat([rows_of(step + ahead) for ahead in range(steps)], axis=0)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step, steps).map(batch_from, tf.data.AUTOTUNE)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
    )
