"""A custom model, as a user would write it."""

from __future__ import annotations

from functools import partial

import tensorflow as tf

WIDTH = 32  # of the hidden layer

layer = partial(tf.keras.layers.Dense, WIDTH)


class Shifted(tf.keras.Model):
    """Trains as Keras does, on features that are shifted."""

    def train_step(self, data):
        features, labels = data
        return super().train_step((features + 0.5, labels))


def build_model() -> tf.keras.Model:
    inputs = tf.keras.Input([10])  # synthetic features
    hidden = layer(activation="tanh")(inputs)
    model = Shifted(inputs, tf.keras.layers.Dense(1, activation="sigmoid")(hidden))
    model.compile(loss="binary_crossentropy")
    return model
