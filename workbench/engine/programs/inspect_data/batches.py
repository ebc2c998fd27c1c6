"""The facts about batches that Python code gives: a `keras.utils.PyDataset`, or a generator."""

import time
import types
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ...data import as_batch, as_examples__generators, as_examples__sequences
from .arrays import size_of
from .datasets import count, facts_of_datasets
from .problems import FILL, FILL_TEST, ONE_SHAPE, refuse, refuse_error

LOOK_SECONDS = 20.0
LET_END = (
    "End its loop after one pass through the data, which steps_per_epoch repeats. If it is only "
    "slow, return a keras.utils.PyDataset, whose length is known."
)
SOURCES = (tf.keras.utils.Sequence, types.GeneratorType)
"""`Sequence` is the name of `PyDataset` that all releases of Keras have."""


def facts_of_batches(function: Callable, parts: list[Any]) -> dict[str, Any]:
    """Return the facts about parts that are `PyDataset`s, or generators."""
    generated = isinstance(parts[0], types.GeneratorType)
    kind = "a generator" if generated else "a keras.utils.PyDataset"
    source = types.GeneratorType if generated else tf.keras.utils.Sequence
    if not all(isinstance(part, source) for part in parts):
        got = " and ".join(type(part).__name__ for part in parts)
        fix = "Return the other part in the same form; or leave it out, with None in its place."
        refuse("two parts of one form, to train on and to test on", got, fix)
    sizes = list[int]()
    for part, use in zip(parts, ("train", "test")):
        try:
            check_batch(first_of(part), kind, use)
            sizes.append(0 if generated else size_of_all(part))
        except Exception as error:
            refuse_error(f"{kind} whose batches can be read, to {use} on", error)
    make = as_examples__generators(function) if generated else as_examples__sequences(lambda: parts)
    try:
        examples = make()
    except Exception as error:
        refuse_error("a function that can be called several times", error)
    if generated:
        sizes = [
            count(each, use, batched=False, let_end=LET_END)
            for each, use in zip(examples, ("train", "test"))
        ]
    given = "generators" if generated else "sequences"
    return {**facts_of_datasets(examples, sizes), "given": given}


def first_of(batches: Any) -> Any:
    """Return the first batch; None if there is none."""
    if isinstance(batches, types.GeneratorType):
        return next(batches, None)
    return batches[0] if len(batches) else None


def size_of_all(batches: Any) -> int:
    """Return the number of examples of a `PyDataset`; report examples of several shapes.

    All batches are read, for some seconds. If they had one size until then, only the last batch may
    have another.
    """
    began, number, sizes, shapes = time.monotonic(), len(batches), list[int](), dict[str, None]()
    for at in range(number):
        arrays = tf.nest.flatten(as_batch(batches[at]))
        sizes.append(len(arrays[0]))
        shapes |= {", ".join(str(part.shape[1:]) for part in arrays): None}
        if len(shapes) > 1:
            got = f"batches of {' and '.join(shapes)}"
            refuse("a keras.utils.PyDataset whose examples have one shape", got, ONE_SHAPE)
        is_slow = time.monotonic() - began > LOOK_SECONDS
        if is_slow and at < number - 1 and len(set(sizes)) == 1:
            last = len(tf.nest.flatten(as_batch(batches[number - 1]))[0])
            return sizes[0] * (number - 1) + last
    return sum(sizes)


def check_batch(batch: Any, kind: str, use: str) -> None:
    """Report, and end, if there is no batch, or if it is no batch of examples."""
    if batch is None:
        fix = FILL_TEST if use == "test" else FILL
        refuse(f"{kind} with at least one batch, to {use} on", "an empty one", fix)
    found = as_batch(batch)
    shapes = [part.shape for part in tf.nest.flatten(found)]
    if () in shapes:
        got = f"arrays of {' and '.join(map(str, shapes))}"
        fix = "Give batches, as for model.fit; a single example is a batch as x[None], y[None]."
        refuse(f"{kind} of batches, to {use} on", got, fix)
    size_of(found, use)
