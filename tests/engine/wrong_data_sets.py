"""Data functions of a user with common mistakes."""

import socket

import numpy as np
import tensorflow as tf
from own_data_sets import Rows, arrays, datasets, pairs, weighted


def features_of_one_size():
    (features, _), (tests, _) = pairs()
    return features[:32], tests


def negative_weights():
    train, (features, labels, weights) = weighted()
    return train, (features, labels, weights - 1)


def infinite_weights():
    (features, labels, weights), test = weighted()
    train = features, labels, np.where(labels == 1, np.inf, weights)
    return tuple(map(tf.data.Dataset.from_tensor_slices, (train, test)))


def weights_in_words():
    def named(part):
        features, labels, weights = part
        return features, labels, weights.astype(str)

    return tuple(map(named, weighted()))


def half_batched():
    train, test = datasets()
    return train.batch(8), test


def endless():
    train, test = datasets()
    return train.repeat(), test


def endless_unknown():
    train, test = datasets()
    return train.repeat().filter(lambda _, label: label > 0), test


def endless_batches():
    train, test = endless_unknown()
    return train.batch(8), test.batch(8)


def endless_in_batches():
    train, test = endless()
    return train.batch(8), test.batch(8)


def padded_apart():
    """Return batches, each padded to its own longest example."""
    rows = tf.data.Dataset.range(1, 9).map(lambda size: (tf.ones([size]), size))
    return rows.padded_batch(4)


def empty_test():
    return datasets()[0], datasets()[1].take(0)


def empty_test_arrays():
    (features, labels), _ = pairs()
    return (features, labels), (features[:0], labels[:0])


def several_inputs_bare():
    features, labels = arrays()
    return (features[:, :6], features[:, 6:]), labels


def pair_with_more_features():
    (features, labels), (more, _) = pairs()
    return features[:32], labels[:32], more


class Single(Rows):
    def __getitem__(self, number):
        return tuple(each[number] for each in self.arrays)


def generated_endlessly():
    while True:
        yield arrays()


def generated_of_two_shapes():
    for width in (4, 4, 5):
        yield np.zeros((8, width)), np.zeros(8)


def generated_one_by_one():
    yield from zip(*arrays(), strict=True)


def generated_unlike():
    features, labels = arrays()
    yield features, labels[1:]


def generated_nothing():
    yield from ()


def sequence_of_single_examples():
    features, labels = arrays()
    return [Single((features, labels), [1] * 96), None]


def empty_sequence():
    return Rows(arrays(), [])


def sequence_of_two_shapes():
    class Growing(Rows):
        def __getitem__(self, number):
            return np.zeros((8, 4 + number)), np.zeros(8)

    return Growing(arrays(), [8, 8, 8])


def sequence_and_arrays():
    return Rows(arrays(), [96]), arrays()


def raising_sequence():
    class Raising(Rows):
        def __getitem__(self, number):
            raise FileNotFoundError(f"no such folder: /data/{number}")

    return Raising(arrays(), [8])


def raising_generator():
    yield arrays()
    raise ValueError("the second file is damaged")


def empty():
    train, test = datasets()
    return train.take(0), test


def distributed():
    train, test = datasets()
    strategy = tf.distribute.get_strategy()
    return tf.distribute.OneDeviceStrategy("CPU:0").experimental_distribute_dataset(
        train.batch(8)
    ), strategy.experimental_distribute_dataset(test.batch(8))


def uneven():
    (features, labels), test = pairs()
    return (features[:-1], labels), test


def one_pair_of_lists():
    return list(arrays())


def list_and_none():
    return list(arrays()), None


def datasets_and_none():
    return datasets(), None


def wrapped():
    return (arrays(),)


def four_parts():
    return (*arrays(), *arrays())


def none_for_labels():
    return (arrays()[0], None), (arrays()[0], None)


def unreturned():
    arrays()


def named():
    names = np.array(["setosa", "virginica", "versicolor", "unknown"] * 24)
    return (arrays()[0], names), (arrays()[0], names)


def named_in_part():
    names = ["setosa", "virginica"] * 4
    examples = tf.data.Dataset.from_tensor_slices(
        (np.zeros((8, 2)), {"count": np.arange(8), "kind": names})
    )
    return examples, examples


def pair_before_none():
    return (*arrays(), None)


def ragged():
    rows = np.array([[1], [2, 3]], dtype=object)
    return (rows, np.zeros(2)), (rows, np.zeros(2))


def listed():
    return [list(part) for part in pairs()]


def otherwise_shaped():
    (features, labels), test = pairs()
    return (features[:, :5], labels), test


def raising():
    raise FileNotFoundError("no such folder: /data/images")


def asking(folder):
    return pairs()


def downloading():
    """Connect to a port of this machine that no program listens to."""
    socket.create_connection(("127.0.0.1", 9), timeout=5)


def sized_apart():
    examples = tf.data.Dataset.range(1, 9).map(lambda size: (tf.ones([size]), size))
    examples = examples.filter(lambda features, _: tf.size(features) > 0)
    return examples, examples


def without_files():
    records = tf.data.TFRecordDataset("no-such.tfrecord")
    examples = records.map(lambda record: (tf.strings.length(record), 0))
    return examples, examples


def dated():
    days = np.arange("2026-01-01", "2026-01-09", dtype="datetime64[D]")
    return (days, np.arange(8)), (days, np.arange(8))


def importing():
    import no_such_package

    return no_such_package.load()
