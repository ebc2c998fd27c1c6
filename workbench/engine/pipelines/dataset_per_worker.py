from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import PER_REPLICA_BATCH_SIZE, STEPS_PER_EPOCH, WORKERS
    from .own_data import make_data


def make_batches() -> tuple[Callable, tf.data.Dataset]:
    """Return a function of a step, which makes a worker's batches from there on, and the tests.

    Worker w of W takes the batches w, w + W, w + 2W, ... of all epochs. Its share of the steps that
    are done is read again and skipped.
    """

    def train(start_step: int, _: tf.distribute.InputContext | None = None) -> tf.data.Dataset:
        # Not input_pipeline_id, which is 0 in every worker here.
        worker = tf.distribute.coordinator.experimental_get_current_worker_index()
        examples, _test = make_data()
        # The inner repeat fills an epoch longer than the data; take ends a shorter epoch.
        examples = examples.repeat().take(STEPS_PER_EPOCH * PER_REPLICA_BATCH_SIZE).repeat()
        batches = examples.batch(PER_REPLICA_BATCH_SIZE, drop_remainder=True)
        own = batches.shard(WORKERS, tf.cast(worker, tf.int64))
        return own.skip(start_step // WORKERS).prefetch(tf.data.AUTOTUNE)

    _, tests = make_data()
    return train, tests.batch(PER_REPLICA_BATCH_SIZE)
