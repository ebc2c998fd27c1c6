from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import ACCURACY


def make_metrics() -> tuple[tf.keras.metrics.Metric, ...]:
    """Return what is measured of training or of a test: the mean loss and the accuracy."""
    return tf.keras.metrics.Mean("loss"), ACCURACY("accuracy")
