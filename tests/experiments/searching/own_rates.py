"""Models with a compiled learning rate."""

import tensorflow as tf


def network(optimizer) -> tf.keras.Model:
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1, "sigmoid")])
    model.compile(optimizer, loss="binary_crossentropy")
    return model


def with_momentum() -> tf.keras.Model:
    return network(tf.keras.optimizers.SGD(0.01, momentum=0.9))


def scheduled() -> tf.keras.Model:
    return network(tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.CosineDecay(0.1, 100)))
