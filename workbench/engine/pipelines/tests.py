from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import NUM_TEST_EXAMPLES, TEST_BATCH_SIZE, TEST_STEPS


def deal_tests(examples: tuple[tf.Tensor, ...]) -> Callable:
    """Return a function that makes a pipeline's test batches, with each example once.

    The replicas of all pipelines take a step's examples in turn, like dealt cards.
    """
    examples = tf.nest.map_structure(tf.constant, examples)

    def deal(context: tf.distribute.InputContext) -> tf.data.Dataset:
        replicas = context.num_replicas_in_sync
        local = replicas // context.num_input_pipelines

        def batch_at(number: tf.Tensor) -> tuple[tf.Tensor, ...]:
            first = number // local * TEST_BATCH_SIZE
            own = first + local * context.input_pipeline_id + number % local
            rows = tf.range(own, tf.minimum(first + TEST_BATCH_SIZE, NUM_TEST_EXAMPLES), replicas)
            if NUM_TEST_EXAMPLES % TEST_BATCH_SIZE == 0:
                rows = tf.ensure_shape(rows, [TEST_BATCH_SIZE // replicas])  # a TPU must know it
            return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

        batches = tf.data.Dataset.range(TEST_STEPS * local)
        return batches.map(batch_at, tf.data.AUTOTUNE).prefetch(2 * local)

    return deal
