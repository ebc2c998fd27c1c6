from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..data.counting_classes import count_correct
    from ..orders.drop import examples_in_step


def make_steps(model: tf.keras.Model) -> tuple[Callable, Callable]:
    """Return what one replica does with its part of a batch, to train and to test.

    Both give the replica's sum of losses, its correct answers and its examples.
    """

    loss = tf.keras.losses.get(model.loss)
    example_losses = getattr(loss, "call", loss)

    def forward(batch: tuple[tf.Tensor, tf.Tensor], training: bool) -> tuple[tf.Tensor, ...]:
        features, labels = batch
        outputs = model(features, training=training)
        losses = example_losses(labels, outputs)
        penalty = tf.add_n(model.losses) if model.losses else 0.0
        examples = tf.cast(tf.shape(labels)[0], tf.float32)
        loss_sum = tf.reduce_sum(losses) + penalty * examples
        return losses, penalty, tf.stack([loss_sum, count_correct(labels, outputs), examples])

    def train_step(batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses, penalty, row = forward(batch, training=True)
            # The replicas' gradients are added up: a mean over the global batch needs the division
            # here, and a penalty that every replica has in full is divided by their number.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=examples_in_step(losses))
            loss += tf.nn.scale_regularization_loss(penalty)
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return row

    def test_step(batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        return forward(batch, training=False)[-1]

    return train_step, test_step
