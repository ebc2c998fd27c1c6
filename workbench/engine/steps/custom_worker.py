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

    def forward(batch: tuple[tf.Tensor, ...], training: bool) -> tuple[tf.Tensor, ...]:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        losses = example_losses(labels, outputs)
        penalty = tf.add_n(model.losses) if model.losses else tf.zeros([], losses.dtype)
        examples = tf.cast(tf.size(losses), losses.dtype)
        correct = tf.reduce_sum(tf.cast(ACCURACY(labels, outputs), losses.dtype))
        return losses, penalty, (tf.reduce_sum(losses) + penalty * examples, correct, examples)

    def train_step(batch: tuple[tf.Tensor, ...]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses, penalty, row = forward(batch, training=True)
            # No worker waits for others: the mean is over its own batch.
            loss = tf.reduce_mean(losses) + penalty
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return tf.stack(row)

    return train_step, lambda batch: tf.stack(forward(batch, training=False)[-1])
