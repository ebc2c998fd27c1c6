import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from ..data.counting_classes import count_correct


def make_steps(model: tf.keras.Model) -> tuple[Callable, Callable]:
    """Return the model's own train_step and test_step, made to tell what its loss function saw.

    Both give the replica's sum of losses, its correct answers and its examples.
    """
    compute_loss, seen = model.compute_loss, threading.local()  # each replica has its thread

    def watched_loss(*args: Any, y: tf.Tensor, y_pred: tf.Tensor, **options: Any) -> tf.Tensor:
        loss = compute_loss(*args, y=y, y_pred=y_pred, **options)
        # Keras divides a replica's mean loss by the replicas, as their gradients are added up.
        mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
        examples = tf.cast(tf.shape(y)[0], tf.float32)
        seen.row = tf.stack([mean * examples, count_correct(y, y_pred), examples])
        return loss

    def told(step: Callable) -> Callable:
        def run(batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
            step(batch)
            return seen.row

        return run

    model.compute_loss = watched_loss
    return told(model.train_step), told(model.test_step)
