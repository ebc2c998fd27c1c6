from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from .own_step import train_step


def make_steps(model: tf.keras.Model) -> list[Callable]:
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
