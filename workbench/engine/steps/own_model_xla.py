from collections.abc import Callable
from typing import Any

import tensorflow as tf


def make_steps(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test.

    XLA compiles forward pass, loss and gradient. The sum of gradients and the update of the weights
    stay outside, because they wait for other replicas.
    """
    mean_loss = model.metrics[0]  # in which Keras measures the loss

    @tf.function(jit_compile=True)
    def compute(features: Any, labels: Any) -> tuple[tf.Tensor, Any, list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            outputs = model(features, training=True)
            # As compiled: all losses with their weights, and penalties. Keras divides the mean over
            # the replica's examples by the replicas, because their gradients are summed.
            loss = model.compute_loss(features, labels, outputs)
            scaled = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        return loss, outputs, tape.gradient(scaled, model.trainable_variables)

    def train_step(batch: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        features, labels = batch
        loss, outputs, gradients = compute(features, labels)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
        examples = tf.shape(tf.nest.flatten(labels)[0])[0]
        mean_loss.update_state(mean, sample_weight=examples)
        return model.compute_metrics(features, labels, outputs, sample_weight=None)

    return [train_step, model.test_step]
