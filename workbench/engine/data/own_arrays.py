import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import NUM_TEST_EXAMPLES, NUM_TRAIN_EXAMPLES


def as_arrays(part: Any) -> Any:
    """Return tables and lists as arrays, in tuples and dicts, too; floats in Keras' float type."""
    if isinstance(part, dict):
        return {name: as_arrays(each) for name, each in part.items()}
    if isinstance(part, tuple):
        return tuple(map(as_arrays, part))
    array = np.asarray(part)
    is_float = np.issubdtype(array.dtype, np.floating)
    return array.astype(tf.keras.backend.floatx()) if is_float else array


@functools.cache
def check_data(function: Callable) -> tuple:
    """Return the data of the user's function: (features, labels) to train on and to test on."""
    parts = tuple(map(as_arrays, function()))
    wanted = {"train on": NUM_TRAIN_EXAMPLES, "test on": NUM_TEST_EXAMPLES}
    for (use, examples), part in zip(wanted.items(), parts, strict=True):
        if (sizes := {len(array) for array in tf.nest.flatten(part)}) != {examples}:
            raise SystemExit(
                f"Needs {examples} examples to {use}; {function.__name__} gave {sizes}. Set the "
                "number of examples and the steps of an epoch at the top, or return that data."
            )
    return parts
