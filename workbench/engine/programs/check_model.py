"""Checks of a user's own model, before a run: can replicas train it on the data?

Each check ends the program with the reason if not: "Needs ...; got ...", then the fix.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

FIRST = 256
"""The number of examples of a tf.data.Dataset whose labels are checked."""
MEANS = ("auto", "sum_over_batch_size", "mean", "mean_with_sample_weight")
"""Keras' names for the mean of a loss over the examples."""


def check_kind(model: Any, name: str) -> None:
    """End unless `model`, which the function `name` returned, is one of tf.keras.

    Raises:
        SystemExit: it is not.
    """
    kinds = {(kind.__module__.split(".")[0], kind.__name__) for kind in type(model).__mro__}
    if not isinstance(model, tf.keras.Model) and ("keras", "Model") in kinds:
        got = "a model of Keras 3, but tf.keras is Keras 2 here. Import keras through tf.keras"
    elif not isinstance(model, tf.keras.Model):
        got = f"{type(model).__name__}. Return the model"
    else:
        return
    raise SystemExit(f"Needs a tf.keras.Model compiled with its loss; {name} returned {got}.")


def has_own(model: tf.keras.Model, method: str) -> bool:
    """Return whether a model's class defines a method that Keras' own class has, too."""
    return getattr(type(model), method) is not getattr(tf.keras.Model, method)


def has_loss(model: tf.keras.Model) -> bool:
    """Return whether a model that was called has a loss for the steps of Keras."""
    return bool(model.loss or model.losses or has_own(model, "compute_loss"))


def has_examples(part: Any) -> bool:
    """Return whether a part of the data, arrays or a tf.data.Dataset, has an example."""
    if isinstance(part, tf.data.Dataset):
        return next(iter(part.take(1)), None) is not None
    return len(tf.nest.flatten(part)[0]) > 0


def check_loss(model: tf.keras.Model, name: str, *, tested: bool) -> None:
    """End if the model of the function `name`, which was called, has no loss to train or to test.

    Raises:
        SystemExit: it has none.
    """
    if has_loss(model):
        return
    if not has_own(model, "train_step"):
        got = "a model without a loss. Call model.compile(loss=...) before returning it"
    elif tested and not has_own(model, "test_step"):
        got = (
            "one with its own train_step only, for data to train on and to test on. Give it a "
            "test_step, or compile it with a loss, or return None in place of the data to test on"
        )
    else:
        return
    raise SystemExit(f"Needs a tf.keras.Model compiled with its loss; {name} returned {got}.")


def check_model(model: tf.keras.Model, name: str, data: tuple[Any, Any]) -> None:
    """End unless replicas can train the model of the function `name` on the data; build it.

    `data` are the examples to train on and to test on, arrays or a tf.data.Dataset each; the
    latter may be empty.

    Raises:
        SystemExit: they cannot.
    """
    example = first_example(data[0])
    features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(example)
    outputs = None
    if has_own(model, "call"):  # it may have only a train_step
        with needs_fitting(name, features):
            outputs = model(features, training=False)
    tested = has_examples(data[1])
    check_loss(model, name, tested=tested)
    if labels is not None and outputs is not None:
        check_labels(model, outputs, data)
    if outputs is not None and has_loss(model):
        check_losses_of(model, name, example, outputs)
    else:
        step = model.test_step if tested and has_own(model, "test_step") else model.train_step
        with needs_fitting(name, features):
            step(example)
    if not model.trainable_variables:
        raise SystemExit(
            f"Needs a model with weights to train; all of {name}'s are frozen, or it has none. "
            "Set trainable = True on a layer before it is compiled."
        )


def check_losses_of(model: tf.keras.Model, name: str, example: Any, outputs: Any) -> None:
    """End unless the model of the function `name` has losses and metrics that fit an example."""
    features, labels, weight = tf.keras.utils.unpack_x_y_sample_weight(example)
    with needs_fitting(name, features):
        model.compute_loss(features, labels, outputs, weight)
        # With two examples, because a loss that squeezes returns a single number for one.
        two = tf.nest.map_structure(lambda part: tf.concat([part, part], axis=0), example)
        pair, answers, weights = tf.keras.utils.unpack_x_y_sample_weight(two)
        predicted = model(pair, training=False)
        check_losses(model, lambda: model.compute_loss(pair, answers, predicted, weights))
        model.compute_metrics(features, labels, outputs, weight)


def first_example(train: Any) -> Any:
    """Return a batch of the first example to train on."""
    if isinstance(train, tf.data.Dataset):
        return next(iter(train.batch(1)))
    return tf.nest.map_structure(lambda part: tf.constant(part[:1]), train)


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
        if (reduction := getattr(loss, "reduction", "mean")) not in MEANS:
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


class Limit(NamedTuple):
    """The limit that an output and its loss set to the labels, and the words of its refusal."""

    highest: int
    ignored: int | None
    """A label that the loss ignores."""
    needed: str
    has: str
    fix: str


def check_labels(model: tf.keras.Model, outputs: Any, data: tuple[Any, Any]) -> None:
    """End if a label has no output in the model: a GPU would continue with a loss of NaN."""
    limits, names = label_limits(model, outputs), names_of_outputs(model, outputs)
    for part in data if limits else ():
        found = {name: list[Any]() for name in limits}
        for labels in first_labels(part):
            for name, each in zip(names, by_output(labels, names)):
                array = np.asarray(each)
                if name in limits and array.dtype.kind in "biuf":
                    kept = array[array != limits[name].ignored]
                    found[name] += [kept.min(), kept.max()] if kept.size else []
        for name, limit in limits.items():
            if found[name] and (min(found[name]) < 0 or max(found[name]) > limit.highest):
                where = f" in the first {FIRST}" * isinstance(part, tf.data.Dataset)
                raise SystemExit(
                    f"Needs a model with {limit.needed}; got {limit.has}, and labels from "
                    f"{min(found[name])} to {max(found[name])}{where}. {limit.fix}"
                )


def first_labels(part: Any) -> Iterator[Any]:
    """Yield the labels of arrays, or of each of the first examples of a tf.data.Dataset."""
    if isinstance(part, tf.data.Dataset):
        yield from part.map(lambda *example: example[1]).take(FIRST).as_numpy_iterator()
    else:
        yield part[1]


def label_limits(model: tf.keras.Model, outputs: Any) -> dict[str, Limit]:
    """Return the limit of each output whose labels have one."""
    names, several = names_of_outputs(model, outputs), isinstance(outputs, (dict, list, tuple))
    losses, values = by_output(model.loss, names), by_output(outputs, names)
    limits = {}
    for name, loss, value in zip(names, losses, values):
        kind = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
        kind = kind.replace("_", "").lower()
        if kind == "sparsecategoricalcrossentropy" and tf.is_tensor(value):
            ignored = getattr(loss, "_fn_kwargs", {}).get("ignore_class")
            outs = value.shape[-1]
            has = f"{outs} output{'s' * (outs > 1)}" + f" in its output {name}" * several
            fix = "Number the classes from 0, or give the model as many outputs as classes."
            if outs == 1:
                fix = (
                    "For two classes and one output choose BinaryCrossentropy, with "
                    "from_logits=True if the output has no sigmoid; or give the model an output "
                    "for each class."
                )
            limits[name] = Limit(outs - 1, ignored, "an output for each class", has, fix)
        elif kind in ("binarycrossentropy", "bce", "binaryfocalcrossentropy"):
            has = "a binary loss" + f" of its output {name}" * several
            fix = "Make the labels 0 and 1, or choose a loss that fits them."
            limits[name] = Limit(1, None, "a loss that fits the labels", has, fix)
    return limits


def names_of_outputs(model: tf.keras.Model, outputs: Any) -> list[str]:
    """Return the names by which losses and labels in a dict name outputs; else numbers from 0."""
    if isinstance(outputs, dict):
        return list(outputs)
    count = len(outputs) if isinstance(outputs, (list, tuple)) else 1
    return getattr(model, "output_names", None) or list(map(str, range(count)))


def by_output(part: Any, names: list[str]) -> list[Any]:
    """Return the part of each output: by name from a dict, by place from a list, else for all."""
    if isinstance(part, dict):
        return [part.get(name) for name in names]
    return list(part) if isinstance(part, (list, tuple)) else [part] * len(names)
