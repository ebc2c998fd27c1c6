from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import NUM_TRAIN_EXAMPLES, PASSES_PER_EPOCH, SEED


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the examples at `count` positions of an epoch, which may repeat the data.

    Only seed and epoch decide them. Each pass through the data has its own order.
    """
    positions = first + tf.range(count, dtype=tf.int64)
    order = epoch * PASSES_PER_EPOCH + positions // NUM_TRAIN_EXAMPLES
    seed = tf.constant(SEED, tf.int64)
    seeds = tf.stack([tf.fill([count], seed), order, tf.zeros_like(order)], axis=1)
    # The raw operation, because index_shuffle takes only one seed for all positions.
    return tf.raw_ops.RandomIndexShuffle(
        index=positions % NUM_TRAIN_EXAMPLES, seed=seeds, max_index=NUM_TRAIN_EXAMPLES - 1
    )
