from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from ..programs.models.accuracy import make_correct
    from .own_step import train_step


def make_steps(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test.

    Both return its sum of losses, its right answers (NaN: unknown) and its examples.
    """
    correct = make_correct(model)

    def row(loss: tf.Tensor, features: Any, labels: Any, outputs: Any) -> tf.Tensor:
        if outputs is not None:
            model.compute_metrics(features, labels, outputs, sample_weight=None)
        mean = tf.cast(tf.reduce_mean(loss), tf.keras.backend.floatx())
        examples = tf.cast(tf.shape(tf.nest.flatten(labels)[0])[0], mean.dtype)
        right = tf.cast(correct(labels, outputs), mean.dtype)
        return tf.stack([tf.math.multiply_no_nan(mean, examples), right, examples])

    def train(batch: tuple[Any, ...]) -> tf.Tensor:
        features, labels = batch
        loss, outputs = train_step(model, features, labels)
        return row(loss, features, labels, outputs)

    def test(batch: tuple[Any, ...]) -> tf.Tensor:
        features, labels = batch
        outputs = model(features, training=False)
        # Keras divides the mean by the replicas, because their gradients are summed.
        loss = model.compute_loss(features, labels, outputs)
        mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
        return row(mean, features, labels, outputs)

    return [train, test]
