"""Which examples of the training set a batch holds, by their numbers in the set."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf


def training_arrays(script: Any) -> list[np.ndarray]:
    """Return all parts of the training examples; none for a data set, because it has no rows."""
    train, _ = script.make_data()
    if isinstance(train, tf.data.Dataset):
        return []
    return [np.asarray(part) for part in tf.nest.flatten(train)]


def rows_of_batch(script: Any, number: int, size: int) -> np.ndarray:
    """Return the numbers, in the training set, of the examples of a batch, in order.

    The batch's `number` is 0-based. The result is empty if TensorFlow shuffles, because then the
    order is known only when the batch comes.
    """
    if not hasattr(script, "shuffled_rows"):
        return np.empty(0, np.int64)
    epoch, in_epoch = divmod(number, script.STEPS_PER_EPOCH)
    first = tf.constant(in_epoch * size, tf.int64)
    return script.shuffled_rows(tf.constant(epoch, tf.int64), first, size).numpy()


def find_rows(
    planned: np.ndarray, arrays: list[np.ndarray], received: Sequence[tuple[np.ndarray, ...]]
) -> list[list[int] | None]:
    """Return the numbers, in the training set, of the examples that each replica received.

    The search covers the examples `planned` for the step, then the complete training set. Features
    and labels are compared bit by bit, by hashes. None: the set does not hold one of the replica's
    examples, such as an augmented one.
    """
    if not arrays:
        return [None] * len(received)
    keys = [keys_of(arrays, parts) for parts in received]
    places = places_of(planned, arrays)
    if not places.keys() >= set().union(*keys):
        places = {**places_of(np.arange(len(arrays[0])), arrays), **places}
    return [[places[key] for key in own] if places.keys() >= set(own) else None for own in keys]


def places_of(rows: np.ndarray, arrays: list[np.ndarray]) -> dict[bytes, int]:
    """Return the place of each of these examples in the training set, by a hash of the example."""
    keys = keys_of(arrays, [array[rows] for array in arrays])
    return dict(reversed(list(zip(keys, rows.tolist()))))


def keys_of(arrays: list[np.ndarray], parts: Sequence[np.ndarray]) -> list[bytes]:
    """Return a hash of each example, from its parts in the data types of `arrays`."""
    alike = [np.asarray(part, array.dtype) for array, part in zip(arrays, parts)]
    return [
        hashlib.blake2b(b"".join(part.tobytes() for part in example), digest_size=16).digest()
        for example in zip(*alike)
    ]
