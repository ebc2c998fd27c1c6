from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.constants import DEVICES
    from workbench.engine.lesson.task import serve, this_task
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on its GPU, at its own pace."""
    task = this_task()
    own = slice(task.task_id, task.task_id + 1) if task.task_type == "worker" else slice(0)
    open_gpus(DEVICES[own])
    if task.task_type != "chief":
        serve(task)
    return tf.distribute.ParameterServerStrategy(task)
