from collections.abc import Callable
from typing import Any

import tensorflow as tf


def check_step(
    function: Callable, model: tf.keras.Model, features: Any, labels: Any
) -> tuple[tf.Tensor, Any]:
    """Return losses and outputs of a step of one's own (None: it tells no outputs), or say why not.

    It has updated the weights. Losses are the examples', [batch], or their mean.
    """
    told = function(model, features, labels)
    loss, outputs = told if isinstance(told, tuple) and len(told) == 2 else (told, None)
    if not (tf.is_tensor(loss) and loss.dtype.is_floating and loss.shape.rank in (0, 1)):
        got = loss if tf.is_tensor(loss) else type(loss).__name__
        raise SystemExit(
            "Needs the loss of each example, or their mean, from a step, and after it the outputs "
            f"if accuracy is to be known; {function.__name__} returned {got}. Return that."
        )
    return loss, outputs
