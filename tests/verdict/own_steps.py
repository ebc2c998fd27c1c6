"""A custom step that takes longer on the second worker."""

import json
import os

import tensorflow as tf

SIDE, ROUNDS = 192, 12


def slow_on_one_worker(model, features, labels):
    task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
    if task.get("index") == 1:
        square = tf.random.uniform([SIDE, SIDE]) / SIDE
        for _ in range(ROUNDS):
            square = tf.tanh(tf.matmul(square, square))
        features += 1e-20 * tf.reduce_mean(square)  # the step has to wait for it
    with tf.GradientTape() as tape:
        outputs = model(features, training=True)
        loss = tf.keras.losses.binary_crossentropy(labels, outputs)
        mean = tf.reduce_mean(loss)
    gradients = tape.gradient(mean, model.trainable_variables)
    model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss, outputs
