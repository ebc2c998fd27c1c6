from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..data.synthetic import make_data


def by_output(part: Any, names: list[str]) -> list[Any]:
    """Return the part of each output: by name from a dict, by place from a list, else for all."""
    if isinstance(part, dict):
        return [part.get(name) for name in names]
    return list(part) if isinstance(part, (list, tuple)) else [part] * len(names)


def names_of_outputs(model: tf.keras.Model, outputs: Any) -> list[str]:
    """Return the names by which losses and labels in a dict name outputs; else numbers from 0."""
    if isinstance(outputs, dict):
        return list(outputs)
    count = len(outputs) if isinstance(outputs, (list, tuple)) else 1
    return getattr(model, "output_names", None) or list(map(str, range(count)))


def label_limits(model: tf.keras.Model, outputs: Any) -> dict[str, tuple]:
    """Return for each output whose labels have a limit: highest label, ignored label, its needs."""
    names, several = names_of_outputs(model, outputs), isinstance(outputs, (dict, list, tuple))
    losses, values = by_output(model.loss, names), by_output(outputs, names)
    limits = {}
    for name, loss, value in zip(names, losses, values):
        kind = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
        kind, ignored = kind.replace("_", "").lower(), None
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
            limits[name] = outs - 1, ignored, ("an output for each class", has, fix)
        elif kind in ("binarycrossentropy", "bce", "binaryfocalcrossentropy"):
            of = f" of its output {name}" if several else ""
            fix = "Make the labels 0 and 1, or choose a loss that fits them."
            limits[name] = 1, ignored, ("a loss that fits the labels", f"a binary loss{of}", fix)
    return limits


def first_labels(part: Any, examples: int) -> Iterator[Any]:
    """Yield the labels of arrays, or of each of the first examples of a tf.data.Dataset."""
    if isinstance(part, tf.data.Dataset):
        yield from part.map(lambda _, labels: labels).take(examples).as_numpy_iterator()
    else:
        yield part[1]


def check_labels(model: tf.keras.Model, outputs: Any, examples: int = 256) -> None:
    """End if a label has no output in the model: a GPU would continue with a loss of NaN.

    Of a tf.data.Dataset, only the first examples are read.
    """
    limits, names = label_limits(model, outputs), names_of_outputs(model, outputs)
    for part in make_data() if limits else ():
        found = {name: list[Any]() for name in limits}
        for labels in first_labels(part, examples):
            for name, each in zip(names, by_output(labels, names)):
                array = np.asarray(each)
                if name in limits and array.dtype.kind in "biuf":
                    kept = array[array != limits[name][1]]
                    found[name] += [kept.min(), kept.max()] if kept.size else []
        for name, (highest, _, (needed, has, fix)) in limits.items():
            if found[name] and (min(found[name]) < 0 or max(found[name]) > highest):
                where = f" in the first {examples}" * isinstance(part, tf.data.Dataset)
                raise SystemExit(
                    f"Needs a model with {needed}; got {has}, and labels from {min(found[name])} "
                    f"to {max(found[name])}{where}. {fix}"
                )
