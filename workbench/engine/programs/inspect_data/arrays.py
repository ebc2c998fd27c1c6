"""The facts about arrays, tables and lists."""

from typing import Any

import numpy as np
import tensorflow as tf

from ...data import as_arrays
from .examples import FIRST, check_weights, facts_of_examples, parts_of
from .problems import FILL, FILL_TEST, RETURN, refuse


def facts_of_arrays(parts: list[Any]) -> dict[str, Any]:
    """Return the facts about parts that are arrays, or tuples of them."""
    sizes = [size_of(part, use) for part, use in zip(parts, ("train", "test"))]
    arrays = list(map(as_arrays, parts))

    def spec_of(array: np.ndarray) -> tf.TensorSpec:
        kind = tf.string if array.dtype.kind in "OUS" else array.dtype
        return tf.TensorSpec(array.shape[1:], kind)

    specs = [tf.nest.map_structure(spec_of, part) for part in arrays]
    first = tf.nest.map_structure(lambda part: part[:FIRST], parts_of(arrays[0]))
    facts = facts_of_examples(specs, [first])
    check_weights(map(parts_of, arrays))
    known = {"train_examples": sizes[0], "test_examples": sum(sizes[1:])}
    return {"kind": "arrays", **facts, **known}


def size_of(part: Any, use: str) -> int:
    """Return the number of examples; if there is no single number, report this and end."""
    rule = f"(features, labels) of one number of examples, above 0, to {use} on"
    if part is None or (isinstance(part, tuple) and not 1 <= len(part) <= 3):
        got = "nothing" if part is None else f"{len(part)} parts"
        fix = f"Write: {RETURN}; sample weights as a third part, several inputs or outputs in a "
        refuse(rule, got, f"{fix}dict or tuple.")
    if any(each is None for each in tf.nest.flatten(part)):
        fix = "Leave it out: (features,) are features alone."
        refuse(f"(features, labels) to {use} on", "None in place of an array", fix)
    arrays = tf.nest.flatten(as_arrays(part))
    for array in arrays:
        if array.dtype == object and not all(isinstance(each, (str, bytes)) for each in array.flat):
            got = "an array of Python objects, as of rows of different lengths or mixed columns"
            refuse("numbers or text", got, "Give each column, or padded rows, a type of its own.")
        if array.dtype.kind not in "biufcSUO":
            fix = "Turn them into numbers, for example dates into days since the first."
            refuse("numbers or text", f"an array of {array.dtype.name}", fix)
    sizes = {len(array) if array.ndim else 0 for array in arrays}
    if len(sizes) != 1 or 0 in sizes:
        fix = "Give as many labels as features."
        if sizes == {0}:
            fix = FILL_TEST if use == "test" else FILL
        refuse(rule, " and ".join(map(str, sorted(sizes))), fix)
    return sizes.pop()
