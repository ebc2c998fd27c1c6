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
        model.reset_metrics()
        model.optimizer = make_optimizer() if make_optimizer else model.optimizer
        return model
    raise SystemExit(f"Needs a tf.keras.Model compiled with its loss; {name} returned {got}.")
