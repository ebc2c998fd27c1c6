"""The models, and the completion of the user's own model."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from .constants import LEARNING_RATE, NUM_FEATURES, OPTIMIZER
    from .slots import make_data


def make_model__mlp() -> tf.keras.Model:
    """Return a multilayer perceptron 16-8-1 whose output is a probability."""
    layers = [
        tf.keras.Input([NUM_FEATURES]),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
    model = tf.keras.Sequential(layers)
    model.compile(OPTIMIZER(LEARNING_RATE), loss=tf.keras.losses.BinaryCrossentropy())
    return model


def make_model__dense() -> tf.keras.Model:
    """Return a dense network 784-128-10 whose outputs are one logit per class."""
    layers = [
        tf.keras.Input([28, 28, 1]),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(10),
    ]
    model = tf.keras.Sequential(layers)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(OPTIMIZER(LEARNING_RATE), loss=loss)
    return model


def make_model__cnn() -> tf.keras.Model:
    """Return a CNN 32-64 whose outputs are one logit per class; kernels have an L2 penalty."""
    penalty = {"kernel_regularizer": tf.keras.regularizers.L2(1e-5)}
    layers = [
        tf.keras.Input([28, 28, 1]),
        tf.keras.layers.Conv2D(32, 3, activation="relu", **penalty),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Conv2D(64, 3, activation="relu", **penalty),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu", **penalty),
        tf.keras.layers.Dense(10, **penalty),
    ]
    model = tf.keras.Sequential(layers)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(OPTIMIZER(LEARNING_RATE), loss=loss)
    return model


def prepare_model(function: Callable, make_optimizer: Callable | None = None) -> tf.keras.Model:
    """Return your model with all variables of its layers and metrics, which no step can make."""
    model, (examples, _) = function(), make_data()
    if isinstance(examples, tf.data.Dataset):
        example = next(iter(examples.batch(1)))
    else:
        example = tf.nest.map_structure(lambda part: tf.constant(part[:1]), examples)
    if type(model).call is not tf.keras.Model.call:  # else it has only steps of its own
        features, labels, weight = tf.keras.utils.unpack_x_y_sample_weight(example)
        outputs = model(features, training=False)
        if model.loss or model.losses:
            model.compute_loss(features, labels, outputs, weight)
        model.compute_metrics(features, labels, outputs, weight)
        model.reset_metrics()
    model.built = True
    model.optimizer = make_optimizer() if make_optimizer else model.optimizer
    return model
