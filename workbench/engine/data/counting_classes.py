import tensorflow as tf


def count_correct(labels: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
    """Count the examples whose largest output is the label's."""
    answers = tf.argmax(outputs, axis=-1, output_type=tf.int64)
    return tf.reduce_sum(tf.cast(answers == tf.cast(labels, tf.int64), tf.float32))
