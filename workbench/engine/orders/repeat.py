from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import GLOBAL_BATCH_SIZE, NUM_TRAIN_EXAMPLES, SEED, STEPS_PER_EPOCH


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the examples at `count` positions of an epoch, which may go through the data again.

    Seed and epoch alone decide; each pass through the data has an order of its own.
    """
    passes = -(-STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE // NUM_TRAIN_EXAMPLES)
    positions = first + tf.range(count, dtype=tf.int64)
    order = epoch * passes + positions // NUM_TRAIN_EXAMPLES
    seed = tf.stack([tf.fill([count], tf.constant(SEED, tf.int64)), order], axis=1)
    positions %= NUM_TRAIN_EXAMPLES
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def examples_in_step(labels: tf.Tensor) -> int | tf.Tensor:
    """Every step takes a full global batch."""
    return GLOBAL_BATCH_SIZE
