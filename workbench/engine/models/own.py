import contextlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from ..data.synthetic import make_data
    from .labels import check_labels


def one_example() -> tuple[Any, Any]:
    """Return a batch of one example: the first to train on, or zeros for a tf.data.Dataset."""
    train, _ = make_data()

    def first(part: Any) -> tf.Tensor:
        if isinstance(part, tf.TypeSpec):
            return tf.zeros([1, *(size or 1 for size in part.shape)], part.dtype)
        return tf.constant(part[:1])

    examples = train.element_spec if isinstance(train, tf.data.Dataset) else train
    return tf.nest.map_structure(first, examples)


def rank_of(loss: Any, compute: Callable) -> int | None:
    """Return the rank of what a loss returns while `compute` runs, before Keras takes the mean."""
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
    """End if a loss is not a mean over the examples: replicas can share out only such a loss.

    Gradients are summed, so Keras divides such a mean by the number of replicas; it leaves a sum as
    it is, and Keras 3 also one number for a whole batch. `compute` makes the model take its losses.
    """
    legacy = not hasattr(model, "_compile_loss")  # of the package tf-keras
    kept = model.compiled_loss if legacy else model._compile_loss
    parts = (kept._losses if legacy else kept._flat_losses) if kept else []
    for loss in tf.nest.flatten(parts) if legacy else [part.loss for part in parts or []]:
        if type(loss).__call__ is not tf.keras.losses.Loss.__call__:
            raise SystemExit(
                f"Needs a loss whose class defines call; {type(loss).__name__} defines __call__, "
                "so Keras does not divide the loss by the number of replicas. Define call instead, "
                "and return the loss of each example."
            )
        reduction = getattr(loss, "reduction", "mean")
        if reduction not in ("auto", "sum_over_batch_size", "mean", "mean_with_sample_weight"):
            raise SystemExit(
                f"Needs losses that are the mean over the examples, as Keras' are; {loss.name} has "
                f"the reduction {reduction}, so loss and gradient grow with the batch. "
                "Leave reduction out."
            )
        if not legacy and rank_of(loss, compute) == 0:
            raise SystemExit(
                f"Needs a loss of each example; {loss.name} gives one number for the whole batch, "
                "which Keras does not divide by the number of replicas. Take the mean over the "
                "last axis only: axis=-1."
            )


@contextlib.contextmanager
def needs_fitting(name: str, features: Any) -> Iterator[None]:
    """End with the reason if the model of the function `name` cannot take these features."""
    try:
        yield
    except Exception as error:
        shapes = tf.nest.map_structure(
            lambda part: f"{tuple(part.shape)} {part.dtype.name}", features
        )
        message = re.sub(r"\x1b\[\d*m", "", str(error)).partition("Arguments received by")[0]
        reason = " ".join(message.split())[:500].rstrip(".") or type(error).__name__
        fix = "Make the model fit the data."
        if "string" in reason and tf.string in [part.dtype for part in tf.nest.flatten(features)]:
            fix = (
                "Turn text into numbers: by keras.layers.StringLookup or TextVectorization in the "
                "model, or by a mapping in the function of the data."
            )
        raise SystemExit(
            f"Needs a model that takes the data; {name}'s, given features of {shapes}: "
            f"{reason}. {fix}"
        ) from error


def check_model(function: Callable, make_optimizer: Callable | None = None) -> tf.keras.Model:
    """Return the model of the user's function, built, or end with why it cannot be trained.

    The model keeps the optimizer that it is compiled with, unless `make_optimizer` makes another.
    """
    model, name = function(), function.__name__
    kinds = {(kind.__module__.split(".")[0], kind.__name__) for kind in type(model).__mro__}
    if not isinstance(model, tf.keras.Model) and ("keras", "Model") in kinds:
        got = "a model of Keras 3, but tf.keras is Keras 2 here. Import keras through tf.keras"
    elif not isinstance(model, tf.keras.Model):
        got = f"{type(model).__name__}. Return the model"
    elif not model.loss and type(model).compute_loss is tf.keras.Model.compute_loss:
        got = "a model without a loss. Call model.compile(loss=...) before returning it"
    else:
        features, labels = one_example()
        # Make all weights and variables of losses and metrics now: a loop cannot.
        with needs_fitting(name, features):
            outputs = model(features, training=False)
        check_labels(model, outputs)
        with needs_fitting(name, features):
            model.compute_loss(features, labels, outputs)
            # With two examples, because a loss that squeezes returns a single number for one.
            pair, answers = tf.nest.map_structure(
                lambda part: tf.concat([part, part], axis=0), (features, labels)
            )
            predicted = model(pair, training=False)
            check_losses(model, lambda: model.compute_loss(pair, answers, predicted))
            model.compute_metrics(features, labels, outputs, sample_weight=None)
        if not model.trainable_variables:
            raise SystemExit(
                f"Needs a model with weights to train; all of {name}'s are frozen, or it has none. "
                "Set trainable = True on a layer before it is compiled."
            )
        model.reset_metrics()
        model.optimizer = make_optimizer() if make_optimizer else model.optimizer
        return model
    raise SystemExit(f"Needs a tf.keras.Model compiled with its loss; {name} returned {got}.")
