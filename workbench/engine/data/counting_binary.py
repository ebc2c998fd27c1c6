import tensorflow as tf


def count_correct(labels: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
    """Count the outputs on the label's side of one half."""
    return tf.reduce_sum(tf.cast((outputs > 0.5) == (labels > 0.5), tf.float32))
