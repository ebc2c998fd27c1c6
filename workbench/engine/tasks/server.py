from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.parameter_server import open_devices

    from ..coordinator import end_with_chief
    from ..recorder import Recorder


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
    server = tf.distribute.Server(cluster, job_name=kind, task_index=index, protocol="grpc")
    recorder.event("serving")
    end_with_chief(recorder)
    server.join()
