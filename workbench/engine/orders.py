"""The order of the examples in training, and their share of each replica in tests."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from .constants import (
        NUM_TEST_EXAMPLES,
        NUM_TRAIN_EXAMPLES,
        PASSES_PER_EPOCH,
        SEED,
        TEST_BATCH_SIZE,
        TEST_STEPS,
    )


def shuffled_rows__drop(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the numbers of `count` examples, from `first` on, in an epoch's shuffled order."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def shuffled_rows__keep(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the numbers of `count` examples in an epoch's order, fewer if the data ends."""
    positions = tf.range(first, tf.minimum(first + count, NUM_TRAIN_EXAMPLES))
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def shuffled_rows__repeat(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the numbers of `count` examples in an epoch's order, which may repeat the data.

    Each pass through the data has its own shuffled order.
    """
    positions = first + tf.range(count, dtype=tf.int64)
    order = epoch * PASSES_PER_EPOCH + positions // NUM_TRAIN_EXAMPLES
    seed = tf.constant(SEED, tf.int64)
    seeds = tf.stack([tf.fill([count], seed), order, tf.zeros_like(order)], axis=1)
    # The raw operation, because index_shuffle takes only one seed for all positions.
    return tf.raw_ops.RandomIndexShuffle(
        index=positions % NUM_TRAIN_EXAMPLES, seed=seeds, max_index=NUM_TRAIN_EXAMPLES - 1
    )


def deal_tests__arrays(examples: tuple[tf.Tensor, ...]) -> Callable:
    """Return a function that makes a pipeline's test batches, with each example once.

    The replicas of all pipelines take a step's examples in turn, like dealt cards.
    """
    with tf.device("CPU"):  # where input pipelines run
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


def deal_tests__dataset(examples: tf.data.Dataset) -> Callable:
    """Return a function that makes a pipeline's test batches, with each example once.

    The replicas of all pipelines take a step's examples in turn, like dealt cards.
    """
    even = NUM_TEST_EXAMPLES % TEST_BATCH_SIZE == 0  # then sizes are fixed, as a TPU needs
    batches = examples.batch(TEST_BATCH_SIZE, drop_remainder=even)

    def deal(context: tf.distribute.InputContext) -> tf.data.Dataset:
        replicas = context.num_replicas_in_sync
        local = replicas // context.num_input_pipelines
        first = local * context.input_pipeline_id

        def hands(*parts: tf.Tensor) -> tf.data.Dataset:
            batch = tf.nest.pack_sequence_as(batches.element_spec, tf.nest.flatten(parts))
            size = tf.shape(tf.nest.flatten(batch)[0], tf.int64)[0]

            def hand(own: tf.Tensor) -> tuple[tf.Tensor, ...]:
                rows = tf.range(own, size, replicas)
                if even:
                    rows = tf.ensure_shape(rows, [TEST_BATCH_SIZE // replicas])
                return tf.nest.map_structure(lambda part: tf.gather(part, rows), batch)

            return tf.data.Dataset.range(first, first + local).map(hand)

        return batches.flat_map(hands).prefetch(2 * local)

    return deal
