from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..data.synthetic import make_data


def prepare_model(function: Callable, make_optimizer: Callable | None = None) -> tf.keras.Model:
    """Return your model with all variables of its layers and metrics, which no step can make."""
    model, (examples, _) = function(), make_data()
    if isinstance(examples, tf.data.Dataset):
        features, labels = next(iter(examples.batch(1)))
    else:
        features, labels = tf.nest.map_structure(lambda part: tf.constant(part[:1]), examples)
    outputs = model(features, training=False)
    model.compute_loss(features, labels, outputs)
    model.compute_metrics(features, labels, outputs, sample_weight=None)
    model.reset_metrics()
    model.optimizer = make_optimizer() if make_optimizer else model.optimizer
    return model
