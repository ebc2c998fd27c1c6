from collections.abc import Callable
from typing import Any

import tensorflow as tf


def check_step(
    function: Callable, model: tf.keras.Model, features: Any, labels: Any
) -> tuple[tf.Tensor, Any]:
    """Run the user's step, which updates the weights; return its losses and outputs, or end.

    Losses: of each example, [batch], or their mean. Outputs: None if the step returns none.
    """
    result = function(model, features, labels)
    loss, outputs = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
    if not (tf.is_tensor(loss) and loss.dtype.is_floating and loss.shape.rank in (0, 1)):
        got = loss if tf.is_tensor(loss) else type(loss).__name__
        raise SystemExit(
            "Needs a step that returns the loss of each example, or their mean, and then the "
            f"outputs if accuracy is needed; {function.__name__} returned {got}. Return these."
        )
    return loss, outputs
