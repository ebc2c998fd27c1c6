"""Data functions of a user, and models and steps for their data."""

import numpy as np
import pandas as pd
import tensorflow as tf

CLASSES = 3


def arrays(examples=96, seed=0):
    random = np.random.default_rng(seed)
    features = random.standard_normal((examples, 10))
    return features, (features[:, :CLASSES].argmax(axis=1))


def pairs():
    return arrays(), arrays(32, seed=1)


def one_broken():
    """Return data of which one example has a feature that is NaN."""
    (features, labels), tests = arrays(320), arrays(32, seed=1)
    features[150, 3] = np.nan
    return (features, labels), tests


def weighted():
    def with_weights(part):
        features, labels = part
        return features, labels, np.where(labels == 0, 2.0, 0.5)

    return tuple(map(with_weights, pairs()))


def weighted_datasets():
    return tuple(map(tf.data.Dataset.from_tensor_slices, weighted()))


def features_alone():
    (features, _), (tests, _) = pairs()
    return features, tests


def features_in_tuples():
    (features, _), (tests, _) = pairs()
    return (features[:32],), (tests,)


def tables():
    train, test = (
        pd.DataFrame(features, columns=[f"feature_{n}" for n in range(10)]).assign(label=labels)
        for features, labels in pairs()
    )
    return (train.drop(columns="label"), train["label"]), (
        test.drop(columns="label"),
        test["label"],
    )


def several():
    def split(part):
        features, labels = part
        return {"wide": features[:, :6], "deep": features[:, 6:]}, (labels, features[:, :1])

    return tuple(map(split, pairs()))


def words():
    texts = np.array(["yes", "no"] * 16)
    return (texts, texts == "yes"), (texts[:8], texts[:8] == "yes")


def datasets():
    train, test = map(tf.data.Dataset.from_tensor_slices, pairs())
    return train.shuffle(96), test


def filtered():
    train, test = datasets()
    return train.filter(lambda _, label: label > 0), test


def batched():
    train, test = datasets()
    return train.batch(8).prefetch(1), test.batch(8)


def interleaved():
    """Return data whose batches are made inside of interleave."""

    def part(number):
        features = tf.ones([16, 10]) * tf.cast(number, tf.float32)
        return tf.data.Dataset.from_tensor_slices((features, tf.zeros([16]))).batch(8, True)

    train = tf.data.Dataset.range(4).interleave(part, num_parallel_calls=2)
    return train.prefetch(1), train


def mapped_flat():
    """Return data of which a function takes the batches from outside."""
    train, test = (part.batch(8) for part in datasets())
    again = tf.data.Dataset.range(2)
    return again.flat_map(lambda _: train), again.flat_map(lambda _: test)


def sampled():
    train, test = (part.batch(8) for part in datasets())
    return tf.data.Dataset.sample_from_datasets([train, train]), test


def interleaved_examples():
    """Return single examples: batches are made inside of interleave and taken apart again."""
    train, test = datasets()
    parts = tf.data.Dataset.range(2)
    return tuple(
        parts.interleave(lambda _, part=part: part.batch(8).unbatch().take(16))
        for part in (train, test)
    )


def windows():
    """Return sequences with their shifted sequences: a window's batch is one example."""
    numbers = tf.data.Dataset.range(24)
    rows = numbers.window(5, shift=1, drop_remainder=True).flat_map(
        lambda window: window.batch(5, drop_remainder=True)
    )
    pairs = rows.map(lambda row: (row[:-1], row[1:]))
    return pairs, pairs


def rows_with_next():
    """Return sequences with the number that follows, made by batch."""
    rows = tf.data.Dataset.range(24).batch(4, drop_remainder=True)
    pairs = rows.map(lambda row: (row[:-1], row[-1]))
    return pairs, pairs


def unbatched():
    train, test = datasets()
    return train.batch(8).unbatch().map(lambda *pair: pair), test


def batches_of_unknown_size():
    return filtered()[0].batch(8)


def weights_of_labels():
    features, labels = arrays()
    both = np.stack([labels, labels], axis=1)
    return features, both, np.ones(both.shape)


class Rows(tf.keras.utils.Sequence):
    """Batches of the rows of arrays, in these sizes."""

    def __init__(self, arrays, sizes):
        self.arrays, self.ends = arrays, np.cumsum([0, *sizes])

    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, number):
        rows = slice(self.ends[number], self.ends[number + 1])
        return tuple(each[rows] for each in self.arrays)


def sequences():
    return Rows(arrays(), [40, 40, 16]), Rows(arrays(), [32])


def sequence_of_uneven_batches():
    return Rows(arrays(), [30, 30, 20, 10, 6])


def slow_sequence():
    return Rows(arrays(), [30, 30, 30, 6])


def features_in_lists():
    class Features(Rows):
        def __getitem__(self, number):
            return super().__getitem__(number)[0]

    return Features(arrays(), [48, 48]), None


def generators():
    def batches(count):
        features, labels = arrays(count)
        for first in range(0, count, 20):
            yield features[first : first + 20], labels[first : first + 20]

    return batches(96), batches(32)


def generated():
    features, labels = arrays()
    yield features, labels


def generated_with_none():
    features, labels = arrays()
    yield [features[:, :6], features[:, 6:]], labels, None


def unlabelled():
    return tuple(dataset.map(lambda features, _: features) for dataset in datasets())


def one_part():
    return arrays()


def one_part_and_none():
    return arrays(), None


def one_weighted_part():
    return weighted()[0]


def tables_of_one_length():
    features, labels = arrays(32)
    return {"wide": features}, {"kind": labels}


def one_array():
    return arrays()[0]


def one_table():
    features, _ = arrays(32)
    return {"id": np.arange(32), "wide": features[:, :6]}


def labels_of_tables():
    return one_table(), arrays(32)[1]


def one_dataset():
    return datasets()[0]


def one_dataset_and_none():
    return datasets()[0], None


def batches_alone():
    return datasets()[0].batch(8)


def classifier():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(CLASSES)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.SGD(0.5), loss=loss, metrics=["accuracy"])
    return model


def too_few_outputs():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(CLASSES - 1)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss)
    return model


def regressor():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1)])
    model.compile(
        "sgd", loss=lambda labels, outputs: tf.square(tf.cast(labels, "float32") - outputs[:, 0])
    )
    return model


def two_headed():
    inputs = {"wide": tf.keras.Input([6], name="wide"), "deep": tf.keras.Input([4], name="deep")}
    hidden = tf.keras.layers.Concatenate()(list(inputs.values()))
    heads = (tf.keras.layers.Dense(CLASSES, "softmax")(hidden), tf.keras.layers.Dense(1)(hidden))
    model = tf.keras.Model(inputs, heads)
    losses = ("sparse_categorical_crossentropy", "mse")
    model.compile("adam", loss=losses, loss_weights=(1.0, 0.5))
    return model


def softmax_step(model, features, labels):
    with tf.GradientTape() as tape:
        outputs = model(features, training=True)
        losses = tf.keras.losses.sparse_categorical_crossentropy(labels, outputs, from_logits=True)
        # The gradients of all replicas are summed.
        part = tf.reduce_mean(losses) / tf.distribute.get_strategy().num_replicas_in_sync
    gradients = tape.gradient(part, model.trainable_variables)
    model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return losses, outputs


def mean_step(model, features, labels):
    losses, _ = softmax_step(model, features, labels)
    return tf.reduce_mean(losses)


def silent_step(model, features, labels):
    softmax_step(model, features, labels)
