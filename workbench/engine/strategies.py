"""The devices of each strategy: a function for each strategy and kind of device."""

import json
import os
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from .constants import (
        COMMUNICATION,
        CROSS_DEVICE_OPS,
        DEVICES,
        GPU_MEMORY,
        REPLICAS,
        TASKS,
        TPU,
        WORKERS,
    )


def this_task() -> tf.distribute.cluster_resolver.ClusterResolver:
    """Return the task that this process is, with the addresses of all; TF_CONFIG names them."""
    task = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    found = {kind: len(each) for kind, each in task.cluster_spec().as_dict().items()}
    if found != TASKS:
        raise SystemExit(
            f"Needs TF_CONFIG with the tasks {TASKS}, not {found}. Set it as at the top, or start "
            "all tasks: workbench run --script train.py"
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


def this_worker() -> int:
    """Return the number of the worker that this process is; TF_CONFIG names it and all others."""
    task = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    workers = task.cluster_spec().as_dict().get("worker", [])
    if len(workers) != WORKERS:
        raise SystemExit(
            f"Needs TF_CONFIG with {WORKERS} workers, not {len(workers)}. Set it as at the top, or "
            "start all workers: workbench run --script train.py"
        )
    return task.task_id


def open_gpus(devices: tuple[str, ...] = DEVICES) -> list[str]:
    """Make only these devices visible to TensorFlow; return their new names, numbered from 0."""
    found = {gpu.name.split(":", 1)[1]: gpu for gpu in tf.config.list_physical_devices("GPU")}
    if not set(devices) <= set(found):
        raise SystemExit(f"Needs {devices}; found {list(found)}. Change DEVICES to GPUs found.")
    gpus = [found[name] for name in devices]
    tf.config.set_visible_devices(gpus, "GPU")
    for gpu in gpus:
        if GPU_MEMORY == "growth":
            tf.config.experimental.set_memory_growth(gpu, True)
        elif isinstance(GPU_MEMORY, int):
            limit = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_MEMORY)
            tf.config.set_logical_device_configuration(gpu, [limit])
    return [f"GPU:{number}" for number in range(len(gpus))]


def make_strategy__central_storage_cpu() -> tf.distribute.Strategy:
    """Keep variables once, on the CPU; each part of the CPU computes with a part of the batch."""
    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    tf.config.set_logical_device_configuration(cpu, parts)
    devices = [f"CPU:{number}" for number in range(REPLICAS)]
    # TensorFlow 2.21 asks input options for a misspelt name (parameter_server_strategy.py).
    options = tf.distribute.InputOptions
    options.experimental_replication_moden = options.experimental_replication_mode
    return tf.distribute.experimental.CentralStorageStrategy(devices, parameter_device="CPU:0")


def make_strategy__default_cpu() -> tf.distribute.Strategy:
    """Return the default strategy: one replica, on the CPU."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.get_strategy()


def make_strategy__mirrored_cpu() -> tf.distribute.Strategy:
    """Return a strategy with a copy of the model on each virtual CPU; steps sum their gradients."""
    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    tf.config.set_logical_device_configuration(cpu, parts)
    devices = [f"CPU:{number}" for number in range(REPLICAS)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)


def make_strategy__multi_worker_cpu() -> tf.distribute.Strategy:
    """Return a strategy with a model copy on each worker's CPU; steps sum their gradients."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)


def make_strategy__one_device_cpu() -> tf.distribute.Strategy:
    """Return a strategy of one replica, with variables and computation on the CPU."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.OneDeviceStrategy("CPU:0")


def make_strategy__parameter_server_cpu() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on its CPU, at its own pace."""
    task = this_task()
    tf.config.set_visible_devices([], "GPU")
    if task.task_type != "chief":
        serve(task)  # and never return
    return tf.distribute.ParameterServerStrategy(task)


def make_strategy__central_storage_gpu() -> tf.distribute.Strategy:
    """Keep variables once, on the CPU; each GPU computes with its part of the batch."""
    devices = open_gpus()
    # TensorFlow 2.21 asks input options for a misspelt name (parameter_server_strategy.py).
    options = tf.distribute.InputOptions
    options.experimental_replication_moden = options.experimental_replication_mode
    return tf.distribute.experimental.CentralStorageStrategy(devices, parameter_device="CPU:0")


def make_strategy__default_gpu() -> tf.distribute.Strategy:
    """Return the default strategy: one replica, on the GPU."""
    open_gpus()
    return tf.distribute.get_strategy()


def make_strategy__mirrored_gpu() -> tf.distribute.Strategy:
    """Return a strategy with a copy of the model on each GPU; steps sum their gradients."""
    return tf.distribute.MirroredStrategy(open_gpus(), cross_device_ops=CROSS_DEVICE_OPS)


def make_strategy__multi_worker_gpu() -> tf.distribute.Strategy:
    """Return a strategy with a model copy on each worker's GPUs; steps sum their gradients."""
    index = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index", 0)
    each = len(DEVICES) // WORKERS
    open_gpus(DEVICES[index * each : (index + 1) * each])
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)


def make_strategy__one_device_gpu() -> tf.distribute.Strategy:
    """Return a strategy of one replica, with variables and computation on one GPU."""
    open_gpus()
    return tf.distribute.OneDeviceStrategy("GPU:0")


def make_strategy__parameter_server_gpu() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on its GPU, at its own pace."""
    task = this_task()
    own = slice(task.task_id, task.task_id + 1) if task.task_type == "worker" else slice(0)
    open_gpus(DEVICES[own])
    if task.task_type != "chief":
        serve(task)  # and never return
    return tf.distribute.ParameterServerStrategy(task)


def make_strategy__central_storage_virtual_gpu() -> tf.distribute.Strategy:
    """Keep variables once, on the CPU; each virtual part of one GPU takes a part of the batch."""
    found = {gpu.name.split(":", 1)[1]: gpu for gpu in tf.config.list_physical_devices("GPU")}
    if not set(DEVICES) <= set(found):
        raise SystemExit(f"Needs {DEVICES}; found {list(found)}. Change DEVICES to a GPU found.")
    gpu = found[DEVICES[0]]
    tf.config.set_visible_devices([gpu], "GPU")
    part = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_MEMORY)
    tf.config.set_logical_device_configuration(gpu, [part] * REPLICAS)
    devices = [f"GPU:{number}" for number in range(REPLICAS)]
    # TensorFlow 2.21 asks input options for a misspelt name (parameter_server_strategy.py).
    options = tf.distribute.InputOptions
    options.experimental_replication_moden = options.experimental_replication_mode
    return tf.distribute.experimental.CentralStorageStrategy(devices, parameter_device="CPU:0")


def make_strategy__mirrored_virtual_gpu() -> tf.distribute.Strategy:
    """Return a strategy with a copy of the model on each virtual GPU; they share a GPU's memory."""
    found = {gpu.name.split(":", 1)[1]: gpu for gpu in tf.config.list_physical_devices("GPU")}
    if not set(DEVICES) <= set(found):
        raise SystemExit(f"Needs {DEVICES}; found {list(found)}. Change DEVICES to a GPU found.")
    gpu = found[DEVICES[0]]
    tf.config.set_visible_devices([gpu], "GPU")
    part = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_MEMORY)
    tf.config.set_logical_device_configuration(gpu, [part] * REPLICAS)
    devices = [f"GPU:{number}" for number in range(REPLICAS)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)


def make_strategy__multi_worker_hosts_gpu() -> tf.distribute.Strategy:
    """Return a strategy with a copy of the model on each host's GPUs; steps sum their gradients."""
    open_gpus()
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)


def make_strategy__parameter_server_hosts_gpu() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on the GPU of its host."""
    task = this_task()
    if task.task_type == "worker":
        open_gpus()
    else:
        tf.config.set_visible_devices([], "GPU")
    if task.task_type != "chief":
        serve(task)  # and never return
    return tf.distribute.ParameterServerStrategy(task)


def make_strategy__tpu() -> tf.distribute.Strategy:
    """Set up the TPU; keep a copy of the model on each core. A step sums all copies' gradients."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=TPU)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    if strategy.num_replicas_in_sync != REPLICAS:
        raise SystemExit(
            f"Needs a TPU of {REPLICAS} cores; {TPU} has {strategy.num_replicas_in_sync}. Set "
            "REPLICAS to that number; batch sizes must be multiples of it."
        )
    return strategy
