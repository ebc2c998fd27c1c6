"""Inspects the data that the user's own function returns: `inspect_data < REQUEST`.

Runs in the run's interpreter, from which the GPUs are hidden. REQUEST is JSON: function and module.
Prints one line of JSON: the facts, or a problem, with the traceback of an
error in the user's code. The problem's words complete the sentence "data must be ...; got ...".
"""

import importlib
import json
import pathlib
import shlex
import socket
import sys
import time
import traceback
import urllib.error
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from .asker import reply

COUNT_SECONDS = 120.0
DATASETS = (tf.data.Dataset, tf.distribute.DistributedDataset)
OF_NETWORK = (urllib.error.URLError, ConnectionError, TimeoutError, socket.gaierror)
READERS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset")
RETURNS = "a function of no arguments that returns data to train on, and to test on if there is any"
RETURN = "return (x_train, y_train), (x_test, y_test)"
FORMS = ("features", "pairs", "weighted")
"""What examples are: features alone; with labels; with labels and a weight."""
PARTS = ("features", "labels", "weights")
FIRST = 256
"""The number of examples whose labels are looked at for texts to show."""
LONGEST_TEXT = 40


def report(**result: object) -> NoReturn:
    """Print the result, and end."""
    reply(result)
    sys.exit(0)


def refuse(rule: str, got: str, fix: str) -> NoReturn:
    """Report the problem of the data, and end."""
    report(problem={"rule": rule, "got": got, "fix": fix})


def refuse_error(rule: str, error: Exception) -> NoReturn:
    """Report an error that the user's code raised, with its traceback, and end."""
    if isinstance(error, ModuleNotFoundError):
        rule = "code whose packages the run's interpreter has"
    message = " ".join(str(error).split())
    problem = {"rule": rule, "got": f"{type(error).__name__}: {message}", "fix": fix_of(error)}
    report(problem=problem, traceback="".join(traceback.format_exception(error)))


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


def fix_of(error: BaseException) -> str:
    """Return the fix of an error that the user's code raised."""
    if isinstance(error, ModuleNotFoundError):
        python = shlex.quote(sys.executable)
        return f"Run {python} -m pip install with its name, or choose another interpreter."
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
    return "Fix this error in your code."


def called(function: Callable) -> list[Any]:
    """Call the function and return its parts: the data to train on, then any to test on."""
    try:
        found = function()
    except Exception as error:
        refuse_error("a function that can be called in the run's interpreter", error)
    listed = isinstance(found, (tuple, list))
    if listed and len(found) == 2 and found[1] is None:
        return [found[0]]
    if listed and len(found) == 2 and (any(map(is_part, found)) or are_features(*found)):
        return list(found)
    if are_examples(found):
        return [found]
    values = f"{len(found)} value{'s' * (len(found) != 1)}" if listed else ""
    several = f"{values}: {', '.join(map(in_brief, found))}" if listed else ""
    refuse(
        RETURNS,
        several or in_brief(found),
        f"Write: {RETURN}; or return two tf.data.Datasets. With nothing to test on: return "
        "(x_train, y_train), None. For features alone: (x_train,), (x_test,).",
    )


def is_part(value: Any) -> bool:
    """Return whether a value holds examples for sure: a tuple of arrays, or a data set."""
    return isinstance(value, DATASETS) or (isinstance(value, tuple) and 1 <= len(value) <= 3)


def are_examples(found: Any) -> bool:
    """Return whether what a function returned is, for sure, only the data to train on.

    Arrays of the same shape are not: they may be features to train on and to test on.
    """
    if isinstance(found, DATASETS):
        return True
    parts = found if isinstance(found, tuple) else (found,)
    shapes = [shapes_of(part) for part in parts]
    every = [shape for part in shapes for shape in part]
    if any(isinstance(part, (tuple, list)) for part in parts) or () in every or len(parts) > 3:
        return False
    return len({shape[0] for shape in every}) == 1 and shapes[0] not in shapes[1:2]


def shapes_of(part: Any) -> list[tuple[int, ...]]:
    """Return the shape of each array of a part; a value that is none has an empty one."""
    return [tuple(getattr(each, "shape", ())) for each in tf.nest.flatten(part)]


def are_features(train: Any, test: Any) -> bool:
    """Return whether two values are features to train on and to test on, without labels.

    Features and labels differ in shape, or have one size. So what has one shape and two sizes is
    no pair.
    """
    if isinstance(train, dict) and isinstance(test, dict):
        return True
    shapes = [tuple(each.shape) for each in (train, test) if hasattr(each, "shape")]
    sizes, others = {each[:1] for each in shapes}, {each[1:] for each in shapes}
    return len(shapes) == len(sizes) == 2 and len(others) == 1


def in_brief(value: Any) -> str:
    """Return the type of a value, with its shape if it has one."""
    shape = getattr(value, "shape", None)
    kind = "nothing" if value is None else type(value).__name__
    return kind if shape is None else f"{kind} {tuple(shape)}"


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


def parts_of(example: Any) -> tuple[Any, ...]:
    """Return the features of an example, or of its spec, then its labels and weight if it has them.

    Keras reads examples in the same way.
    """
    return example if isinstance(example, tuple) else (example,)


def example_in_words(spec: Any) -> str:
    """Return the shapes and types of an example's parts as text."""
    named = zip(PARTS, parts_of(spec))
    return ", ".join(f"{name} {in_words(part)}" for name, part in named)


def facts_of_arrays(parts: list[Any]) -> dict[str, Any]:
    """Return the facts about parts that are arrays, or tuples of them."""
    sizes = [size_of(part, use) for part, use in zip(parts, ("train", "test"))]
    arrays = list(map(as_arrays, parts))

    def spec_of(array: np.ndarray) -> tf.TensorSpec:
        is_float = np.issubdtype(array.dtype, np.floating)
        kind = tf.keras.backend.floatx() if is_float else array.dtype
        return tf.TensorSpec(array.shape[1:], tf.string if array.dtype.kind in "OUS" else kind)

    specs = [tf.nest.map_structure(spec_of, part) for part in arrays]
    check_alike(*specs)
    first = tf.nest.map_structure(lambda part: part[:FIRST], parts_of(arrays[0]))
    check_numbers(specs[0], [first])
    check_weights(map(parts_of, arrays))
    return {
        "kind": "arrays",
        "form": FORMS[len(first) - 1],
        "train_examples": sizes[0],
        "test_examples": sum(sizes[1:]),
        "example": example_in_words(specs[0]),
        "example_bytes": bytes_of(specs[0]),
    }


def size_of(part: Any, use: str) -> int:
    """Return the number of examples; if there is no single number, report this and end."""
    rule = f"(features, labels) of one number of examples, above 0, to {use} on"
    if part is None or (isinstance(part, tuple) and not 1 <= len(part) <= 3):
        got = "nothing" if part is None else f"{len(part)} parts"
        fix = f"Write: {RETURN}; sample weights as a third part, several inputs or outputs in a "
        refuse(rule, got, f"{fix}dict or tuple.")
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


def facts_of_datasets(parts: list[Any]) -> dict[str, Any]:
    """Return the facts about data sets."""
    for part, use in zip(parts, ("train", "test")):
        if isinstance(part, tf.distribute.DistributedDataset):
            fix = "Return the tf.data.Dataset itself: the script distributes it."
            refuse("a data set that is not distributed yet", type(part).__name__, fix)
        if not isinstance(part, tf.data.Dataset):
            fix = "Return two data sets, or two pairs of arrays."
            refuse(f"a tf.data.Dataset to {use} on, as the other part", type(part).__name__, fix)
        spec = part.element_spec
        if isinstance(spec, tuple) and not 1 <= len(spec) <= 3:
            fix = "Have it give (features, labels); several of them in a dict or tuple."
            refuse("a data set of pairs (features, labels)", in_words(spec), fix)
    batched = is_batched(parts[0])
    if any(is_batched(part) != batched for part in parts):
        got = " and ".join(in_words(part.element_spec) for part in parts)
        fix = "Leave the batch out, or add .unbatch()."
        refuse("batches to train on and to test on, or single examples", got, fix)
    if batched:
        parts = [part.unbatch() for part in parts]
    train = parts[0]
    check_alike(*(part.element_spec for part in parts))
    form = FORMS[len(parts_of(train.element_spec)) - 1]
    first = map(parts_of, train.take(FIRST).as_numpy_iterator())
    check_numbers(train.element_spec, first)
    sizes = [count(part, use) for part, use in zip(parts, ("train", "test"))]
    if form == "weighted":
        check_weights(first)
    return {
        "kind": "dataset",
        "form": form,
        "train_examples": sizes[0],
        "test_examples": sum(sizes[1:]),
        "example": example_in_words(train.element_spec),
        "example_bytes": bytes_of(train.element_spec),
        "batched": batched,
        "reads_files": reads_files(train),
    }


def main() -> None:
    """Inspect the data and report the facts."""
    parts = called(find_function(json.load(sys.stdin)))
    datasets = any(isinstance(each, DATASETS) for each in parts)
    report(facts=facts_of_datasets(parts) if datasets else facts_of_arrays(parts))


if __name__ == "__main__":
    main()
