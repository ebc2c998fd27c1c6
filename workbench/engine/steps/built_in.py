from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import ACCURACY, GLOBAL_BATCH_SIZE


def make_steps(model: tf.keras.Model) -> tuple:
    """Return a replica's step to train, its step to test, and the metrics of each."""
    train_metrics = tf.keras.metrics.Mean("loss"), ACCURACY("accuracy")
    test_metrics = tf.keras.metrics.Mean("test_loss"), ACCURACY("test_accuracy")

    def measured_losses(batch: tuple[tf.Tensor, ...], metrics: tuple, training: bool) -> tf.Tensor:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        losses = model.loss.call(labels, outputs) + sum(model.losses)
        mean_loss, accuracy = metrics
        mean_loss.update_state(losses)
        accuracy.update_state(labels, outputs)
        return losses

    def train_step(batch: tuple[tf.Tensor, ...]) -> None:
        with tf.GradientTape() as tape:
            losses = measured_losses(batch, train_metrics, training=True)
            # The gradients of all replicas are summed. So each replica divides the sum of its
            # losses by the size of the global batch.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    def test_step(batch: tuple[tf.Tensor, ...]) -> None:
        measured_losses(batch, test_metrics, training=False)

    return train_step, test_step, train_metrics, test_metrics
