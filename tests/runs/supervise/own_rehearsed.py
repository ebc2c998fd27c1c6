"""A correct model, and models that fail in a test pass, in a save or in the loss."""

import time

import tensorflow as tf


def right():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1)])
    model.compile("sgd", loss="mse")
    return model


class Untestable(tf.keras.Model):
    def test_step(self, data):
        features, labels = data
        return {"loss": self.compute_loss(features, tf.reshape(labels, [3]), self(features))}


def untestable():
    inputs = tf.keras.Input([10])
    model = Untestable(inputs, tf.keras.layers.Dense(1)(inputs))
    model.compile("sgd", loss="mse")
    return model


class Around(tf.keras.layers.Layer):
    """A layer that cannot be saved: it holds a layer and has no get_config."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, features):
        return self.inner(features)


def unsaveable():
    model = tf.keras.Sequential([tf.keras.Input([10]), Around(tf.keras.layers.Dense(1))])
    model.compile("sgd", loss="mse")
    return model


def explosive():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1)])
    model.compile("sgd", loss=lambda labels, outputs: outputs / 0.0)
    return model


class Slow(tf.keras.Model):
    def test_step(self, data):
        time.sleep(300)


def slow():
    inputs = tf.keras.Input([10])
    model = Slow(inputs, tf.keras.layers.Dense(1)(inputs))
    model.compile("sgd", loss="mse")
    return model
