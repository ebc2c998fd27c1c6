from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import LEARNING_RATE, OPTIMIZER


def make_model() -> tf.keras.Model:
    """Return a dense network 784-128-10 whose outputs are one logit per class."""
    model = tf.keras.Sequential(
        [
            tf.keras.Input([28, 28, 1]),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(OPTIMIZER(LEARNING_RATE), loss=loss)
    return model
