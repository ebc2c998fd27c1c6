"""Data of a user in other forms than pairs, and models with steps of their own."""

import keras
import numpy as np
import tensorflow as tf


def examples(count, seed):
    return np.random.default_rng(seed).standard_normal((count, 8)).astype("float32")


def weighted():
    def part(features):
        labels = (features.sum(axis=1) > 0).astype("int64")
        return features, labels, np.where(labels == 1, 2.0, 0.5)

    return part(examples(320, 0)), part(examples(48, 1))


def weighted_datasets():
    return tuple(map(tf.data.Dataset.from_tensor_slices, weighted()))


class Rows(keras.utils.PyDataset):
    """Batches of the rows of arrays; each pass shuffles the batches."""

    def __init__(self, arrays, size, seed=None):
        super().__init__()
        self.arrays, self.size = arrays, size
        self.random = None if seed is None else np.random.default_rng(seed)
        self.order = np.arange(-(-len(arrays[0]) // size))

    def __len__(self):
        return len(self.order)

    def __getitem__(self, number):
        first = self.order[number] * self.size
        return [each[first : first + self.size] for each in self.arrays]

    def on_epoch_end(self):
        if self.random is not None:
            self.order = self.random.permutation(self.order)


def sequences():
    train, test = weighted()
    return Rows(train, 50), Rows(test, 7)


def shuffled_sequence():
    return Rows(weighted()[0], 20, seed=1), None


def generators():
    def batches(part, size):
        for first in range(0, len(part[0]), size):
            yield tuple(each[first : first + size] for each in part)

    train, test = weighted()
    return batches(train, 50), batches(test, 7)


def generator_to_train():
    yield from generators()[0]


def features_alone():
    return examples(320, 0), examples(48, 1)


def features_to_train():
    return examples(320, 0)


def weighted_to_train():
    return weighted()[0], None


def weighted_in_two():
    """Return `weighted_to_train` with its last fifth to test on."""
    train, _ = weighted_to_train()
    return tuple(each[:256] for each in train), tuple(each[256:] for each in train)


def dataset_to_train():
    return tf.data.Dataset.from_tensor_slices(features_to_train()).shuffle(320, seed=3)


def batches():
    """Return the examples of `datasets_alone` in batches of other sizes than a plan's."""
    train, test = datasets_alone()
    return train.batch(50), test.batch(7, drop_remainder=False)


def batches_to_train():
    return dataset_to_train().batch(50)


def datasets_alone():
    return tuple(map(tf.data.Dataset.from_tensor_slices, features_alone()))


def classifier():
    model = keras.Sequential([keras.Input([8]), keras.layers.Dense(2)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss, metrics=["accuracy"], weighted_metrics=[weighted_accuracy()])
    return model


def weighted_accuracy():
    return keras.metrics.SparseCategoricalAccuracy("weighted_accuracy")


class Steps(keras.Model):
    """A model without a loss of Keras and without a call; a subclass has `losses_of`."""

    def __init__(self, *names):
        super().__init__()
        self.means = [keras.metrics.Mean(name) for name in names]

    @property
    def metrics(self):
        return self.means

    def report(self, losses):
        for mean, loss in zip(self.means, losses, strict=True):
            mean.update_state(loss)
        return {mean.name: mean.result() for mean in self.means}

    def apply(self, optimizer, tape, loss, weights):
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))

    def test_step(self, data):
        return self.report(self.losses_of(data))


def shared(loss):
    """Return a replica's share of a mean loss, because gradients are summed over the replicas."""
    return loss / tf.distribute.get_strategy().num_replicas_in_sync


class Autoencoder(Steps):
    def __init__(self):
        super().__init__("loss", "reconstruction", "divergence")
        self.encoder = keras.Sequential([keras.Input([8]), keras.layers.Dense(4)])
        self.decoder = keras.Sequential([keras.Input([2]), keras.layers.Dense(8)])

    def losses_of(self, data):
        mean, variance = tf.split(self.encoder(data), 2, axis=1)
        reconstruction = tf.reduce_mean((self.decoder(mean) - data) ** 2)
        divergence = tf.reduce_mean(tf.exp(variance) + mean**2 - 1 - variance) / 2
        return reconstruction + divergence, reconstruction, divergence

    def train_step(self, data):
        with tf.GradientTape() as tape:
            losses = self.losses_of(data)
            loss = shared(losses[0])
        self.apply(self.optimizer, tape, loss, self.trainable_weights)
        return self.report(losses)


class Untested(Autoencoder):
    """A model that cannot be tested."""

    test_step = keras.Model.test_step


def untested():
    model = Untested()
    model.compile("adam")
    return model


def autoencoder():
    model = Autoencoder()
    model.compile("adam")
    return model


class Adversaries(Steps):
    def __init__(self):
        super().__init__("generator_loss", "critic_loss")
        self.generator = keras.Sequential([keras.Input([8]), keras.layers.Dense(8)])
        self.critic = keras.Sequential([keras.Input([8]), keras.layers.Dense(1)])

    def compile(self, generator_optimizer, critic_optimizer):
        super().compile()
        self.generator_optimizer = generator_optimizer
        self.critic_optimizer = critic_optimizer

    def losses_of(self, data):
        made, real = self.critic(self.generator(data[:, ::-1])), self.critic(data)
        wrong = tf.reduce_mean(tf.nn.softplus(made)) + tf.reduce_mean(tf.nn.softplus(-real))
        return tf.reduce_mean(tf.nn.softplus(-made)), wrong

    def train_step(self, data):
        with tf.GradientTape(persistent=True) as tape:
            losses = self.losses_of(data)
            generator, critic = map(shared, losses)
        weights = self.generator.trainable_weights
        self.apply(self.generator_optimizer, tape, generator, weights)
        self.apply(self.critic_optimizer, tape, critic, self.critic.trainable_weights)
        return self.report(losses)


def adversaries():
    model = Adversaries()
    model.compile(keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.02))
    return model


class Counting(Autoencoder):
    """A model whose test step sums over the replicas, as only a step of a replica can."""

    def test_step(self, data):
        replicas = tf.distribute.get_replica_context()
        losses = self.losses_of(data)
        self.report(losses)
        return {"everywhere": replicas.all_reduce("SUM", losses[0])}


def counting():
    model = Counting()
    model.compile("adam")
    return model
