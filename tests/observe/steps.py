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
from workbench.observe.kerases import Patches

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
STRATEGY = tf.distribute.MirroredStrategy(
    ["CPU:0", "CPU:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)
patches = Patches()
runs = Runs(patches, lambda *_: None, lambda strategy: None, lambda step: None, lambda: None)
with STRATEGY.scope():
    weight = tf.Variable(2.0)
    optimizer = tf.keras.optimizers.SGD(0.0)
    optimizer.build([weight])
    other, other_optimizer = tf.Variable(1.0), tf.keras.optimizers.SGD(0.0)
    other_optimizer.build([other])
    table, wide = tf.Variable([0.0, 0.0]), tf.Variable(0.0, dtype=tf.float64)
    table_optimizer, wide_optimizer = tf.keras.optimizers.SGD(0.0), tf.keras.optimizers.SGD(0.0)
    table_optimizer.build([table, other])
    wide_optimizer.build([wide])
    two_parts = [tf.keras.Variable(2.0, name=each) for each in ("one", "two")]
    # 3.14.0 of Keras lacks it.
    multi = getattr(tf.keras.optimizers, "MultiOptimizer", lambda choose: choose(two_parts[0]))(
        lambda each: tf.keras.optimizers.SGD(0.0)
    )
    multi.build(two_parts)
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


def clipped(batch: tf.Tensor) -> tf.Tensor:
    """Clip the gradient of the replica, as it is often written."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(weight * batch)
    gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, [weight]), 0.1)
    optimizer.apply_gradients(zip(gradients, [weight], strict=True))
    return loss


def accumulated(batch: tf.Tensor) -> tf.Tensor:
    """Add up the gradients of two parts of the batch."""
    parts = []
    for part in batch[:1], batch[1:]:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight * part)
        parts.append(tape.gradient(loss, weight))
    optimizer.apply_gradients([(tf.add_n(parts), weight)])
    return loss


def rows_of_a_table(batch: tf.Tensor) -> tf.Tensor:
    """Train rows of a table, one of them by several examples, and a number in float64."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, tf.cast(batch > 4, tf.int32)))
        both = tf.cast(loss, tf.float64) + wide
    gradients = tape.gradient(both, {"table": table, "unused": other, "wide": wide})
    table_optimizer.apply_gradients([(gradients["table"], table), (gradients["unused"], other)])
    wide_optimizer.apply_gradients([(gradients["wide"], wide)])
    return loss


def recomputed(batch: tf.Tensor) -> tf.Tensor:
    """Compute the forward pass again for the gradient, and clip that."""
    forward = tf.recompute_grad(lambda part: weight * part)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(forward(batch))
    optimizer.apply_gradients([(tf.clip_by_norm(tape.gradient(loss, weight), 0.1), weight)])
    return loss


def in_a_function(batch: tf.Tensor) -> tf.Tensor:
    """Compute the gradient in a graph function, which a step calls."""

    @tf.function
    def differentiated() -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(weight * batch)
        return loss, tape.gradient(loss, weight)

    loss, gradient = differentiated()
    optimizer.apply_gradients([(gradient, weight)])
    return loss


def with_penalty(batch: tf.Tensor) -> tf.Tensor:
    """Train on a gradient of the input, by two optimizers, one of them with another loss."""
    with tf.GradientTape(persistent=True) as tape:
        with tf.GradientTape() as inner:
            inner.watch(batch)
            output = weight**2 * batch
        loss = tf.reduce_mean(inner.gradient(output, batch))
        other_loss = tf.reduce_mean(other * batch)
    optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
    other_optimizer.apply_gradients([(tape.gradient(other_loss, other), other)])
    return loss


def each_its_optimizer(batch: tf.Tensor) -> tf.Tensor:
    """Train two weights, each by an optimizer of its own, through one that holds both."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(two_parts[0] * batch + two_parts[1])
    weights = [each.value for each in two_parts]
    multi.apply(tape.gradient(loss, weights), two_parts)
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
NORMS: dict[str, tuple[Callable, Any]] = {
    **{f"norm_{step.__name__}": (in_graph, step) for step in (training, scaled, clipped)},
    **{f"norm_{step.__name__}": (in_graph, step) for step in (accumulated, with_penalty)},
    **{f"norm_{step.__name__}": (in_graph, step) for step in (rows_of_a_table, recomputed)},
    "norm_each_its_optimizer": (in_graph, each_its_optimizer),
    "norm_eager": (eagerly, training),
    "norm_in_a_function": (in_graph, in_a_function),
    "norm_in_a_function_eager": (eagerly, in_a_function),
    "norm_scalar": (in_graph, scalar),
}
for name, (way, step) in (CASES | NORMS).items():
    runs.measures_norms = name in NORMS
    way(step)
    found = [
        (*kind, taken.tolist(), np.diff(times).min())
        for kind, taken, times in runs.take(ended=True)
    ]
    sys.stdout.write(json.dumps({"case": name, "found": found}) + "\n")
patches.undo()
in_graph(scalar)
sys.stdout.write(json.dumps({"case": "undone", "found": list(runs.take(ended=True))}) + "\n")
