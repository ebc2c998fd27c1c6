"""Inspects the data that the user's own function returns: `inspect_data < REQUEST`.

Runs in the run's interpreter, from which the GPUs are hidden. REQUEST is JSON: function, and source
or module. Prints one line of JSON: the facts, or a problem. The problem's words complete the
sentence "data must be ...; got ...".
"""

import importlib
import json
import shlex
import socket
import sys
import time
import urllib.error
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from .asker import reply

COUNT_SECONDS = 120.0
OF_NETWORK = (urllib.error.URLError, ConnectionError, TimeoutError, socket.gaierror)
READERS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset")


def report(**result: object) -> NoReturn:
    """Print the result, and end."""
    reply(result)
    sys.exit(0)


def refuse(rule: str, got: str, fix: str) -> NoReturn:
    """Report the problem of the data, and end."""
    report(problem={"rule": rule, "got": got, "fix": fix})


def find_function(request: dict[str, Any]) -> Callable:
    """Run the function's source, or import its module, and return the function."""
    names: dict[str, Any] = {"__name__": "train", "__file__": request["function"]}
    try:
        if request["module"] is not None:
            return getattr(importlib.import_module(request["module"]), request["function"])
        exec(compile(request["source"], request["function"], "exec"), names)
    except ModuleNotFoundError as error:
        refuse_package(error)
    return names[request["function"]]


def refuse_package(error: ModuleNotFoundError) -> NoReturn:
    """Report a package that is missing, and end."""
    python = shlex.quote(sys.executable)
    fix = f"Run {python} -m pip install with its name, or choose another interpreter."
    refuse("code whose packages the run's interpreter has", str(error), fix)


def fix_of(error: BaseException) -> str:
    """Return the fix of an error that the user's code raised."""
    if isinstance(error, tf.errors.NotFoundError):
        return "Fix the path; it is read from the folder in which the run is asked for."
    if "batch" in str(error) and "shape" in str(error):
        return "Pad, crop or resize all examples to one shape."
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OF_NETWORK) or type(cause).__module__.startswith("requests."):
            return (
                "Check the network (Kaggle has a switch for the Internet in its settings), or "
                "download the files in a cell and read them from the disk."
            )
        cause = cause.__cause__ or cause.__context__
    return "Fix what it says."


def called(function: Callable) -> tuple[Any, Any]:
    """Call the function and return its two parts: the training data and the test data."""
    rule = "a function of no arguments that returns (train, test)"
    try:
        parts = function()
    except ModuleNotFoundError as error:
        refuse_package(error)
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
        refuse(f"{rule} in the run's interpreter", got, fix_of(error))
    if not isinstance(parts, (tuple, list)) or len(parts) != 2:
        got = f"{type(parts).__name__}" + (f" of {len(parts)}" * isinstance(parts, (tuple, list)))
        refuse(rule, got, "Return two data sets, or two pairs (features, labels).")
    return parts[0], parts[1]


def as_arrays(part: Any) -> Any:
    """Return tables and lists as arrays, also inside tuples and dicts."""
    if isinstance(part, dict):
        return {name: as_arrays(each) for name, each in part.items()}
    if isinstance(part, tuple):
        return tuple(map(as_arrays, part))
    return np.asarray(part)


def in_words(spec: Any) -> str:
    """Return shapes and types as text, such as `(28, 28) float32`."""
    if isinstance(spec, dict):
        return "{" + ", ".join(f"{name}: {in_words(each)}" for name, each in spec.items()) + "}"
    if isinstance(spec, (tuple, list)):
        return "(" + ", ".join(map(in_words, spec)) + ")"
    shape = spec.shape if spec.shape.rank is not None else "any shape"
    return f"{tuple(shape) if shape != 'any shape' else shape} {spec.dtype.name}"


def example_in_words(spec: tuple[Any, Any]) -> str:
    """Return the shapes and types of features and labels as text."""
    return f"features {in_words(spec[0])}, labels {in_words(spec[1])}"


def facts_of_arrays(parts: tuple[Any, Any]) -> dict[str, Any]:
    """Return the facts about two pairs of arrays."""
    sizes = [size_of(part, use) for part, use in zip(parts, ("train", "test"))]
    train, test = map(as_arrays, parts)

    def spec_of(array: np.ndarray) -> tf.TensorSpec:
        is_float = np.issubdtype(array.dtype, np.floating)
        kind = tf.keras.backend.floatx() if is_float else array.dtype
        return tf.TensorSpec(array.shape[1:], tf.string if array.dtype.kind in "OUS" else kind)

    specs = [tf.nest.map_structure(spec_of, part) for part in (train, test)]
    check_alike(*specs)
    return {
        "kind": "arrays",
        "train_examples": sizes[0],
        "test_examples": sizes[1],
        "example": example_in_words(specs[0]),
        "example_bytes": bytes_of(specs[0]),
    }


def size_of(part: Any, use: str) -> int:
    """Return the number of examples; if there is no single number, report this and end."""
    rule = f"(features, labels) of one number of examples, above 0, to {use} on"
    if not isinstance(part, tuple) or len(part) != 2:
        got = f"{len(part)} parts" if isinstance(part, tuple) else type(part).__name__
        refuse(rule, got, "Return a tuple of two; several inputs or outputs in a dict or tuple.")
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
        refuse(rule, " and ".join(map(str, sorted(sizes))), "Give as many labels as features.")
    return sizes.pop()


def bytes_of(spec: Any) -> int:
    """Return the bytes of an example; 0 if examples can differ in size."""
    parts = [(each.shape, each.dtype) for each in tf.nest.flatten(spec)]
    if any(not shape.is_fully_defined() or kind == tf.string for shape, kind in parts):
        return 0
    return sum(int(np.prod(shape)) * kind.size for shape, kind in parts)


def check_alike(train: Any, test: Any) -> None:
    """Report a problem and end if test examples differ in shape or type from training examples."""
    if in_words(train) != in_words(test):
        rule = "examples to test on like those to train on"
        got = f"{example_in_words(test)} beside {example_in_words(train)}"
        refuse(rule, got, "Prepare both parts in the same way.")


def is_batched(dataset: tf.data.Dataset) -> bool:
    """Return whether the elements are batches. TensorFlow's own types of data sets show it.

    Where they do not, as for a data set that a function takes from outside, the elements do:
    batches of unknown size have no fixed first dimension in any part.
    """
    shapes = [spec.shape for spec in tf.nest.flatten(dataset.element_spec)]
    if any(shape.rank == 0 for shape in shapes):  # a number of its own, as for a window's label
        return False
    batched = makes_batches(dataset)
    unsized = all(shape.rank is not None and shape[0] is None for shape in shapes)
    return unsized if batched is None else batched


def makes_batches(dataset: Any) -> bool | None:
    """Return whether a data set, or what it is made from, makes batches; None if unknown."""
    kind = type(dataset).__name__
    if "Unbatch" in kind or "Batch" in kind:
        return "Unbatch" not in kind
    if "GroupByWindow" in kind:  # such as buckets by length
        return None
    if hasattr(dataset, "_map_func") and ("FlatMap" in kind or "Interleave" in kind):
        return function_makes_batches(dataset._map_func.function)
    found = [makes_batches(each) for each in dataset._inputs()]
    return True if True in found else None if None in found else False


def function_makes_batches(function: Any) -> bool | None:
    """Return whether the data set that a function returns has batches; None if unknown.

    The batch of a window that the function is given is one example, such as a sequence.
    """
    tensor, batched = function.graph.outputs[0], False
    given = function.graph.inputs[: len(function.graph.inputs) - len(function.captured_inputs)]
    while tensor.op.type != "Placeholder":
        if "Unbatch" in tensor.op.type:
            return False
        batched = batched or "Batch" in tensor.op.type
        before = [each for each in tensor.op.inputs if each.dtype == tf.variant]
        if not before:
            return batched
        tensor = before[0]
    if any(tensor is each for each in given):
        return False
    return batched or None


def reads_files(dataset: tf.data.Dataset) -> bool:
    """Return whether an operation of a data set reads records or lines from files."""
    graph = dataset._as_serialized_graph().numpy()
    return any(reader.encode() in graph for reader in READERS)


def count(dataset: tf.data.Dataset, use: str) -> int:
    """Return how many examples a data set has. If its size is unknown, it is read to its end."""
    size = int(dataset.cardinality())
    if size == tf.data.INFINITE_CARDINALITY:
        got = "an endless one"
        refuse(f"a data set that ends, to {use} on", got, "Leave its repeat out, or use take(n).")
    if size == tf.data.UNKNOWN_CARDINALITY:
        try:
            size = count_by_reading(dataset, use)
        except Exception as error:  # of an operation, or of a function that a generator calls
            reason = (getattr(error, "message", "") or str(error)).strip().splitlines() or [""]
            got = f"{type(error).__name__}: {reason[0]}"
            refuse(f"a data set that can be read to its end, to {use} on", got, fix_of(error))
    if size == 0:
        refuse(f"a data set of at least one example, to {use} on", "an empty one", "Fill it.")
    return size


def count_by_reading(dataset: tf.data.Dataset, use: str) -> int:
    """Return how many examples can be read; report a data set that does not end in time."""
    size, began = 0, time.monotonic()
    for batch in dataset.batch(256):
        size += int(tf.shape(tf.nest.flatten(batch)[0])[0])
        if time.monotonic() - began > COUNT_SECONDS:
            got = f"more than {size:,} examples, still being read after {COUNT_SECONDS:g} s"
            fix = (
                "Leave its repeat out; or, if it is only large, set its size: "
                "dataset.apply(tf.data.experimental.assert_cardinality(n))."
            )
            refuse(f"a data set that ends, to {use} on", got, fix)
    return size


def facts_of_datasets(parts: tuple[Any, Any]) -> dict[str, Any]:
    """Return the facts about two data sets."""
    for part, use in zip(parts, ("train", "test")):
        if isinstance(part, tf.distribute.DistributedDataset):
            fix = "Return the tf.data.Dataset itself: the script distributes it."
            refuse("a data set that is not distributed yet", type(part).__name__, fix)
        if not isinstance(part, tf.data.Dataset):
            fix = "Return two data sets, or two pairs of arrays."
            refuse(f"a tf.data.Dataset to {use} on, as the other part", type(part).__name__, fix)
        spec = part.element_spec
        if not isinstance(spec, tuple) or len(spec) != 2:
            fix = "Have it give (features, labels); several of them in a dict or tuple."
            refuse("a data set of pairs (features, labels)", in_words(spec), fix)
        if is_batched(part):
            got = f"one that is batched: {in_words(spec)}"
            fix = "Leave its batch out, or add .unbatch(): the script batches for the replicas."
            refuse("a data set of single examples", got, fix)
    train, test = parts
    check_alike(train.element_spec, test.element_spec)
    return {
        "kind": "dataset",
        "train_examples": count(train, "train"),
        "test_examples": count(test, "test"),
        "example": example_in_words(train.element_spec),
        "example_bytes": bytes_of(train.element_spec),
        "reads_files": reads_files(train),
    }


def main() -> None:
    """Inspect the data and report the facts."""
    parts = called(find_function(json.load(sys.stdin)))
    kinds = (tf.data.Dataset, tf.distribute.DistributedDataset)
    datasets = any(isinstance(each, kinds) for each in parts)
    report(facts=facts_of_datasets(parts) if datasets else facts_of_arrays(parts))


if __name__ == "__main__":
    main()
