import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from ..programs.models.accuracy import make_correct


def watched_steps(model: tf.keras.Model) -> list[Callable]:
    """Wrap the model's own train_step and test_step so that they return what is recorded.

    Both return the replica's sum of losses, its right answers (NaN: unknown) and its examples.
    """
    correct, seen = make_correct(model), threading.local()  # each replica has its thread
    compute_loss = model.compute_loss

    def watched_loss(
        x: Any = None, y: Any = None, y_pred: Any = None, *rest: Any, **named: Any
    ) -> tf.Tensor:
        loss = compute_loss(x, y, y_pred, *rest, **named)
        # Keras divides a replica's mean by the replicas, because their gradients are summed.
        mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
        examples = tf.cast(tf.shape(tf.nest.flatten(y)[0])[0], loss.dtype)
        right = tf.cast(correct(y, y_pred), loss.dtype)
        # A short last batch may leave a replica without examples: then the mean is NaN.
        seen.row = tf.stack([tf.math.multiply_no_nan(mean, examples), right, examples])
        return loss

    def recorded(step: Callable) -> Callable:
        def run(batch: tuple[Any, ...]) -> tf.Tensor:
            seen.row = None
            step(batch)
            if seen.row is None:
                raise SystemExit(
                    f"Losses are recorded in self.compute_loss; {step.__name__} of {model.name} "
                    "does not call it. Take the loss from there."
                )
            return seen.row

        return run

    model.compute_loss = watched_loss
    model.reset_metrics = lambda: None  # the recorder resets them after its report
    return [recorded(model.train_step), recorded(model.test_step)]
