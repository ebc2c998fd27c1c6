import os
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import COMMUNICATION, WORKERS


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each worker, on its CPU; every step sums the gradients of all."""
    tf.config.set_visible_devices([], "GPU")
    cores_per_worker = max(1, (os.cpu_count() or 1) // WORKERS)
    tf.config.threading.set_intra_op_parallelism_threads(cores_per_worker)
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)
