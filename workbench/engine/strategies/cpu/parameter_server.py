from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.lesson.task import serve, this_task


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on its CPU, at its own pace."""
    task = this_task()
    tf.config.set_visible_devices([], "GPU")
    if task.task_type != "chief":
        serve(task)
    return tf.distribute.ParameterServerStrategy(task)
