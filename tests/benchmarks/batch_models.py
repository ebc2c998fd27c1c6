"""Models with known memory per example: of each example they hold only a wide activation."""

import tensorflow as tf

MIB_OF_FLOATS = 2**18


def widened(mib: int) -> tf.keras.Model:
    """A model that spreads each example over a number of MiB of float32 and takes their mean."""
    model = tf.keras.Sequential(
        [
            tf.keras.Input([10]),
            tf.keras.layers.Dense(16),
            tf.keras.layers.Reshape([16, 1]),
            tf.keras.layers.UpSampling1D(mib * MIB_OF_FLOATS // 16),
            tf.keras.layers.ReLU(),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", loss="binary_crossentropy")
    return model


def one_mib() -> tf.keras.Model:
    """1 MiB per example in each activation."""
    return widened(1)


def two_mib() -> tf.keras.Model:
    """2 MiB per example in each activation."""
    return widened(2)


def four_mib() -> tf.keras.Model:
    """4 MiB per example in each activation."""
    return widened(4)


def sixty_four_mib() -> tf.keras.Model:
    """64 MiB per example in each activation: a few examples take much memory."""
    return widened(64)
