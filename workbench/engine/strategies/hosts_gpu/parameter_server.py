from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.lesson.task import serve, this_task
    from workbench.engine.strategies.gpus import open_gpus


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on the GPU of its host."""
    task = this_task()
    if task.task_type == "worker":
        open_gpus()
    else:
        tf.config.set_visible_devices([], "GPU")
    if task.task_type != "chief":
        serve(task)
    return tf.distribute.ParameterServerStrategy(task)
