"""The facts about `tf.data` data sets."""

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from .examples import FIRST, check_weights, facts_of_examples, in_words, parts_of
from .problems import FILL, FILL_TEST, ONE_SHAPE, fix_of, refuse

COUNT_SECONDS = 120.0
DATASETS = (tf.data.Dataset, tf.distribute.DistributedDataset)
LET_END = (
    "Leave its repeat out; or, if it is only large, set its size: "
    "dataset{}.apply(tf.data.experimental.assert_cardinality(n))."
)
READERS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset")


def facts_of_datasets(parts: list[Any], sizes: Sequence[int] = ()) -> dict[str, Any]:
    """Return the facts about data sets, whose sizes may be known."""
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
    examples = [part.unbatch() if batched else part for part in parts]
    train = examples[0]
    first = map(parts_of, train.take(FIRST).as_numpy_iterator())
    facts = facts_of_examples([part.element_spec for part in examples], first)
    sizes = sizes or [
        count(part, use, batched=batched) for part, use in zip(parts, ("train", "test"))
    ]
    if facts["form"] == "weighted":
        check_weights(first)
    return {
        "kind": "dataset",
        **facts,
        "train_examples": sizes[0],
        "test_examples": sum(sizes[1:]),
        "given": "batches" * batched,
        "reads_files": reads_files(train),
    }


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


def count(dataset: tf.data.Dataset, use: str, *, batched: bool, let_end: str = "") -> int:
    """Return how many examples a data set has. If its size is unknown, it is read to its end.

    `let_end` says how to let it end in time.
    """
    size = int((dataset.unbatch() if batched else dataset).cardinality())
    if tf.data.INFINITE_CARDINALITY in (size, int(dataset.cardinality())):
        got = "an endless one"
        refuse(f"a data set that ends, to {use} on", got, "Leave its repeat out, or use take(n).")
    if size == tf.data.UNKNOWN_CARDINALITY:
        let_end = let_end or LET_END.format(".unbatch()" * batched)
        try:
            size = count_by_reading(dataset if batched else dataset.batch(256), use, let_end)
        except Exception as error:  # of an operation, or of a function that a generator calls
            reason = (getattr(error, "message", "") or str(error)).strip().splitlines() or [""]
            got = f"{type(error).__name__}: {reason[0].rpartition('}} ')[2]}"
            refuse(f"a data set that can be read to its end, to {use} on", got, fix_of(error))
    if size == 0:
        fix = FILL_TEST if use == "test" else FILL
        refuse(f"a data set of at least one example, to {use} on", "an empty one", fix)
    return size


def count_by_reading(batches: tf.data.Dataset, use: str, let_end: str) -> int:
    """Return how many examples can be read in batches.

    Reports, and ends, if they do not end in time, or if examples of two batches differ in shape,
    which the plan's batches would put together.
    """
    size, began, shapes = 0, time.monotonic(), dict[Any, None]()
    for batch in batches:
        parts = tf.nest.flatten(batch)
        size += int(tf.shape(parts[0])[0])
        shapes |= {tuple(tuple(part.shape[1:]) for part in parts): None}
        if len(shapes) > 1:
            got = " and ".join(", ".join(map(str, each)) for each in shapes)
            refuse(f"a data set whose examples to {use} on have one shape", got, ONE_SHAPE)
        if time.monotonic() - began > COUNT_SECONDS:
            got = f"more than {size:,} examples, still being read after {COUNT_SECONDS:g} s"
            refuse(f"a data set that ends, to {use} on", got, let_end)
    return size
