from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from .own_step import train_step


def make_step(model: tf.keras.Model) -> Callable:
    """Return a function that trains on a worker's batch, and returns its mean loss."""

    def train(batch: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        features, labels = batch
        loss, outputs = train_step(model, features, labels)
        if outputs is not None:
            model.compute_metrics(features, labels, outputs, sample_weight=None)
        return {"loss": tf.reduce_mean(loss)}

    return train
