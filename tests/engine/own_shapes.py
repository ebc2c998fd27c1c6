"""Common shapes of models, with the data of each."""

import numpy as np
import tensorflow as tf

CLASSES, WORDS, LENGTH = 3, 50, 12
TRAIN, TEST = 320, 64


def split(features, labels):
    cut = [TRAIN]
    train, test = zip(*(np.split(part, cut) for part in (features, labels)), strict=True)
    return train, test


def numbers():
    features = np.random.default_rng(0).normal(size=(TRAIN + TEST, 10))
    return split(features, features[:, :CLASSES].argmax(axis=1))


def tokens():
    texts = np.random.default_rng(0).integers(0, WORDS, size=(TRAIN + TEST, LENGTH))
    return split(texts, (texts < WORDS // 5).sum(axis=1) > 2)


def two_inputs():
    (train, labels), (test, answers) = numbers()

    def parts(features):
        return {"left": features[:, :4], "right": features[:, 4:]}

    return (parts(train), labels), (parts(test), answers)


def images():
    pixels = np.random.default_rng(0).normal(size=(TRAIN + TEST, 8, 8, 1))
    return split(pixels, (pixels[:, :4].mean(axis=(1, 2, 3)) > 0).astype(int))


def compiled(model, loss="sparse_categorical_crossentropy", **options):
    model.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9), loss=loss, **options)
    return model


def functional():
    inputs = tf.keras.Input([10])
    hidden = tf.keras.layers.Dense(16, activation="relu")(inputs)
    joined = tf.keras.layers.Concatenate()([inputs, hidden])
    outputs = tf.keras.layers.Dense(CLASSES, activation="softmax")(joined)
    return compiled(tf.keras.Model(inputs, outputs), metrics=["accuracy"])


class Subclassed(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(16, activation="tanh")
        self.head = tf.keras.layers.Dense(CLASSES, activation="softmax")

    def call(self, features):
        return self.head(self.hidden(features))


def subclassed():
    return compiled(Subclassed())  # the data build it, as in fit of Keras


def several_inputs():
    left, right = tf.keras.Input([4], name="left"), tf.keras.Input([6], name="right")
    hidden = [tf.keras.layers.Dense(8, activation="relu")(part) for part in (left, right)]
    joined = tf.keras.layers.Concatenate()(hidden)
    outputs = tf.keras.layers.Dense(CLASSES, activation="softmax")(joined)
    return compiled(tf.keras.Model({"left": left, "right": right}, outputs))


def embedding():
    layers = [
        tf.keras.layers.Embedding(WORDS, 8),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
    return compiled(tf.keras.Sequential([tf.keras.Input([LENGTH], dtype="int64"), *layers]),
                    "binary_crossentropy")  # fmt: skip


def recurrent():
    layers = [
        tf.keras.layers.Embedding(WORDS, 8),
        tf.keras.layers.LSTM(8),
        tf.keras.layers.Dense(1),
    ]
    loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    return compiled(tf.keras.Sequential([tf.keras.Input([LENGTH], dtype="int64"), *layers]), loss)


def convolutional(*, synchronized):
    layers = [
        tf.keras.layers.Conv2D(8, 3, use_bias=False),
        tf.keras.layers.BatchNormalization(synchronized=synchronized),
        tf.keras.layers.ReLU(),
        tf.keras.layers.GlobalMaxPooling2D(),
        tf.keras.layers.Dense(2),
    ]
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return compiled(tf.keras.Sequential([tf.keras.Input([8, 8, 1]), *layers]), loss)


def batch_normalization():
    return convolutional(synchronized=False)


def synchronized_batch_normalization():
    return convolutional(synchronized=True)


def dropout():
    layers = [
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dropout(0.5),
        tf.keras.layers.Dense(CLASSES, activation="softmax"),
    ]
    return compiled(tf.keras.Sequential([tf.keras.Input([10]), *layers]))


def mixed_precision():
    half = tf.keras.mixed_precision.Policy("mixed_bfloat16")
    layers = [
        tf.keras.layers.Dense(32, activation="relu", dtype=half),
        tf.keras.layers.Dense(CLASSES, activation="softmax", dtype="float32"),
    ]
    return compiled(tf.keras.Sequential([tf.keras.Input([10]), *layers]))


class Smoothed(tf.keras.Model):
    """A model whose train_step halves the gradients, as for noisy labels."""

    def train_step(self, data):
        features, labels = data
        with tf.GradientTape() as tape:
            outputs = self(features, training=True)
            loss = self.compute_loss(features, labels, outputs)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply([part / 2 for part in gradients], self.trainable_variables)
        return {"loss": loss}


def custom_train_step():
    inputs = tf.keras.Input([10])
    outputs = tf.keras.layers.Dense(CLASSES, activation="softmax")(inputs)
    return compiled(Smoothed(inputs, outputs))


class Tied(tf.keras.layers.Layer):
    """A layer that maps hidden features back with the kernel that made them."""

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 16), initializer="glorot_uniform")

    def call(self, features):
        hidden = tf.tanh(tf.matmul(features, self.kernel))
        return tf.matmul(hidden, self.kernel, transpose_b=True)


def tied_weights():
    inputs = tf.keras.Input([10])
    outputs = tf.keras.layers.Dense(CLASSES, activation="softmax")(Tied()(inputs))
    return compiled(tf.keras.Model(inputs, outputs))
