from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import LEARNING_RATE, NUM_FEATURES, OPTIMIZER


def make_model() -> tf.keras.Model:
    """Return a multilayer perceptron 16-8-1 whose output is a probability."""
    model = tf.keras.Sequential(
        [
            tf.keras.Input([NUM_FEATURES]),
            tf.keras.layers.Dense(16, activation="relu"),
            tf.keras.layers.Dense(8, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(OPTIMIZER(LEARNING_RATE), loss=tf.keras.losses.BinaryCrossentropy())
    return model
