from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import CLIP_NORM


def make_steps(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test."""
    mean_loss = model.metrics[0]  # in which Keras measures the loss

    def gradients_of(features: Any, labels: Any) -> list[tuple]:
        replicas = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            outputs = model(features, training=True)
            # As compiled: all losses with their weights, and penalties. Keras divides the mean over
            # the replica's examples by the replicas, because their gradients are summed.
            mean = model.compute_loss(features, labels, outputs) * replicas.num_replicas_in_sync
            # So each divides by the examples of all replicas instead, because the global batch
            # may be short at the end of an epoch.
            examples = tf.cast(tf.shape(tf.nest.flatten(labels)[0])[0], mean.dtype)
            loss = mean * examples / replicas.all_reduce("SUM", examples)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        mean_loss.update_state(mean, sample_weight=examples)
        model.compute_metrics(features, labels, outputs, sample_weight=None)
        found = zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return [(part, weight) for part, weight in found if part is not None]  # the loss uses it

    def clipped(gradients: list[tf.Tensor]) -> list[tf.Tensor]:
        if CLIP_NORM is None:
            return gradients
        replicas = tf.distribute.get_replica_context()
        whole = [tf.convert_to_tensor(part) for part in gradients]  # IndexedSlices, too
        parts, _ = tf.clip_by_global_norm(replicas.all_reduce("SUM", whole), CLIP_NORM)
        # The optimizer sums over the replicas again, so each gives its share.
        return [part / replicas.num_replicas_in_sync for part in parts]

    def train_step(batch: tuple[Any, ...]) -> None:
        gradients, weights = map(list, zip(*gradients_of(*batch)))
        model.optimizer.apply_gradients(zip(clipped(gradients), weights))

    return [train_step, model.test_step]
