"""What a replica does with its part of a batch, in a custom loop."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from .constants import ACCURACY, CLIP_NORM, GLOBAL_BATCH_SIZE
    from .slots import train_step


def make_steps__built_in(model: tf.keras.Model) -> tuple:
    """Return a replica's step to train, its step to test, and the metrics of each."""
    train_metrics = tf.keras.metrics.Mean("loss"), ACCURACY("accuracy")
    test_metrics = tf.keras.metrics.Mean("test_loss"), ACCURACY("test_accuracy")

    def measured_losses(batch: tuple[tf.Tensor, ...], metrics: tuple, training: bool) -> tf.Tensor:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        losses = model.loss.call(labels, outputs) + sum(model.losses)  # of each example
        mean_loss, accuracy = metrics
        mean_loss.update_state(losses)
        accuracy.update_state(labels, outputs)
        return losses

    def train_step(batch: tuple[tf.Tensor, ...]) -> None:
        with tf.GradientTape() as tape:
            losses = measured_losses(batch, train_metrics, training=True)
            # The gradients of all replicas are summed. So each replica divides the sum of its
            # losses by the size of the global batch.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    def test_step(batch: tuple[tf.Tensor, ...]) -> None:
        measured_losses(batch, test_metrics, training=False)

    return train_step, test_step, train_metrics, test_metrics


def make_steps__built_in_general(model: tf.keras.Model) -> tuple:
    """Return a replica's step to train, its step to test, and the metrics of each."""
    train_metrics = tf.keras.metrics.Mean("loss"), ACCURACY("accuracy")
    test_metrics = tf.keras.metrics.Mean("test_loss"), ACCURACY("test_accuracy")

    def measured_losses(batch: tuple[tf.Tensor, ...], metrics: tuple, training: bool) -> tf.Tensor:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        losses = model.loss.call(labels, outputs) + sum(model.losses)  # of each example
        mean_loss, accuracy = metrics
        mean_loss.update_state(losses)
        accuracy.update_state(labels, outputs)
        return losses

    def clipped(gradients: list[tf.Tensor]) -> list[tf.Tensor]:
        if CLIP_NORM is None:
            return gradients
        replicas = tf.distribute.get_replica_context()
        summed = replicas.all_reduce("SUM", gradients)
        parts, _ = tf.clip_by_global_norm(summed, CLIP_NORM)
        # The optimizer sums over the replicas again, so each gives its share.
        return [part / replicas.num_replicas_in_sync for part in parts]

    def train_step(batch: tuple[tf.Tensor, ...]) -> None:
        replicas = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            losses = measured_losses(batch, train_metrics, training=True)
            # The gradients of all replicas are summed. So each divides by the examples of all
            # replicas, because the global batch may be short at the end of an epoch.
            examples = replicas.all_reduce("SUM", tf.cast(tf.size(losses), losses.dtype))
            loss = tf.reduce_sum(losses) / examples
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = clipped(tape.gradient(loss, model.trainable_variables))
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    def test_step(batch: tuple[tf.Tensor, ...]) -> None:
        measured_losses(batch, test_metrics, training=False)

    return train_step, test_step, train_metrics, test_metrics


def make_steps__built_in_own_step(model: tf.keras.Model) -> tuple:
    """Return a replica's step to train, its step to test, and the metrics of each."""
    train_metrics = tf.keras.metrics.Mean("loss"), ACCURACY("accuracy")
    test_metrics = tf.keras.metrics.Mean("test_loss"), ACCURACY("test_accuracy")

    def measure(metrics: tuple, labels: tf.Tensor, outputs: tf.Tensor, loss: tf.Tensor) -> None:
        mean_loss, accuracy = metrics
        mean_loss.update_state(tf.reduce_mean(loss), sample_weight=tf.shape(labels)[0])
        if outputs is not None:
            accuracy.update_state(labels, outputs)

    def train(batch: tuple[tf.Tensor, ...]) -> None:
        features, labels = batch
        loss, outputs = train_step(model, features, labels)
        measure(train_metrics, labels, outputs, loss)

    def test(batch: tuple[tf.Tensor, ...]) -> None:
        features, labels = batch
        outputs = model(features, training=False)
        measure(test_metrics, labels, outputs, model.loss.call(labels, outputs))

    return train, test, train_metrics, test_metrics


def make_steps__own_model(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test."""
    return [model.train_step, model.test_step]


def make_steps__own_model_general(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test."""
    mean_loss = model.metrics[0]  # in which Keras measures the loss

    def gradients_of(batch: Any) -> list[tuple]:
        features, labels, weights = tf.keras.utils.unpack_x_y_sample_weight(batch)
        replicas = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            outputs = model(features, training=True)
            # As compiled: all losses with their weights, and penalties. Keras divides the mean over
            # the replica's examples by the replicas, because their gradients are summed.
            loss = model.compute_loss(features, labels, outputs, weights)
            mean = loss * replicas.num_replicas_in_sync
            # So each divides by the examples of all replicas instead, because the global batch
            # may be short at the end of an epoch.
            examples = tf.cast(tf.shape(tf.nest.flatten(features)[0])[0], mean.dtype)
            loss = mean * examples / replicas.all_reduce("SUM", examples)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        mean_loss.update_state(mean, sample_weight=examples)
        model.compute_metrics(features, labels, outputs, weights)
        found = zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return [(part, weight) for part, weight in found if part is not None]  # the loss uses it

    def clipped(gradients: list[tf.Tensor]) -> list[tf.Tensor]:
        if CLIP_NORM is None:
            return gradients
        replicas = tf.distribute.get_replica_context()
        whole = [tf.convert_to_tensor(part) for part in gradients]  # IndexedSlices, too
        parts, _ = tf.clip_by_global_norm(replicas.all_reduce("SUM", whole), CLIP_NORM)
        # The optimizer sums over the replicas again, so each gives its share.
        return [part / replicas.num_replicas_in_sync for part in parts]

    def train_step(batch: Any) -> None:
        gradients, variables = map(list, zip(*gradients_of(batch)))
        model.optimizer.apply_gradients(zip(clipped(gradients), variables))

    return [train_step, model.test_step]


def make_steps__own_model_own_step(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test."""
    mean_loss = model.metrics[0]  # in which Keras measures the loss

    def train(batch: tuple[Any, ...]) -> None:
        features, labels = batch
        loss, outputs = train_step(model, features, labels)
        examples = tf.shape(tf.nest.flatten(labels)[0])[0]
        mean_loss.update_state(tf.reduce_mean(loss), sample_weight=examples)
        if outputs is not None:
            model.compute_metrics(features, labels, outputs, sample_weight=None)

    return [train, model.test_step]


def make_step__built_in(model: tf.keras.Model) -> Callable:
    """Return a function that trains on a worker's batch, and returns its loss and accuracy."""

    def train_step(batch: tuple[tf.Tensor, ...]) -> dict[str, tf.Tensor]:
        features, labels = batch
        with tf.GradientTape() as tape:
            outputs = tf.cast(model(features, training=True), tf.keras.backend.floatx())
            # No worker waits for others: the mean is over its own batch.
            loss = tf.reduce_mean(model.loss.call(labels, outputs)) + sum(model.losses)
            scaled = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(scaled, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        right = tf.cast(ACCURACY(labels, outputs), loss.dtype)
        return {"loss": loss, "accuracy": tf.reduce_mean(right)}

    return train_step


def make_step__own_model(model: tf.keras.Model) -> Callable:
    """Return a function that trains on a worker's batch, and returns the model's own results."""
    return model.train_step


def make_step__own_step(model: tf.keras.Model) -> Callable:
    """Return a function that trains on a worker's batch, and returns its mean loss."""

    def train(batch: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        features, labels = batch
        loss, outputs = train_step(model, features, labels)
        if outputs is not None:
            model.compute_metrics(features, labels, outputs, sample_weight=None)
        return {"loss": tf.reduce_mean(loss)}

    return train


def check_step(
    function: Callable, model: tf.keras.Model, features: Any, labels: Any
) -> tuple[tf.Tensor, Any]:
    """Run the user's step, which updates the weights; return its losses and outputs, or end.

    Losses: of each example, [batch], or their mean. Outputs: None if the step returns none.
    """
    result = function(model, features, labels)
    loss, outputs = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
    if not (tf.is_tensor(loss) and loss.dtype.is_floating and loss.shape.rank in (0, 1)):
        got = loss if tf.is_tensor(loss) else type(loss).__name__
        raise SystemExit(
            "Needs a step that returns the loss of each example, or their mean, and then the "
            f"outputs if accuracy is needed; {function.__name__} returned {got}. Return these."
        )
    return loss, outputs
