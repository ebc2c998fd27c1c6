from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import ACCURACY, CLIP_NORM


def make_steps(model: tf.keras.Model) -> tuple[Callable, Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test.

    Both return its sum of losses, its correct answers and its examples.
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
        replicas = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            losses, row = forward(batch, training=True)
            # The gradients of all replicas are summed. So each divides by the examples of all
            # replicas, because the global batch may be short at the end of an epoch.
            examples = replicas.all_reduce("SUM", row[-1])
            loss = tf.reduce_sum(losses) / examples
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        if CLIP_NORM is not None:
            summed = replicas.all_reduce("SUM", gradients)
            clipped, _ = tf.clip_by_global_norm(summed, CLIP_NORM)
            # The optimizer sums over the replicas once more.
            gradients = [part / replicas.num_replicas_in_sync for part in clipped]
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return row

    return train_step, lambda batch: forward(batch, training=False)[1]
