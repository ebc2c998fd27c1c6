"""MLP 16-8-1 on Synthetic: Mirrored strategy, 2 virtual replicas, Custom loop."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

SEED = 42  # decides data, first weights and order of examples
REPLICAS = 2  # virtual devices that share a physical one
CROSS_DEVICE_OPS = tf.distribute.ReductionToOneDevice()  # how gradients are summed
AUTO_SHARD = tf.data.experimental.AutoShardPolicy.AUTO  # no effect in one process
DATA_FILES = 8  # files that the training data is written to
READ_PER_STEP = 64  # examples read for a step
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 32  # examples that each replica takes in a step
GLOBAL_BATCH_SIZE = 64  # 32 x 2 replicas
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = 156  # 10,000 examples, 156 steps an epoch; 16 examples left out
TEST_BATCH_SIZE = 64  # examples of all replicas in a test step
TEST_STEPS = 32  # every test example once
LEARNING_RATE = 0.001  # independent of the number of replicas
ACCURACY = tf.keras.metrics.binary_accuracy  # 1 or 0 for each example
STEPS_PER_STACK = 1  # batches in one element of the pipeline
STEPS_PER_CALL = None  # in a graph call; None: enough for 0.2 s
RUN_EAGERLY = False  # True: no graphs, for debugging


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each part of the CPU; every step sums the gradients of all."""
    tf.config.set_visible_devices([], "GPU")
    devices = split_cpu(REPLICAS)
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)


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

    The strategy gives each worker its share of the files by the rule AUTO_SHARD. Seed and epoch
    decide the order, in a buffer that holds all examples of the share. To start at a step, all
    steps before it are read again and skipped, which takes the time of reading.
    """
    (features, labels), tests = make_data()
    features, labels = np.asarray(features), np.asarray(labels)

    def parse(records: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        texts = tf.io.FixedLenFeature([], tf.string)
        found = tf.io.parse_example(records, {"features": texts, "label": texts})
        batch = tf.io.decode_raw(found["features"], features.dtype)
        answers = tf.io.decode_raw(found["label"], labels.dtype)
        return (
            tf.reshape(batch, [GLOBAL_BATCH_SIZE, *features.shape[1:]]),
            tf.reshape(answers, [GLOBAL_BATCH_SIZE, *labels.shape[1:]]),
        )

    files = write_files(features, labels) / "*.tfrecord"
    train = tf.data.Dataset.list_files(str(files), shuffle=False)
    train = train.interleave(
        tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE
    )
    # The inner repeat fills an epoch longer than the share; take ends a shorter epoch.
    train = train.shuffle(NUM_TRAIN_EXAMPLES, SEED).repeat()
    train = train.take(STEPS_PER_EPOCH * READ_PER_STEP).repeat()
    train = train.skip(start_step * READ_PER_STEP).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.map(parse, tf.data.AUTOTUNE).with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
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
import hashlib
import os
import pathlib
import tempfile
from collections.abc import Callable

import numpy as np
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


def deal_tests(examples: tuple[tf.Tensor, ...]) -> Callable:
    """Return a function that makes a pipeline's endless test batches: each example once a pass.

    The replicas of all pipelines take a step's examples in turn, like dealt cards.
    """
    examples = tf.nest.map_structure(tf.constant, examples)

    def deal(context: tf.distribute.InputContext) -> tf.data.Dataset:
        replicas = context.num_replicas_in_sync
        local = replicas // context.num_input_pipelines

        def batch_at(number: tf.Tensor) -> tuple[tf.Tensor, ...]:
            first = number // local * TEST_BATCH_SIZE
            own = first + local * context.input_pipeline_id + number % local
            rows = tf.range(own, tf.minimum(first + TEST_BATCH_SIZE, NUM_TEST_EXAMPLES), replicas)
            if NUM_TEST_EXAMPLES % TEST_BATCH_SIZE == 0:
                rows = tf.ensure_shape(rows, [TEST_BATCH_SIZE // replicas])  # a TPU must know it
            return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

        batches = tf.data.Dataset.range(TEST_STEPS * local).repeat()
        return batches.map(batch_at, tf.data.AUTOTUNE).prefetch(2 * local)

    return deal


def as_record(*parts: np.ndarray) -> bytes:
    """Return an example's features and label as the bytes of a TFRecord."""
    values = [tf.train.BytesList(value=[part.tobytes()]) for part in parts]
    named = zip(("features", "label"), (tf.train.Feature(bytes_list=value) for value in values))
    return tf.train.Example(features=tf.train.Features(feature=dict(named))).SerializeToString()


def write_files(features: np.ndarray, labels: np.ndarray) -> pathlib.Path:
    """Write the examples to DATA_FILES files in turn, if they are missing; return their folder.

    Its name is a hash of its content. It appears complete: no worker ever sees a part of it.
    """
    content = hashlib.sha256(b"records of version 1")
    for array in features, labels:
        content.update(f"{array.dtype.str} {array.shape}".encode())
        content.update(np.ascontiguousarray(array).data)
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = home / "tf-distribute-workbench" / f"{content.hexdigest()[:16]}-{DATA_FILES}"
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            new = pathlib.Path(temporary, "new")
            new.mkdir()
            for number in range(DATA_FILES):
                with tf.io.TFRecordWriter(str(new / f"{number:05d}.tfrecord")) as file:
                    for example in zip(features[number::DATA_FILES], labels[number::DATA_FILES]):
                        file.write(as_record(*example))
            new.rename(folder)
    except (OSError, tf.errors.OpError) as error:
        if not folder.is_dir():  # else another worker was faster
            fix = "Make room there, or set XDG_CACHE_HOME to another folder."
            raise SystemExit(f"Needs to write {folder}: {error}. {fix}") from error
    return folder


if __name__ == "__main__":
    os.environ.pop("TF_CONFIG", None)  # it names other tasks; this is one task
    run_and_leave(main)

# config: {"sha256": "8b087a14638497d3", "config": {"devices": ["CPU:0"], "replicas": 2,
#     "global_batch_size": 64, "pipeline": "files"}}
