from collections.abc import Callable
from typing import Any

import tensorflow as tf


def compile_by_xla(make_model: Callable) -> Callable:
    """Let XLA compile the forward pass, the loss and the gradient in the model's `train_step`.

    The sum of gradients and the update of the weights stay outside, because they wait for other
    replicas.
    """

    def make_compiled_model() -> tf.keras.Model:
        model = make_model()
        mean_loss = model.metrics[0]  # in which Keras measures the loss

        @tf.function(jit_compile=True)
        def compute(features: Any, labels: Any) -> tuple[tf.Tensor, Any, list[tf.Tensor]]:
            with tf.GradientTape() as tape:
                outputs = model(features, training=True)
                # As compiled: all losses with their weights, and penalties. Keras divides the mean
                # over the replica's examples by the replicas, because their gradients are summed.
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

        model.train_step = train_step
        return model

    return make_compiled_model
