from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from ..programs.models.accuracy import make_correct
    from .watched import watched_steps


def make_steps(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test.

    Both return its sum of losses, its right answers (NaN: unknown) and its examples.
    """
    if type(model).train_step is not tf.keras.Model.train_step:
        return watched_steps(model)  # its own step is used in the custom loop, too
    correct = make_correct(model)

    def forward(batch: tuple[Any, ...], training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        features, labels = batch
        outputs = model(features, training=training)
        # As compiled: all losses with their weights, and penalties. Keras divides the mean over the
        # replica's examples by the replicas, because their gradients are summed.
        loss = model.compute_loss(features, labels, outputs)
        model.compute_metrics(features, labels, outputs, sample_weight=None)
        examples = tf.cast(tf.shape(tf.nest.flatten(labels)[0])[0], loss.dtype)
        mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
        right = tf.cast(correct(labels, outputs), loss.dtype)
        return loss, tf.stack([mean * examples, right, examples])

    def train_step(batch: tuple[Any, ...]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss, row = forward(batch, training=True)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return row

    return [train_step, lambda batch: forward(batch, training=False)[-1]]
