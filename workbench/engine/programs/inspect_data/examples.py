"""What an example is, in words and bytes, and the checks that all kinds of data share."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from .problems import refuse

FORMS = ("features", "pairs", "weighted")
"""What examples are: features alone; with labels; with labels and a weight."""
PARTS = ("features", "labels", "weights")
FIRST = 256
"""The number of examples whose labels are looked at for texts to show."""
LONGEST_TEXT = 40


def facts_of_examples(specs: list[Any], first: Iterable[Any]) -> dict[str, Any]:
    """Return the facts about examples to train on, and any to test on; report unusable ones.

    `first` holds the parts of some examples to train on.
    """
    train = specs[0]
    check_alike(*specs)
    check_numbers(train, first)
    return {
        "form": FORMS[len(parts_of(train)) - 1],
        "example": example_in_words(train),
        "example_bytes": bytes_of(train),
    }


def parts_of(example: Any) -> tuple[Any, ...]:
    """Return the features of an example, or of its spec, then its labels and weight if it has them.

    Keras reads examples in the same way.
    """
    return example if isinstance(example, tuple) else (example,)


def in_words(spec: Any) -> str:
    """Return shapes and types as text, such as `(28, 28) float32`."""
    if isinstance(spec, dict):
        return "{" + ", ".join(f"{name}: {in_words(each)}" for name, each in spec.items()) + "}"
    if isinstance(spec, (tuple, list)):
        return "(" + ", ".join(map(in_words, spec)) + ")"
    shape = spec.shape if spec.shape.rank is not None else "any shape"
    return f"{tuple(shape) if shape != 'any shape' else shape} {spec.dtype.name}"


def example_in_words(spec: Any) -> str:
    """Return the shapes and types of an example's parts as text."""
    named = zip(PARTS, parts_of(spec))
    return ", ".join(f"{name} {in_words(part)}" for name, part in named)


def bytes_of(spec: Any) -> int:
    """Return the bytes of an example; 0 if examples can differ in size."""
    parts = [(each.shape, each.dtype) for each in tf.nest.flatten(spec)]
    if any(not shape.is_fully_defined() or kind == tf.string for shape, kind in parts):
        return 0
    return sum(int(np.prod(shape)) * kind.size for shape, kind in parts)


def check_alike(train: Any, *tests: Any) -> None:
    """Report a problem and end if test examples differ in shape or type from training examples."""
    for test in tests:
        if in_words(train) != in_words(test):
            rule = "examples to test on like those to train on"
            got = f"{example_in_words(test)} beside {example_in_words(train)}"
            refuse(rule, got, "Prepare both parts in the same way.")


def check_numbers(spec: Any, examples: Iterable[Any]) -> None:
    """Report labels or weights that are text, with three of them, and end.

    `examples` hold the parts of some examples.
    """
    named = zip(PARTS[1:], parts_of(spec)[1:])
    text = [(at, name, part) for at, (name, part) in enumerate(named, 1)
            if tf.string in [each.dtype for each in tf.nest.flatten(part)]]  # fmt: skip
    if not text:
        return
    place, name, spec = text[0]
    at = [each.dtype for each in tf.nest.flatten(spec)].index(tf.string)
    found = np.concatenate([np.ravel(tf.nest.flatten(each[place])[at]) for each in examples])
    texts = [each.decode(errors="replace") if isinstance(each, bytes) else each for each in found]
    shown = list(dict.fromkeys(str(each)[:LONGEST_TEXT] for each in texts))[:3]
    numbers = ", ".join(f"{text!r}: {number}" for number, text in enumerate(shown))
    refuse(
        f"a data set whose {name} are numbers",
        f"{name} that are text ({in_words(spec)}), such as {', '.join(map(repr, shown))}",
        "Turn them into numbers, to train on and to test on alike: with a mapping such as "
        f"{{{numbers}}}, or with keras.layers.StringLookup(vocabulary=[...], num_oov_indices=0).",
    )


def check_weights(examples: Iterable[tuple[Any, ...]]) -> None:
    """Report a sample weight that is negative or not finite, and end.

    `examples` hold the parts of examples.
    """
    for _features, *others in examples:
        for array in map(np.asarray, tf.nest.flatten(others[1:])):
            if array.size and not (np.isfinite(array).all() and array.min() >= 0):
                least = array.min() if np.isfinite(array).all() else "one that is not finite"
                fix = "Give each example a weight of 0 or more; 0 leaves its loss out."
                refuse("sample weights of 0 or more", str(least), fix)
