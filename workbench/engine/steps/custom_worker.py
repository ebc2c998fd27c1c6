from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import ACCURACY


def make_steps(model: tf.keras.Model) -> tuple[Callable, Callable]:
    """Return two functions of a worker's own batch: one to train, one to test.

    Both return the sum of losses, the correct answers and the examples.
    """
    loss = tf.keras.losses.get(model.loss)
    example_losses = getattr(loss, "call", loss)

    def forward(batch: tuple[tf.Tensor, ...], training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        losses = example_losses(labels, outputs) + sum(model.losses)  # each with all penalties
        correct = tf.reduce_sum(tf.cast(ACCURACY(labels, outputs), losses.dtype))
        examples = tf.cast(tf.size(losses), losses.dtype)
        return losses, tf.stack([tf.reduce_sum(losses), correct, examples])

    def train_step(batch: tuple[tf.Tensor, ...]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses, row = forward(batch, training=True)
            # No worker waits for others: the mean is over its own batch.
            loss = tf.reduce_mean(losses)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return row

    return train_step, lambda batch: forward(batch, training=False)[1]
