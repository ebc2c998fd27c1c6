from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import ACCURACY, CLIP_NORM


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

    def clipped(gradients: list[tf.Tensor]) -> list[tf.Tensor]:
        if CLIP_NORM is None:
            return gradients
        replicas = tf.distribute.get_replica_context()
        summed = replicas.all_reduce("SUM", gradients)
        parts, _ = tf.clip_by_global_norm(summed, CLIP_NORM)
        # The optimizer sums over the replicas again, so each gives its share.
        return [part / replicas.num_replicas_in_sync for part in parts]

    def train_step(batch: tuple[tf.Tensor, ...]) -> None:
        replicas = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            losses = measured_losses(batch, train_metrics, training=True)
            # The gradients of all replicas are summed. So each divides by the examples of all
            # replicas, because the global batch may be short at the end of an epoch.
            examples = replicas.all_reduce("SUM", tf.cast(tf.size(losses), losses.dtype))
            loss = tf.reduce_sum(losses) / examples
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = clipped(tape.gradient(loss, model.trainable_variables))
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    def test_step(batch: tuple[tf.Tensor, ...]) -> None:
        measured_losses(batch, test_metrics, training=False)

    return train_step, test_step, train_metrics, test_metrics
