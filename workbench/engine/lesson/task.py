import os
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import TASKS


def this_task() -> tf.distribute.cluster_resolver.ClusterResolver:
    """Return the task that this process is, with the addresses of all; TF_CONFIG names them."""
    task = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    found = {kind: len(each) for kind, each in task.cluster_spec().as_dict().items()}
    if found != TASKS:
        needed, named = (
            ", ".join(f"{n} {kind}" for kind, n in each.items()) for each in (TASKS, found)
        )
        raise SystemExit(
            f"Needs TF_CONFIG with the addresses of {needed}; it names {named or 'none'}. Set it "
            "for the process of each task, or start all: workbench run --script train.py"
        )
    return task


def serve(task: tf.distribute.cluster_resolver.ClusterResolver) -> None:
    """Serve the chief as a worker or a parameter server, until something ends this process."""
    cluster = task.cluster_spec()
    # With fewer threads, a call can wait for another one forever.
    threads = max(os.cpu_count() or 1, cluster.num_tasks("worker") + 1)
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=threads)
    tf.distribute.Server(
        cluster, task.task_type, task.task_id, protocol="grpc", config=config
    ).join()
