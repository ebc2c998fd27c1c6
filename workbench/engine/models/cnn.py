from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import LEARNING_RATE, OPTIMIZER


def make_model() -> tf.keras.Model:
    """Return a model of 2 convolutions and 2 dense layers, with L2 on each kernel and logits."""
    options = {"kernel_regularizer": tf.keras.regularizers.L2(1e-5)}
    model = tf.keras.Sequential(
        [
            tf.keras.Input([28, 28, 1]),
            tf.keras.layers.Conv2D(32, 3, activation="relu", **options),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(64, 3, activation="relu", **options),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu", **options),
            tf.keras.layers.Dense(10, **options),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(OPTIMIZER(LEARNING_RATE), loss=loss)
    return model
