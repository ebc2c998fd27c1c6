from collections.abc import Callable

import tensorflow as tf


def make_correct(model: tf.keras.Model) -> Callable:
    """Return a function of labels and outputs that counts right answers; NaN: unknown.

    The count is known if the loss is the cross-entropy of one output.
    """
    loss = "" if isinstance(model.loss, dict | list | tuple) else model.loss
    kind = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
    threshold = 0.0 if getattr(loss, "from_logits", False) else 0.5
    metrics = {
        "sparsecategorical": tf.keras.metrics.sparse_categorical_accuracy,
        "categorical": tf.keras.metrics.categorical_accuracy,
        "binary": lambda *given: tf.keras.metrics.binary_accuracy(*given, threshold=threshold),
    }
    kind = kind.lower().replace("_", "").partition("crossentropy")[0].removesuffix("focal")
    metric = metrics.get(kind)

    def correct(labels: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
        if metric is None or not tf.is_tensor(outputs):
            return tf.constant(float("nan"), tf.keras.backend.floatx())
        right = tf.cast(metric(labels, outputs), tf.keras.backend.floatx())
        each = tf.reduce_mean(right, axis=list(range(1, right.shape.rank)))  # over a sequence
        return tf.reduce_sum(each)

    return correct
