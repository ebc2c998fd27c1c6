"""Models of a user for XLA: some that it can compile, and some that it cannot."""

import numpy as np
import tensorflow as tf

layers = tf.keras.layers


class Hashed(layers.Layer):
    """A layer that puts each number into a bucket by its text; no accelerator can do this."""

    def call(self, features):
        return tf.cast(tf.strings.to_hash_bucket_fast(tf.strings.as_string(features), 8), "float32")


class InPython(layers.Layer):
    def call(self, features):
        outputs = tf.numpy_function(np.tanh, [features], features.dtype)
        return tf.ensure_shape(outputs, features.shape)


class Chosen(layers.Layer):
    """A layer with one row for each positive number; the count is known only when it runs."""

    def call(self, features):
        rows = tf.boolean_mask(features, features[:, 0] > 0)
        return features + tf.reduce_mean(tf.reshape(rows, [-1, tf.shape(rows)[0], 1]))


class Signs(layers.Layer):
    def call(self, features):
        return tf.cast(features > 0, "int32")


class Double(layers.Layer):
    """A layer that mixes numbers of double precision with those of the model."""

    def call(self, features):
        return features * tf.constant(np.ones(features.shape[-1]))


class Stepping(tf.keras.Model):
    """A model whose own train_step reads the weights that it has just updated."""

    def train_step(self, data):
        features, labels = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(features, labels, self(features, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"norm": tf.linalg.global_norm(self.trainable_variables)}


def compiled(*inside: layers.Layer, kind: type = tf.keras.Model, **options) -> tf.keras.Model:
    inputs = outputs = tf.keras.Input([10])
    for layer in (*inside, layers.Dense(1, activation="sigmoid")):
        outputs = layer(outputs)
    model = kind(inputs, outputs)
    model.compile(tf.keras.optimizers.SGD(0.01), loss="binary_crossentropy", **options)
    return model


def normalized():
    """Return a model with state beside its weights: moving means, a seed, metrics."""
    inside = (layers.Dense(8, activation="relu"), layers.BatchNormalization(), layers.Dropout(0.5))
    return compiled(*inside, metrics=["mae", tf.keras.metrics.AUC(num_thresholds=20)])


def penalized():
    return compiled(layers.Dense(8, activity_regularizer="l2", kernel_regularizer="l2"))


def embedded():
    """Return a model whose gradients are rows of a table."""
    return compiled(Signs(), layers.Embedding(2, 3), layers.Flatten())


def stepping():
    return compiled(kind=Stepping)


def hashed():
    return compiled(Hashed())


def in_python():
    return compiled(InPython())


def chosen():
    return compiled(Chosen())


def double():
    return compiled(Double())
