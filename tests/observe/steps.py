"""Steps of every shape that a strategy may run, and what is recorded of them: `steps.py`.

It prints a line of JSON for each: whether the steps train, and their rows [step, replica, 3], which
hold the sum of the losses, the correct answers and the examples.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from workbench.observe.patches import Patches
from workbench.observe.rows import Rows

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
STRATEGY = tf.distribute.MirroredStrategy(
    ["CPU:0", "CPU:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)
patches = Patches()
rows = Rows(patches, lambda *_: None, lambda strategy: None, lambda step: None)
with STRATEGY.scope():
    weight = tf.Variable(2.0)
    optimizer = tf.keras.optimizers.SGD(0.0)
    optimizer.build([weight])
    scaling = tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.SGD(0.0))
    scaling.build([weight])
    model = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Identity()])
    model.compile(loss="mae")
    model.compute_loss(y=tf.ones([1, 1]), y_pred=tf.ones([1, 1]))
    variable = tf.keras.Variable(0.5)
    mean, accuracy = tf.keras.metrics.Mean("train_loss"), tf.keras.metrics.BinaryAccuracy()
numbers = np.arange(10, dtype=np.float32)  # a batch of 6, in two of 3, then one of 4, in two of 2
BATCHES = STRATEGY.experimental_distribute_dataset(
    tf.data.Dataset.from_tensor_slices(numbers).batch(6)
)


def named(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"train_loss": tf.reduce_mean(batch), "accuracy": tf.constant(0.5), "all": batch}


def variables(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"loss": tf.reduce_mean(batch), "acc": variable}


def shared_out(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    """Return the loss of Keras, which is divided by the number of replicas."""
    return {"loss": model.compute_loss(y=0 * batch[:, None], y_pred=batch[:, None])}


def scalar(batch: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(batch)


def metrics(batch: tf.Tensor) -> None:
    mean.update_state(batch)
    accuracy.update_state(batch[:, None] * 0 + [0.0], tf.cast(batch > 3, tf.float32)[:, None])


def weighted(batch: tf.Tensor) -> None:
    mean.update_state(batch, sample_weight=tf.cast(batch > 1, tf.float32))


def training(batch: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(weight * batch)
    optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
    return loss


def scaled(batch: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(weight * batch)
        scaled_loss = scaling.scale_loss(loss)
    scaling.apply_gradients([(tape.gradient(scaled_loss, weight), weight)])
    return loss


def compiled(batch: tf.Tensor) -> tf.Tensor:
    return tf.function(scalar, jit_compile=True)(batch)


def silent(batch: tf.Tensor) -> None:
    weight.assign(weight)


def in_graph(step: Callable) -> None:
    @tf.function
    def run(batches: Any) -> None:
        for batch in batches:
            STRATEGY.run(step, args=(batch,))

    run(iter(BATCHES))


def eagerly(step: Callable) -> None:
    for batch in BATCHES:
        STRATEGY.run(step, args=(batch,))


CASES: dict[str, tuple[Callable, Callable]] = {
    **{step.__name__: (in_graph, step) for step in (named, scalar, metrics, weighted, training)},
    **{step.__name__: (in_graph, step) for step in (scaled, compiled, silent)},
    **{step.__name__: (in_graph, step) for step in (variables, shared_out)},
    "eager": (eagerly, training),
}
for name, (way, step) in CASES.items():
    way(step)
    found = [(trains, taken.tolist(), np.diff(times).min()) for trains, taken, times in rows.take()]
    sys.stdout.write(json.dumps({"case": name, "found": found}) + "\n")
patches.undo()
in_graph(scalar)
sys.stdout.write(json.dumps({"case": "undone", "found": list(rows.take())}) + "\n")
