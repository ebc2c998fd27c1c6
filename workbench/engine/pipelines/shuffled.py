from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import GLOBAL_BATCH_SIZE, STEPS_PER_EPOCH
    from ..orders.drop import shuffled_rows


def shuffled_batches(examples: tuple[tf.Tensor, ...], start_step: int) -> tf.data.Dataset:
    """Return the global batches from a step on, in the order of `shuffled_rows`, without end."""
    examples = tf.nest.map_structure(tf.constant, examples)

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    return tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
