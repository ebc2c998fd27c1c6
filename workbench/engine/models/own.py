import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..data.synthetic import make_data


def one_example() -> tuple[Any, Any]:
    """Return a batch of one: the first example to train on, or zeros in place of a data set's."""
    train, _ = make_data()

    def first(part: Any) -> tf.Tensor:
        if isinstance(part, tf.TypeSpec):
            return tf.zeros([1, *(size or 1 for size in part.shape)], part.dtype)
        return tf.constant(part[:1])

    examples = train.element_spec if isinstance(train, tf.data.Dataset) else train
    return tf.nest.map_structure(first, examples)


def check_labels(model: tf.keras.Model, outputs: Any) -> None:
    """End where a label names no output of the model: a GPU would train on, to a loss of NaN."""
    named = getattr(model.loss, "name", getattr(model.loss, "__name__", str(model.loss)))
    if not tf.is_tensor(outputs) or "sparse_categorical" not in named:
        return
    for part in make_data():
        if isinstance(part, tf.data.Dataset):
            continue
        low, high, outs = np.min(part[1]), np.max(part[1]), outputs.shape[-1]
        if low < 0 or high >= outs:
            raise SystemExit(
                f"Needs labels from 0 to {outs - 1}, as the model has {outs} outputs; received "
                f"{low} to {high}. Number the classes from 0, or give the model as many outputs."
            )


def rank_of(loss: Any, compute: Callable) -> int | None:
    """Return the rank of what a loss gives, before Keras takes the mean, while a model computes."""
    ranks, call = list[int | None](), loss.call

    def noted(*given: Any) -> tf.Tensor:
        losses = call(*given)
        ranks.append(losses.shape.rank)
        return losses

    loss.call = noted
    compute()
    loss.call = call
    return ranks[-1] if ranks else None


def check_losses(model: tf.keras.Model, compute: Callable) -> None:
    """End where a loss is no mean over the examples, the only kind that replicas can share out.

    Keras divides such a mean by the replicas, whose gradients are summed; a sum it leaves as it is,
    and Keras 3 also one number for a whole batch. `compute` has the model take its losses.
    """
    legacy = not hasattr(model, "_compile_loss")  # of the package tf-keras
    kept = model.compiled_loss if legacy else model._compile_loss
    parts = (kept._losses if legacy else kept._flat_losses) if kept else []
    for loss in tf.nest.flatten(parts) if legacy else [part.loss for part in parts or []]:
        if type(loss).__call__ is not tf.keras.losses.Loss.__call__:
            raise SystemExit(
                f"Needs a loss whose class defines call; {type(loss).__name__} defines __call__, "
                "which leaves out that Keras shares the loss out over the replicas. Define call "
                "in its place, and return the loss of each example."
            )
        reduction = getattr(loss, "reduction", "mean")
        if reduction not in ("auto", "sum_over_batch_size", "mean", "mean_with_sample_weight"):
            raise SystemExit(
                f"Needs losses that are the mean over the examples, as Keras' are; {loss.name} has "
                f"the reduction {reduction}, with which loss and gradient grow with the batch. "
                "Leave reduction out."
            )
        if not legacy and rank_of(loss, compute) == 0:
            raise SystemExit(
                f"Needs a loss of each example; {loss.name} gives one number for the whole batch, "
                "which Keras does not share out over the replicas. Take the mean over the last "
                "axis only: axis=-1."
            )


def check_model(function: Callable, make_optimizer: Callable | None = None) -> tf.keras.Model:
    """Return what a function of one's own gives, built, or end with why it cannot be trained.

    It keeps the optimizer that it is compiled with, unless another is made for it.
    """
    model, name = function(), function.__name__
    kinds = {(kind.__module__.split(".")[0], kind.__name__) for kind in type(model).__mro__}
    if not isinstance(model, tf.keras.Model) and ("keras", "Model") in kinds:
        got = "a model of Keras 3, which tf.keras is not here. Import keras through tf.keras"
    elif not isinstance(model, tf.keras.Model):
        got = f"{type(model).__name__}. Return the model"
    elif not model.loss and type(model).compute_loss is tf.keras.Model.compute_loss:
        got = "one without a loss. Call model.compile(loss=...) before returning it"
    else:
        features, labels = one_example()
        try:  # to make its weights and the variables of its losses and metrics: no loop can later
            outputs = model(features, training=False)
            check_labels(model, outputs)
            model.compute_loss(features, labels, outputs)
            # Of two examples, because a loss that squeezes gives of one what it gives of a batch.
            pair, answers = tf.nest.map_structure(
                lambda part: tf.concat([part, part], axis=0), (features, labels)
            )
            told = model(pair, training=False)
            check_losses(model, lambda: model.compute_loss(pair, answers, told))
            model.compute_metrics(features, labels, outputs, sample_weight=None)
        except Exception as error:
            shapes = tf.nest.map_structure(
                lambda part: f"{tuple(part.shape)} {part.dtype.name}", features
            )
            said = re.sub(r"\x1b\[\d*m", "", str(error)).partition("Arguments received by")[0]
            reason = " ".join(said.split())[:500].rstrip(".") or type(error).__name__
            raise SystemExit(
                f"Needs a model that takes the data; {name}'s, given features of {shapes}: "
                f"{reason}. Have the one fit the other."
            ) from error
        if not model.trainable_variables:
            raise SystemExit(
                f"Needs a model with weights to train; all of {name}'s are frozen, or it has none. "
                "Set trainable = True on a layer before it is compiled."
            )
        model.reset_metrics()
        model.optimizer = make_optimizer() if make_optimizer else model.optimizer
        return model
    raise SystemExit(f"Needs a tf.keras.Model compiled with its loss; {name} returned {got}.")
