"""Custom data, models and steps, some of them slow on purpose."""

import json
import os
import time

import numpy as np
import tensorflow as tf

SLOW_EXAMPLE_SECONDS = 0.0005
EXAMPLES = 1280
SIDE = 256
ROUNDS = 30


def worker_number():
    return json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index", 0)


def numbers(examples, seed):
    random = np.random.default_rng(seed)
    features = random.standard_normal((examples, 10)).astype(np.float32)
    return features, features[:, :3].argmax(axis=1)


def quick_sets():
    return tuple(
        tf.data.Dataset.from_tensor_slices(numbers(*each)) for each in ((EXAMPLES, 0), (64, 1))
    )


def lazy(features):
    time.sleep(SLOW_EXAMPLE_SECONDS)
    return features


def slowed(dataset):
    def slow(features, label):
        features = tf.numpy_function(lazy, [features], tf.float32)
        return tf.ensure_shape(features, [10]), label

    return dataset.map(slow)


def slow_sets():
    train, test = quick_sets()
    return slowed(train), test


def sets_slow_on_one_worker():
    train, test = quick_sets()
    return (slowed(train) if worker_number() == 1 else train), test


def small_model():
    layers = [tf.keras.Input([10]), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(3)]
    model = tf.keras.Sequential(layers)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss)
    return model


def after_work(features, rounds):
    """Return the features after some rounds of work, so that a step must wait for the work."""
    square = tf.random.uniform([SIDE, SIDE]) / SIDE
    for _ in range(rounds):
        square = tf.tanh(tf.matmul(square, square))
    return features + 1e-20 * tf.reduce_mean(square)


def trained(model, features, labels):
    with tf.GradientTape() as tape:
        outputs = model(features, training=True)
        loss = tf.reduce_mean(
            tf.keras.losses.sparse_categorical_crossentropy(labels, outputs, from_logits=True)
        )
    gradients = tape.gradient(loss, model.trainable_variables)
    model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss, outputs


def step_slow_on_one_worker(model, features, labels):
    return trained(
        model, after_work(features, ROUNDS) if worker_number() == 1 else features, labels
    )


def step_of_forty_rounds(model, features, labels):
    return trained(model, after_work(features, 40), labels)


def step_of_forty_four_rounds(model, features, labels):
    return trained(model, after_work(features, 44), labels)
