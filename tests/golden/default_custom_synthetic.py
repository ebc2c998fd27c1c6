"""MLP 16-8-1 on Synthetic: Default strategy, 1 replica, Custom loop."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

SEED = 42  # decides data, first weights and order of examples
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 64  # examples that each replica takes in a step
GLOBAL_BATCH_SIZE = 64  # 64 x 1 replica
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = 156  # 10,000 examples, 156 steps an epoch; 16 examples left out
TEST_STEPS = 32  # every test example once
LEARNING_RATE = 0.001  # independent of the number of replicas
ACCURACY = tf.keras.metrics.binary_accuracy  # 1 or 0 for each example
STEPS_PER_STACK = 1  # batches in one element of the pipeline
STEPS_PER_CALL = None  # in a graph call; None: enough for 0.2 s
RUN_EAGERLY = False  # True: no graphs, for debugging


def make_strategy() -> tf.distribute.Strategy:
    """Return the default strategy: one replica, on the CPU."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.get_strategy()


def make_data() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (features, labels) to train on and to test on; labels follow a noisy linear rule."""
    random = np.random.default_rng(SEED)
    examples = NUM_TRAIN_EXAMPLES + NUM_TEST_EXAMPLES
    features = random.standard_normal((examples, NUM_FEATURES), np.float32)
    score = features @ random.standard_normal(NUM_FEATURES, np.float32)
    labels = (score + NOISE * random.standard_normal(examples) > 0).astype(np.float32)[:, None]
    parts = (np.split(array, [NUM_TRAIN_EXAMPLES]) for array in (features, labels))
    return tuple(zip(*parts))


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches repeated without end.

    The strategy splits each global batch among its replicas.
    """
    examples, tests = make_data()
    train = shuffled_batches(examples, start_step)
    test = tf.data.Dataset.from_tensor_slices(tests).batch(GLOBAL_BATCH_SIZE).repeat()
    options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    return tuple(
        strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE), options)
        for batches in (train, test)
    )


def make_optimizer() -> tf.keras.optimizers.Optimizer:
    """Return Adam with its other settings as published."""
    return tf.keras.optimizers.Adam(LEARNING_RATE)


def make_model() -> tf.keras.Model:
    """Return a multilayer perceptron 16-8-1 whose output is a probability."""
    model = tf.keras.Sequential(
        [
            tf.keras.Input([NUM_FEATURES]),
            tf.keras.layers.Dense(16, activation="relu"),
            tf.keras.layers.Dense(8, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(make_optimizer(), loss=tf.keras.losses.BinaryCrossentropy())
    return model


def make_steps(model: tf.keras.Model) -> tuple[Callable, Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test.

    Both return its sum of losses, its correct answers and its examples.
    """
    loss = tf.keras.losses.get(model.loss)
    example_losses = getattr(loss, "call", loss)

    def forward(batch: tuple[tf.Tensor, ...], training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        losses = example_losses(labels, outputs) + sum(model.losses)  # each with all penalties
        correct = tf.reduce_sum(tf.cast(ACCURACY(labels, outputs), losses.dtype))
        examples = tf.cast(tf.size(losses), losses.dtype)
        return losses, tf.stack([tf.reduce_sum(losses), correct, examples])

    def train_step(batch: tuple[tf.Tensor, ...]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses, row = forward(batch, training=True)
            # The gradients of all replicas are summed. So each replica divides the sum of its
            # losses by the size of the global batch.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return row

    return train_step, lambda batch: forward(batch, training=False)[1]


def make_loops(strategy: tf.distribute.Strategy, *steps: Callable) -> list[Callable]:
    """Return, for each kind of step, a graph function that runs many such steps in one call.

    It returns an array [step, replica, 3] of the results of all replicas.
    """

    def in_graph(step: Callable) -> Callable:
        @tf.function
        def run(iterator: tf.distribute.DistributedIterator, count: tf.Tensor) -> tf.Tensor:
            rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
            for number in tf.range(count):
                values = strategy.run(step, args=(next(iterator),))
                rows = rows.write(number, tf.stack(strategy.experimental_local_results(values)))
            return rows.stack()

        return run

    return [in_graph(step) for step in steps]


def main() -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    recorder = Recorder()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
    recorder.restore(strategy, model)
    train_data, test_data = map(iter, make_batches(strategy, recorder.step))
    train_steps, test_steps = make_loops(strategy, *make_steps(model))
    for epoch in range(recorder.epoch, EPOCHS):
        recorder.train(train_steps, train_data, (epoch + 1) * STEPS_PER_EPOCH - recorder.step)
        recorder.test(test_steps, test_data, TEST_STEPS)
    recorder.finish()


# The recorder of all scripts stands here.


# ---- Helpers of the functions at the top. ----
import ctypes
import os

import tensorflow as tf


def split_cpu(replicas: int) -> list[str]:
    """Split the CPU into a virtual device for each replica, with its part of the cores.

    A strategy of one replica leaves the CPU whole. Returns the names of the devices.
    """
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * replicas
    tf.config.set_logical_device_configuration(cpu, parts)
    cores_per_replica = max(1, (os.cpu_count() or 1) // replicas)
    tf.config.threading.set_intra_op_parallelism_threads(cores_per_replica)
    keep_freed_memory()
    return [f"CPU:{number}" for number in range(replicas)]


def keep_freed_memory() -> None:
    """Let glibc keep freed memory.

    With input for several devices, TensorFlow makes glibc return it at once
    (generator_dataset_op.cc), which can double the time of a step.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(-3, 2**25)  # M_MMAP_THRESHOLD, in bytes
        libc.mallopt(-2, 2**28)  # M_TOP_PAD, in bytes


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the examples at `count` positions of an epoch. Only seed and epoch decide them."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def shuffled_batches(examples: tuple[tf.Tensor, ...], start_step: int) -> tf.data.Dataset:
    """Return the global batches from a step on, in the order of `shuffled_rows`, without end."""
    examples = tf.nest.map_structure(tf.constant, examples)

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    return tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)


if __name__ == "__main__":
    os.environ.pop("TF_CONFIG", None)  # it names other tasks; this is one task
    run_and_leave(main)

# config: {"sha256": "535fe1797ca58cf7", "config": {"strategy": "default", "devices": ["CPU:0"]}}
