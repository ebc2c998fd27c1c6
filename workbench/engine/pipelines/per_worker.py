from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import PER_REPLICA_BATCH_SIZE, STEPS_PER_EPOCH, WORKERS
    from ..data.synthetic import make_data
    from ..orders.drop import shuffled_rows


def make_batches() -> tuple[Callable, tf.data.Dataset]:
    """Return a function of a step, which makes a worker's batches from there on, and the tests.

    Worker w of W takes the batches w, w + W, w + 2W, ... of all epochs, without its share of the
    steps that are done.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)

    def train(start_step: int, _: tf.distribute.InputContext | None = None) -> tf.data.Dataset:
        # Not input_pipeline_id, which is 0 in every worker here.
        worker = tf.distribute.coordinator.experimental_get_current_worker_index()

        def batch_at(own: tf.Tensor) -> tuple[tf.Tensor, ...]:
            step = own * WORKERS + tf.cast(worker, tf.int64)
            position = step % STEPS_PER_EPOCH * PER_REPLICA_BATCH_SIZE
            rows = shuffled_rows(step // STEPS_PER_EPOCH, position, PER_REPLICA_BATCH_SIZE)
            return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

        steps = tf.data.Dataset.counter(start_step // WORKERS)
        return steps.map(batch_at, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    return train, tf.data.Dataset.from_tensor_slices(tests).batch(PER_REPLICA_BATCH_SIZE)
