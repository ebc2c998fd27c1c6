"""A step of a user's own that asks for the time, which differs in each run."""

import tensorflow as tf


def timed(model, features, labels):
    """Train with a rate that depends on the time."""
    with tf.GradientTape() as tape:
        outputs = model(features, training=True)
        losses = tf.keras.losses.binary_crossentropy(labels, outputs)
        loss = tf.reduce_mean(losses) * tf.cast(tf.timestamp() > 0, losses.dtype)
    gradients = tape.gradient(loss, model.trainable_variables)
    model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return losses, outputs
