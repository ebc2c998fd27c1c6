import tensorflow as tf


def make_data() -> tuple[tuple, ...]:
    """Return (images, labels), 60,000 to train on and 10,000 to test on, scaled to [0, 1]."""
    parts = tf.keras.datasets.fashion_mnist.load_data()
    with tf.device("CPU"):  # not in a GPU's memory
        return tuple(
            (tf.reshape(images, [-1, 28, 28, 1]) / 255, labels) for images, labels in parts
        )
