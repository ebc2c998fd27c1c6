from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import CLIP_NORM
    from .accuracy import make_correct
    from .watched import watched_steps


def make_steps(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test.

    Both return its sum of losses, its right answers (NaN: unknown) and its examples.
    """
    if type(model).train_step is not tf.keras.Model.train_step:
        if CLIP_NORM is not None:
            raise SystemExit(
                "Needs a model without a train_step of its own to clip its gradients, because such "
                f"a step does not return them; received {model.name} with clip_norm {CLIP_NORM}. "
                "Clip in the train_step, or leave clip_norm empty."
            )
        return watched_steps(model)  # its own step is used in the custom loop, too
    correct = make_correct(model)

    def forward(batch: tuple[Any, ...], training: bool) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        features, labels = batch
        outputs = model(features, training=training)
        # As compiled: all losses with their weights, and penalties, divided by the replicas.
        loss = model.compute_loss(features, labels, outputs)
        model.compute_metrics(features, labels, outputs, sample_weight=None)
        mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
        examples = tf.cast(tf.shape(tf.nest.flatten(labels)[0])[0], loss.dtype)
        right = tf.cast(correct(labels, outputs), loss.dtype)
        # A short last batch may leave a replica without examples: then the mean is NaN.
        total = tf.math.multiply_no_nan(mean, examples)
        return total, examples, tf.stack([total, right, examples])

    def train_step(batch: tuple[Any, ...]) -> tf.Tensor:
        replicas = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            total, examples, row = forward(batch, training=True)
            # The gradients of all replicas are summed. So each divides by the examples of all
            # replicas, because the global batch may be short at the end of an epoch.
            loss = total / replicas.all_reduce("SUM", examples)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        found = zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        pairs = [(part, weight) for part, weight in found if part is not None]  # the loss uses it
        gradients, weights = map(list, zip(*pairs))
        if CLIP_NORM is not None:
            whole = [tf.convert_to_tensor(part) for part in gradients]  # IndexedSlices, too
            summed = replicas.all_reduce("SUM", whole)
            clipped, _ = tf.clip_by_global_norm(summed, CLIP_NORM)
            # The optimizer sums over the replicas once more.
            gradients = [part / replicas.num_replicas_in_sync for part in clipped]
        model.optimizer.apply_gradients(zip(gradients, weights))
        return row

    return [train_step, lambda batch: forward(batch, training=False)[-1]]
