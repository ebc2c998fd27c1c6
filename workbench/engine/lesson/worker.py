from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import WORKERS


def this_worker(strategy: tf.distribute.Strategy) -> int:
    """Return the number of the worker that this process is; TF_CONFIG names it and all others."""
    tasks = strategy.cluster_resolver
    workers = tasks.cluster_spec().as_dict().get("worker", [])
    if len(workers) != WORKERS:
        raise SystemExit(
            f"Needs TF_CONFIG with the addresses of {WORKERS} workers; it names {len(workers)}. "
            "Set it for each worker's process, or start all: workbench run --script train.py"
        )
    return tasks.task_id
