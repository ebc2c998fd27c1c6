import tensorflow as tf


def make_model() -> tf.keras.Model:
    """A dense network 784-128-10 that answers with a logit a class."""
    model = tf.keras.Sequential(
        [
            tf.keras.Input([28, 28, 1]),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model
