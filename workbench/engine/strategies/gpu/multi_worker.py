import json
import os
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import COMMUNICATION, DEVICES, WORKERS
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each GPU of each worker; every step sums the gradients of all."""
    index = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index", 0)
    each = len(DEVICES) // WORKERS
    open_gpus(DEVICES[index * each : (index + 1) * each])
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)
