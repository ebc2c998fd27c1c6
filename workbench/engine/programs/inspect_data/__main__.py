"""Inspects the data that the user's own function returns: `inspect_data < REQUEST`.

Runs in the run's interpreter, from which the GPUs are hidden. REQUEST is JSON: function and module.
Prints one line of JSON: the facts, or a problem, with the traceback of an error in the user's code.
"""

import importlib
import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .arrays import facts_of_arrays
from .batches import SOURCES, facts_of_batches
from .datasets import DATASETS, facts_of_datasets
from .problems import RETURN, refuse, refuse_error, report

WHOLE = (*DATASETS, *SOURCES)
"""The types of a part that holds features, labels and weights."""
RETURNS = "a function of no arguments that returns data to train on, and to test on if there is any"


def main() -> None:
    """Inspect the data and report the facts."""
    function = find_function(json.load(sys.stdin))
    parts = called(function)
    if any(isinstance(each, SOURCES) for each in parts):
        report(facts=facts_of_batches(function, parts))
    datasets = any(isinstance(each, DATASETS) for each in parts)
    report(facts=facts_of_datasets(parts) if datasets else facts_of_arrays(parts))


def find_function(request: dict[str, Any]) -> Callable:
    """Import the function's module, which sees no arguments, and return the function."""
    name, module = request["function"], request["module"]
    del sys.argv[1:]
    try:
        names = vars(importlib.import_module(module))
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name
        if missing and f"{module}.".startswith(f"{missing}."):
            file = f"path/to/{module.rpartition('.')[2]}.py:{name}"
            fix = f"It is neither in {pathlib.Path.cwd()} nor installed. Name its file: {file}."
            refuse("a module that the run's interpreter can import", str(error), fix)
        refuse_error("code that can be imported in the run's interpreter", error)
    if name not in names:
        refuse(f"a function of {module}", name, "Correct its name, or define it there.")
    return names[name]


def called(function: Callable) -> list[Any]:
    """Call the function and return its parts: the data to train on, then any to test on."""
    try:
        found = function()
    except Exception as error:
        refuse_error("a function that can be called in the run's interpreter", error)
    parts = parts_of_answer(found)
    if parts is None:
        got = in_brief(found)
        if isinstance(found, (tuple, list)):
            values = f"{len(found)} value{'s' * (len(found) != 1)}"
            got = f"{values}: {', '.join(map(in_brief, found))}"
        refuse(
            RETURNS,
            got,
            f"Write: {RETURN}; or return two tf.data.Datasets. With nothing to test on: return "
            "(x_train, y_train), None. For features alone: (x_train,), (x_test,). Several inputs "
            "are one part: ((x1, x2), y).",
        )
    return parts


def parts_of_answer(found: Any) -> list[Any] | None:
    """Return the parts that a function returned; None if it is not certain which they are."""
    if isinstance(found, (tuple, list)) and len(found) == 2:
        if found[1] is None and not is_mixed(found[0]):
            return [found[0]]
        if all(map(is_part, found)) or are_features(*found):
            return list(found)
    return [found] if are_examples(found) else None


def is_part(value: Any) -> bool:
    """Return whether a value holds examples for sure: a tuple of arrays, or a data set."""
    return isinstance(value, WHOLE) or (isinstance(value, tuple) and 1 <= len(value) <= 3)


def is_mixed(part: Any) -> bool:
    """Return whether a part is None or a list of arrays, or holds data sets."""
    several = [] if isinstance(part, WHOLE) else tf.nest.flatten(part)
    in_list = isinstance(part, list) and any(hasattr(each, "shape") for each in part)
    return part is None or in_list or any(isinstance(each, WHOLE) for each in several)


def are_examples(found: Any) -> bool:
    """Return whether what a function returned is, for sure, only the data to train on.

    Arrays of the same shape are not: they may be features to train on and to test on. A third array
    holds weights: one for each example, or for each label.
    """
    if isinstance(found, WHOLE):
        return True
    parts = found if isinstance(found, tuple) else (found,)
    shapes = [shapes_of(part) for part in parts]
    every = [shape for part in shapes for shape in part]
    if any(isinstance(part, (tuple, list)) for part in parts) or () in every or len(parts) > 3:
        return False
    sizes = {shape[:1] for shape in every}
    weighs = all(shape in ([*sizes], shapes[1]) for shape in shapes[2:])
    return len(sizes) == 1 and shapes[0] not in shapes[1:2] and weighs


def shapes_of(part: Any) -> list[tuple[int, ...]]:
    """Return the shape of each array of a part; a value that is none has an empty one."""
    return [tuple(getattr(each, "shape", ())) for each in tf.nest.flatten(part)]


def are_features(train: Any, test: Any) -> bool:
    """Return whether two values are features to train on and to test on, without labels.

    Features and labels differ in shape, or have one size. So what has one shape and two sizes is
    no pair.
    """
    if isinstance(train, dict) and isinstance(test, dict):
        return train.keys() == test.keys()
    shapes = [tuple(each.shape) for each in (train, test) if hasattr(each, "shape")]
    sizes, others = {each[:1] for each in shapes}, {each[1:] for each in shapes}
    return len(shapes) == len(sizes) == 2 and len(others) == 1


def in_brief(value: Any) -> str:
    """Return the type of a value, with its shape if it has one."""
    shape = getattr(value, "shape", None)
    kind = "nothing" if value is None else type(value).__name__
    return kind if shape is None else f"{kind} {tuple(shape)}"


if __name__ == "__main__":
    main()
