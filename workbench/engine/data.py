"""The data sets, and the checks of the user's own data."""

import functools
import gzip
import itertools
import pathlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from .constants import (
        DATA_DIR,
        NOISE,
        NUM_FEATURES,
        NUM_TEST_EXAMPLES,
        NUM_TRAIN_EXAMPLES,
        SEED,
    )


def make_data__synthetic() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (features, labels) to train on and to test on; labels follow a noisy linear rule."""
    rng = np.random.default_rng(SEED)
    size = NUM_TRAIN_EXAMPLES + NUM_TEST_EXAMPLES
    features = rng.standard_normal((size, NUM_FEATURES), np.float32)
    score = features @ rng.standard_normal(NUM_FEATURES, np.float32)
    labels = (score + NOISE * rng.standard_normal(size) > 0).astype(np.float32)[:, None]
    train, test = slice(NUM_TRAIN_EXAMPLES), slice(NUM_TRAIN_EXAMPLES, None)
    return (features[train], labels[train]), (features[test], labels[test])


def make_data__fashion_mnist() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (images in [0, 1], labels): 60,000 to train on and 10,000 to test on."""
    parts = tf.keras.datasets.fashion_mnist.load_data()
    return tuple((images[..., None].astype("float32") / 255, labels) for images, labels in parts)


def read_file(name: str, header_bytes: int) -> np.ndarray:
    """Return the bytes of a file in DATA_DIR, after its header."""
    with gzip.open(pathlib.Path(DATA_DIR, f"{name}-ubyte.gz").expanduser()) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header_bytes)


def make_data__fashion_mnist_folder() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (images in [0, 1], labels): 60,000 to train on and 10,000 to test on."""
    parts = []
    for part in "train", "t10k":
        images = read_file(f"{part}-images-idx3", header_bytes=16).reshape(-1, 28, 28, 1)
        labels = read_file(f"{part}-labels-idx1", header_bytes=8)
        parts.append((images.astype("float32") / 255, labels))
    return tuple(parts)


def as_arrays(part: Any) -> Any:
    """Return tables and lists as arrays, in tuples and dicts, too; floats in Keras' float type."""
    if isinstance(part, dict):
        return {name: as_arrays(each) for name, each in part.items()}
    if isinstance(part, tuple):
        return tuple(map(as_arrays, part))
    array = np.asarray(part)
    is_float = np.issubdtype(array.dtype, np.floating)
    return array.astype(tf.keras.backend.floatx(), copy=False) if is_float else array


@functools.cache
def check_data__arrays(function: Callable) -> tuple:
    """Return the data of the user's function: examples to train on and to test on."""
    parts = tuple(map(as_arrays, function()))
    wanted = {"train on": NUM_TRAIN_EXAMPLES, "test on": NUM_TEST_EXAMPLES}
    for (use, examples), part in zip(wanted.items(), parts, strict=True):
        if (sizes := {len(array) for array in tf.nest.flatten(part)}) != {examples}:
            raise SystemExit(
                f"Needs {examples} examples to {use}; {function.__name__} gave {sizes}. Set the "
                "number of examples and the steps of an epoch at the top, or return that data."
            )
    return parts


@functools.cache
def check_data__arrays_of_one_part(function: Callable) -> tuple:
    """Return the data of the user's function: the first to train on, then any to test on."""
    examples = function()
    if isinstance(examples, (tuple, list)) and examples[-1] is None:
        examples = examples[0]
    found, size = as_arrays(examples), NUM_TRAIN_EXAMPLES + NUM_TEST_EXAMPLES
    if (sizes := {len(array) for array in tf.nest.flatten(found)}) != {size}:
        raise SystemExit(
            f"Needs {size} examples; {function.__name__} gave {sizes}. Set the numbers of "
            "examples and the steps of an epoch at the top, or return that data."
        )
    train = tf.nest.map_structure(lambda array: array[:NUM_TRAIN_EXAMPLES], found)
    return train, tf.nest.map_structure(lambda array: array[NUM_TRAIN_EXAMPLES:], found)


def as_examples__batches(function: Callable) -> Callable:
    """Return a function that gives the examples in the batches of the user's function."""
    return lambda: tf.nest.map_structure(
        lambda part: None if part is None else part.unbatch(), function()
    )


def as_batch(batch: Any) -> Any:
    """Return a batch as Keras reads it: features, labels and weights, or a dict, as arrays."""
    if isinstance(batch, dict):
        return as_arrays(batch)
    parts = list(batch) if isinstance(batch, (list, tuple)) else [batch]
    while parts and parts[-1] is None:
        parts.pop()

    def is_several(part: Any) -> bool:  # inputs or outputs, not the rows of one
        return isinstance(part, list) and all(getattr(each, "shape", ()) for each in part)

    return tuple(as_arrays(tuple(part) if is_several(part) else part) for part in parts)


def from_batches(first: Any, read: Callable[[], Iterator]) -> tf.data.Dataset:
    """Return the examples in batches like the first one, which each pass reads with `read`."""
    kinds = tf.nest.map_structure(
        lambda part: tf.TensorSpec([None, *part.shape[1:]], part.dtype), first
    )
    return tf.data.Dataset.from_generator(read, output_signature=kinds).unbatch()


def as_examples__sequences(function: Callable) -> Callable:
    """Return a function that gives the examples of the user's `keras.utils.PyDataset`s."""

    def examples_of(batches: Any) -> tf.data.Dataset | None:
        passes = itertools.count()

        def read() -> Iterator:
            if next(passes) > 0:
                batches.on_epoch_end()  # of the pass before, whose end may not have been read
            yield from (as_batch(batches[number]) for number in range(len(batches)))

        return None if batches is None else from_batches(as_batch(batches[0]), read)

    return lambda: tf.nest.map_structure(examples_of, function())


def as_examples__generators(function: Callable) -> Callable:
    """Return a function that gives the examples in the batches of the user's generators.

    A generator can be read once, so the user's function is called again for each pass.
    """

    def read(part: int) -> Iterator:
        found = function()
        yield from map(as_batch, found[part] if isinstance(found, (tuple, list)) else found)

    def examples() -> list:
        found = function()
        parts = found if isinstance(found, (tuple, list)) else [found]
        reads = [functools.partial(read, at) for at, part in enumerate(parts) if part is not None]
        return [from_batches(next(read_part()), read_part) for read_part in reads]

    return examples


def check_size(dataset: tf.data.Dataset, examples: int) -> tf.data.Dataset:
    """Return a data set of so many examples; end if it has another number, as far as known."""
    known = tf.get_static_value(dataset.cardinality())  # below 0: unknown or endless
    if known is not None and 0 <= known != examples:
        raise SystemExit(
            f"Needs a data set of {examples} examples; your function gave one of {known}. "
            "Set the number of examples and the steps of an epoch at the top."
        )
    return dataset


def check_data__dataset(function: Callable) -> tuple[tf.data.Dataset, tf.data.Dataset]:
    """Return the data of the user's function: examples to train on and to test on."""
    tf.keras.utils.set_random_seed(SEED)  # the same order of examples whenever it is called
    train, test = function()
    return check_size(train, NUM_TRAIN_EXAMPLES), check_size(test, NUM_TEST_EXAMPLES)


def check_data__dataset_of_one_part(function: Callable) -> tuple[tf.data.Dataset, tf.data.Dataset]:
    """Return the data of the user's function: examples to train on, and none to test on."""
    tf.keras.utils.set_random_seed(SEED)  # the same order of examples whenever it is called
    found = function()
    train = found[0] if isinstance(found, (tuple, list)) else found
    return check_size(train, NUM_TRAIN_EXAMPLES), train.take(0)
