from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import NUM_TEST_EXAMPLES, TEST_BATCH_SIZE


def deal_tests(examples: tf.data.Dataset) -> Callable:
    """Return a function that makes a pipeline's test batches, with each example once.

    The replicas of all pipelines take a step's examples in turn, like dealt cards.
    """
    even = NUM_TEST_EXAMPLES % TEST_BATCH_SIZE == 0  # then sizes are fixed, as a TPU needs
    batches = examples.batch(TEST_BATCH_SIZE, drop_remainder=even)

    def deal(context: tf.distribute.InputContext) -> tf.data.Dataset:
        replicas = context.num_replicas_in_sync
        local = replicas // context.num_input_pipelines
        first = local * context.input_pipeline_id

        def hands(*batch: tf.Tensor) -> tf.data.Dataset:
            size = tf.shape(tf.nest.flatten(batch)[0], tf.int64)[0]

            def hand(own: tf.Tensor) -> tuple[tf.Tensor, ...]:
                rows = tf.range(own, size, replicas)
                if even:
                    rows = tf.ensure_shape(rows, [TEST_BATCH_SIZE // replicas])
                return tf.nest.map_structure(lambda part: tf.gather(part, rows), batch)

            return tf.data.Dataset.range(first, first + local).map(hand)

        return batches.flat_map(hands).prefetch(2 * local)

    return deal
