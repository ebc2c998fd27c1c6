import os
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.parameter_server import open_devices

    from ..coordinator import end_with_chief
    from ..recorder import Recorder


def threads_for(cluster: tf.train.ClusterSpec) -> int:
    """Return the threads that a server needs: a thread for each CPU, or more if these are few.

    On one CPU, TensorFlow would take one thread, in which a call would wait for another forever:
    worker_config in https://www.tensorflow.org/tutorials/distribute/parameter_server_training.
    """
    on_linux = hasattr(os, "sched_getaffinity")
    cpus = len(os.sched_getaffinity(0)) if on_linux else os.cpu_count() or 1
    return max(cpus, cluster.num_tasks("worker") + 1)


def serve() -> None:
    """Serve the chief as a worker or a parameter server until something ends this process."""
    recorder = Recorder()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    kind, index = resolver.task_type, resolver.task_id
    if kind == "worker":
        open_devices(index)
    else:
        tf.config.set_visible_devices([], "GPU")
    cluster = resolver.cluster_spec()
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=threads_for(cluster))
    server = tf.distribute.Server(cluster, kind, index, protocol="grpc", config=config)
    recorder.event("serving")
    end_with_chief(recorder)
    server.join()
