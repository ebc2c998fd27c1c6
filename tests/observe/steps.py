"""Steps of every shape that a strategy may run, and what is recorded of them: `steps.py`.

It prints a line of JSON for each: whether the steps train, the names of their scalars, their rows
[step, replica, 3 + scalars], and the least time between two steps. A row holds the sum of the
losses, the correct answers, the examples and the scalars.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from workbench.observe.calls import Runs
from workbench.observe.patches import Patches

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
STRATEGY = tf.distribute.MirroredStrategy(
    ["CPU:0", "CPU:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)
patches = Patches()
runs = Runs(patches, lambda *_: None, lambda strategy: None, lambda step: None)
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
    spread = tf.keras.metrics.Mean("spread")
    top, area = tf.keras.metrics.Mean("top_accuracy"), tf.keras.metrics.AUC(name="area")
    rmse = tf.keras.metrics.RootMeanSquaredError(name="rmse")
    outputs = tf.keras.Input([1])
    doubled = tf.keras.Model(outputs, [tf.keras.layers.Dense(1, name=n)(outputs) for n in "ab"])
    doubled.compile("sgd", loss=["mse", "mse"], metrics=[["mae"], ["mae", "mse"]])
numbers = np.arange(10, dtype=np.float32)  # a batch of 6, in two of 3, then one of 4, in two of 2
BATCHES = STRATEGY.experimental_distribute_dataset(
    tf.data.Dataset.from_tensor_slices(numbers).batch(6)
)


def named(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"train_loss": tf.reduce_mean(batch), "accuracy": tf.constant(0.5), "all": batch}


def several(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    """Return one number, and give another with weights to a metric."""
    spread.update_state(batch, sample_weight=tf.cast(batch > 1, tf.float32))
    return {"loss": tf.reduce_mean(batch), "train_largest": tf.reduce_max(batch)}


def by_replica(batch: tf.Tensor) -> tf.Tensor:
    """Give a number to a metric in the first replica only."""
    if tf.distribute.get_replica_context().replica_id_in_sync_group == 0:
        spread.update_state(batch)
    return tf.reduce_mean(batch)


def variables(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"loss": tf.reduce_mean(batch), "acc": variable}


def shared_out(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    """Return the loss of Keras, which is divided by the number of replicas."""
    return {"loss": model.compute_loss(y=0 * batch[:, None], y_pred=batch[:, None])}


def in_parts(batch: tf.Tensor) -> None:
    """Give a batch to one metric in two parts."""
    mean.update_state(batch[:1])
    mean.update_state(batch[1:])


def tracked(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    """Give the loss of the step to a metric, and return the metric's result."""
    mean.update_state(tf.reduce_mean(batch))
    return {"loss": mean.result()}


def running(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    """Return results of metrics, which count all steps so far."""
    both = tf.reshape(batch, [-1, 1])
    area.update_state(tf.round(both / 10), both / 10)
    rmse.update_state(both, 0 * both)
    top.update_state(batch * 0)
    accuracy.update_state(batch[:, None] * 0 + [0.0], tf.cast(batch > 3, tf.float32)[:, None])
    return {"loss": tf.reduce_mean(batch), "area": area.result(), "rmse": rmse.result()}


def fitted(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    """Train as Keras does, with two outputs."""
    features = tf.reshape(batch, [-1, 1])
    return doubled.train_step((features, (features, features)))


def pairs(step: tuple[Callable, Callable]) -> None:
    """Run two steps in turn in a graph, which report different numbers."""

    @tf.function
    def run(batches: Any) -> None:
        for batch in batches:
            for each in step:
                STRATEGY.run(each, args=(batch,))

    run(iter(BATCHES))


def first(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"d_loss": tf.reduce_min(batch)}


def second(batch: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"g_loss": tf.reduce_max(batch), "kl": tf.constant(1.0)}


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


CASES: dict[str, tuple[Callable, Any]] = {
    **{step.__name__: (in_graph, step) for step in (named, scalar, metrics, weighted, training)},
    **{step.__name__: (in_graph, step) for step in (scaled, compiled, silent)},
    **{step.__name__: (in_graph, step) for step in (several, by_replica)},
    **{step.__name__: (in_graph, step) for step in (variables, shared_out)},
    **{step.__name__: (in_graph, step) for step in (in_parts, tracked, running, fitted)},
    "in_turn": (pairs, (first, second)),
    "eager": (eagerly, training),
}
for name, (way, step) in CASES.items():
    way(step)
    found = [(*kind, taken.tolist(), np.diff(times).min()) for kind, taken, times in runs.take()]
    sys.stdout.write(json.dumps({"case": name, "found": found}) + "\n")
patches.undo()
in_graph(scalar)
sys.stdout.write(json.dumps({"case": "undone", "found": list(runs.take())}) + "\n")
