from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import ACCURACY
    from .own_step import train_step


def make_steps(model: tf.keras.Model) -> tuple:
    """Return a replica's step to train, its step to test, and the metrics of each."""
    train_metrics = tf.keras.metrics.Mean("loss"), ACCURACY("accuracy")
    test_metrics = tf.keras.metrics.Mean("test_loss"), ACCURACY("test_accuracy")

    def measure(metrics: tuple, labels: tf.Tensor, outputs: tf.Tensor, loss: tf.Tensor) -> None:
        mean_loss, accuracy = metrics
        mean_loss.update_state(tf.reduce_mean(loss), sample_weight=tf.shape(labels)[0])
        if outputs is not None:
            accuracy.update_state(labels, outputs)

    def train(batch: tuple[tf.Tensor, ...]) -> None:
        features, labels = batch
        loss, outputs = train_step(model, features, labels)
        measure(train_metrics, labels, outputs, loss)

    def test(batch: tuple[tf.Tensor, ...]) -> None:
        features, labels = batch
        outputs = model(features, training=False)
        measure(test_metrics, labels, outputs, model.loss.call(labels, outputs))

    return train, test, train_metrics, test_metrics
