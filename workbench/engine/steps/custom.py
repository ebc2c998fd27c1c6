from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import ACCURACY, GLOBAL_BATCH_SIZE


def make_steps(model: tf.keras.Model) -> tuple[Callable, Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test.

    Both return its sum of losses, its correct answers and its examples.
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

    def train_step(batch: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
        with tf.GradientTape() as tape:
            losses, penalty, row = forward(batch, training=True)
            # The gradients of all replicas are summed. So each replica divides its losses by the
            # size of the global batch, and the penalty, equal on all, by the number of replicas.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
            loss += tf.nn.scale_regularization_loss(penalty)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return tf.stack(row)

    return train_step, lambda batch: tf.stack(forward(batch, training=False)[-1])
