from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import GLOBAL_BATCH_SIZE


def make_steps(model: tf.keras.Model, train_metrics: tuple, test_metrics: tuple) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test."""

    def forward(batch: tuple[tf.Tensor, ...], training: bool) -> tuple[tf.Tensor, ...]:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        return outputs, model.loss.call(labels, outputs) + sum(model.losses)

    def gradients_of(batch: tuple[tf.Tensor, ...]) -> tuple:
        with tf.GradientTape() as tape:
            outputs, losses = forward(batch, training=True)
            # The gradients of all replicas are summed. So each replica divides the sum of its
            # losses by the size of the global batch.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        return outputs, losses, tape.gradient(loss, model.trainable_variables)

    def measure(metrics: tuple, labels: tf.Tensor, outputs: tf.Tensor, losses: tf.Tensor) -> None:
        mean_loss, accuracy = metrics
        mean_loss.update_state(losses)
        accuracy.update_state(labels, outputs)

    def train_step(batch: tuple[tf.Tensor, ...]) -> None:
        outputs, losses, gradients = gradients_of(batch)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        measure(train_metrics, batch[1], outputs, losses)

    def test_step(batch: tuple[tf.Tensor, ...]) -> None:
        measure(test_metrics, batch[1], *forward(batch, training=False))

    return [train_step, test_step]
