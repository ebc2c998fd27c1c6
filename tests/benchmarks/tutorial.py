"""The public tutorial's two jobs, written again: the baseline of the workbench's loops.

`python -m tests.benchmarks.tutorial mlp|cnn` trains a complete job. With `--first-step` it ends
after one step and prints the time of its end, in seconds since 1970.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist")
Arrays = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Job:
    """The data, model and settings of a job."""

    train: Arrays
    test: Arrays
    make_model: Callable[[], Any]
    loss: type
    accuracy: type
    per_replica_batch_size: int
    epochs: int
    checkpoint_every_epochs: int | None = None


def mlp_job(examples: int = 10_000, per_replica_batch_size: int = 64) -> Job:
    """Return job (a): a noisy linear rule over 10 features, and an MLP 10-16-8-1."""
    random = np.random.default_rng(42)
    features = random.standard_normal((examples + examples // 5, 10)).astype(np.float32)
    noise = 0.1 * random.standard_normal(len(features))
    labels = (features @ random.standard_normal(10) + noise > 0).astype(np.float32)[:, None]

    def make_model() -> Any:
        layer = tf.keras.layers.Dense
        layers = [layer(16, activation="relu"), layer(8, activation="relu")]
        return tf.keras.Sequential([tf.keras.Input([10]), *layers, layer(1, activation="sigmoid")])

    return Job(
        train=(features[:examples], labels[:examples]),
        test=(features[examples:], labels[examples:]),
        make_model=make_model,
        loss=tf.keras.losses.BinaryCrossentropy,
        accuracy=tf.keras.metrics.BinaryAccuracy,
        per_replica_batch_size=per_replica_batch_size,
        epochs=5,
    )


def cnn_job(folder: Path = FASHION_MNIST) -> Job:
    """Return job (b): Fashion-MNIST and a CNN of two convolutions with L2, 16 per replica."""

    def make_model() -> Any:
        options = {"kernel_regularizer": tf.keras.regularizers.L2(1e-5)}
        layers = tf.keras.layers
        return tf.keras.Sequential(
            [
                tf.keras.Input([28, 28, 1]),
                layers.Conv2D(32, 3, activation="relu", **options),
                layers.MaxPooling2D(),
                layers.Conv2D(64, 3, activation="relu", **options),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(64, activation="relu", **options),
                layers.Dense(10, **options),
            ]
        )

    return Job(
        train=_fashion_mnist(folder, "train"),
        test=_fashion_mnist(folder, "t10k"),
        make_model=make_model,
        loss=_LogitsLoss,
        accuracy=tf.keras.metrics.SparseCategoricalAccuracy,
        per_replica_batch_size=16,
        epochs=10,
        checkpoint_every_epochs=2,
    )


class Tutorial:
    """The tutorial's loop, one Python call per step.

    A graph function runs the replicas and sums their losses.
    """

    def __init__(self, strategy: tf.distribute.Strategy, job: Job) -> None:
        self.strategy, self.job = strategy, job
        self.global_batch_size = job.per_replica_batch_size * strategy.num_replicas_in_sync
        train = tf.data.Dataset.from_tensor_slices(job.train).shuffle(len(job.train[0]))
        test = tf.data.Dataset.from_tensor_slices(job.test)
        self.train_batches, self.test_batches = map(self._distribute, (train, test))
        with strategy.scope():
            self.model = job.make_model()
            self.optimizer = tf.keras.optimizers.Adam(1e-3)
            self.example_losses = job.loss(reduction="none")
            self.train_accuracy = job.accuracy(name="train_accuracy")
            self.test_accuracy = job.accuracy(name="test_accuracy")
            self.test_loss = tf.keras.metrics.Mean(name="test_loss")
        self._iterator: Any = None

    def train_epoch(self) -> float:
        """Train once through the data as the tutorial does; return the mean loss of its batches."""
        total_loss, num_batches = 0.0, 0
        for batch in self.train_batches:
            total_loss += self.distributed_train_step(batch)
            num_batches += 1
        return float(total_loss / num_batches)

    def train_first_step(self) -> float:
        """Start an epoch as the tutorial does and return the loss of its first batch."""
        return float(self.distributed_train_step(next(iter(self.train_batches))))

    def train_steps(self, count: int) -> float:
        """Run `count` training steps and return their seconds.

        In the tutorial's favour, the start of an epoch is not timed; it makes an iterator and fills
        the shuffle buffer.
        """
        total_loss, seconds = 0.0, 0.0
        if self._iterator is None:
            self._iterator = self._started()
        began = time.perf_counter()
        for _ in range(count):
            batch = next(self._iterator, None)
            if batch is None:
                seconds += time.perf_counter() - began
                self._iterator = self._started()
                began = time.perf_counter()
                batch = next(self._iterator)
            total_loss += self.distributed_train_step(batch)
        mean_loss = float(total_loss / count)
        seconds += time.perf_counter() - began
        if not np.isfinite(mean_loss):
            raise ArithmeticError(f"The loss of the baseline must be finite; it is {mean_loss}.")
        return seconds

    def train(self) -> None:
        """Train the complete job as the tutorial does: steps, test pass, checkpoint, a line."""
        checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer)
        with tempfile.TemporaryDirectory() as folder:
            for epoch in range(1, self.job.epochs + 1):
                mean_loss = self.train_epoch()
                for batch in self.test_batches:
                    self.distributed_test_step(batch)
                every = self.job.checkpoint_every_epochs
                if every and epoch % every == 0:
                    checkpoint.save(f"{folder}/checkpoint")
                self._print(epoch, mean_loss)

    @property
    def steps_per_epoch(self) -> int:
        """The number of batches in an epoch, including a short last batch."""
        return -(-len(self.job.train[0]) // self.global_batch_size)

    @tf.function
    def distributed_train_step(self, batch: Any) -> tf.Tensor:
        """Train all replicas on a batch; return the loss over the complete batch."""
        losses = self.strategy.run(self._train_step, args=(batch,))
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    @tf.function
    def distributed_test_step(self, batch: Any) -> None:
        """Test all replicas on a batch."""
        self.strategy.run(self._test_step, args=(batch,))

    def _train_step(self, batch: Any) -> tf.Tensor:
        features, labels = batch
        with tf.GradientTape() as tape:
            answers = self.model(features, training=True)
            loss = tf.nn.compute_average_loss(
                self.example_losses(labels, answers), global_batch_size=self.global_batch_size
            )
            if self.model.losses:
                loss += tf.nn.scale_regularization_loss(tf.add_n(self.model.losses))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        self.train_accuracy.update_state(labels, answers)
        return loss

    def _test_step(self, batch: Any) -> None:
        features, labels = batch
        answers = self.model(features, training=False)
        self.test_loss.update_state(self.example_losses(labels, answers))
        self.test_accuracy.update_state(labels, answers)

    def _distribute(self, examples: Any) -> Any:
        batches = examples.batch(self.global_batch_size)
        return self.strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE))

    def _started(self) -> Any:
        iterator = iter(self.train_batches)
        next(iterator)
        return iterator

    def _print(self, epoch: int, loss: float) -> None:
        metrics = self.train_accuracy, self.test_loss, self.test_accuracy
        accuracy, test_loss, test_accuracy = (float(metric.result()) for metric in metrics)
        print(  # noqa: T201
            f"epoch {epoch}: loss {loss:.4f}, accuracy {accuracy:.4f}, "
            f"test loss {test_loss:.4f}, test accuracy {test_accuracy:.4f}",
            flush=True,
        )
        for metric in metrics:
            metric.reset_state()


class _LogitsLoss(tf.keras.losses.SparseCategoricalCrossentropy):
    """Sparse categorical cross-entropy from logits."""

    def __init__(self, reduction: str) -> None:
        super().__init__(from_logits=True, reduction=reduction)


def _fashion_mnist(folder: Path, part: str) -> Arrays:
    def unpacked(name: str, header_bytes: int) -> np.ndarray:
        content = gzip.decompress((folder / f"{part}-{name}-ubyte.gz").read_bytes())
        return np.frombuffer(content, np.uint8, offset=header_bytes)

    images, labels = unpacked("images-idx3", 16), unpacked("labels-idx1", 8)
    return images.reshape(-1, 28, 28, 1).astype(np.float32) / 255, labels


def two_virtual_replicas() -> tf.distribute.Strategy:
    """Return Mirrored on the CPU split in two; call it before any other use of TensorFlow."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    reduction = tf.distribute.ReductionToOneDevice()
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=reduction)


def main() -> None:
    """Train a job, or take its first step."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("job", choices=JOBS)
    options.add_argument("--first-step", action="store_true")
    asked = options.parse_args()
    tutorial = Tutorial(two_virtual_replicas(), JOBS[asked.job]())
    if asked.first_step:
        tutorial.train_first_step()
        print(time.time())  # noqa: T201
    else:
        tutorial.train()


JOBS = {"mlp": mlp_job, "cnn": cnn_job}

if __name__ == "__main__":
    main()
