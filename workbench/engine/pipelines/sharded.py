from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import AUTO_SHARD, GLOBAL_BATCH_SIZE, STEPS_PER_EPOCH
    from ..data.synthetic import make_data
    from ..orders.drop import shuffled_rows


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, without end, and the test batches.

    Every worker makes all global batches; the strategy keeps this worker's share of each.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices(tests).batch(GLOBAL_BATCH_SIZE)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    return tuple(
        strategy.experimental_distribute_dataset(batches.with_options(options).prefetch(2))
        for batches in (train, test)
    )
