from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import (
        GLOBAL_BATCH_SIZE,
        PER_REPLICA_BATCH_SIZE,
        STEPS_PER_EPOCH,
        STEPS_PER_STACK,
    )
    from ..data.synthetic import make_data
    from ..orders.drop import shuffled_rows
    from .tests import deal_tests


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches.

    Each element is a stack: one replica's batches of STEPS_PER_STACK steps. The last stack of an
    epoch may hold batches beyond the epoch's steps, which the loop skips.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)
    stacks_per_epoch = -(-STEPS_PER_EPOCH // STEPS_PER_STACK)

    def train(context: tf.distribute.InputContext) -> tf.data.Dataset:
        pipelines, own = context.num_input_pipelines, context.input_pipeline_id
        replicas = context.num_replicas_in_sync // pipelines

        def stack_at(number: tf.Tensor) -> tuple[tf.Tensor, ...]:
            first = number % stacks_per_epoch * STEPS_PER_STACK * GLOBAL_BATCH_SIZE
            count = STEPS_PER_STACK * GLOBAL_BATCH_SIZE
            rows = shuffled_rows(number // stacks_per_epoch, first, count)
            rows = tf.reshape(rows, [STEPS_PER_STACK, pipelines, replicas, PER_REPLICA_BATCH_SIZE])
            rows = tf.reshape(tf.transpose(rows[:, own], [1, 0, 2]), [-1])
            shape = [replicas, STEPS_PER_STACK, PER_REPLICA_BATCH_SIZE]
            return tf.nest.map_structure(
                lambda part: tf.reshape(tf.gather(part, rows), shape + part.shape[1:]), examples
            )

        epoch, step = divmod(start_step, STEPS_PER_EPOCH)
        stacks = tf.data.Dataset.counter(epoch * stacks_per_epoch + step // STEPS_PER_STACK)
        return stacks.map(stack_at, tf.data.AUTOTUNE).unbatch().prefetch(2 * replicas)

    return (
        strategy.distribute_datasets_from_function(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
    )
