"""Labels of a user that name no output of the model, or that the loss ignores, and the models."""

import numpy as np
import tensorflow as tf


def as_dataset(labels):
    """Return a data set with these labels, to train on and to test on."""
    features = np.zeros([len(tf.nest.flatten(labels)[0]), 10], np.float32)
    examples = tf.data.Dataset.from_tensor_slices((features, labels))
    return examples, examples


def of_three_classes():
    return as_dataset(np.array([0, 1, 2] * 32))


def of_two():
    return as_dataset(np.array([0, 1] * 48))


def of_late_class():
    """Return data whose label without an output stands behind the first examples."""
    return as_dataset(np.array([0] * 300 + [2] * 20))


def unreadable():
    """Return data whose first example cannot be read."""
    examples, _ = as_dataset(np.array([0, 1] * 48))
    read = examples.map(lambda features, labels: (tf.debugging.check_numerics(features / 0, "torn"),
                                                  labels))  # fmt: skip
    return read, read


def of_masked_class():
    return as_dataset(np.array([0, 1, -1] * 32))


def of_two_answers():
    return as_dataset(
        {"kind": np.array([0, 1] * 48), "good": np.array([[1.0], [2.0]] * 48, np.float32)}
    )


def masked_classifier():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(2)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)
    model.compile("sgd", loss=loss)
    return model


def binary():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1, "sigmoid")])
    model.compile("sgd", loss="binary_crossentropy")
    return model


def one_output():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1)])
    model.compile("sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def two_answers():
    inputs = tf.keras.Input([10])
    kind = tf.keras.layers.Dense(2, "softmax", name="kind")(inputs)
    good = tf.keras.layers.Dense(1, "sigmoid", name="good")(inputs)
    model = tf.keras.Model(inputs, {"kind": kind, "good": good})
    model.compile(
        "sgd",
        loss={
            "kind": "sparse_categorical_crossentropy",
            "good": tf.keras.losses.BinaryCrossentropy(),
        },
    )
    return model


def of_two_classes():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(2)])
    model.compile("sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model
