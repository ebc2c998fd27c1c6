from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import ACCURACY


def make_step(model: tf.keras.Model) -> Callable:
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
