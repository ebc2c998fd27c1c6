"""MLP 16-8-1 on synthetic data: Mirrored strategy, 2 virtual replicas, custom loop."""

import argparse
import hashlib
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable

import numpy as np
import tensorflow as tf

SEED = 42  # seeds the random numbers of this script
REPLICAS = 2  # virtual devices that share a physical one
CROSS_DEVICE_OPS = tf.distribute.ReductionToOneDevice()  # how gradients are summed
AUTO_SHARD = tf.data.experimental.AutoShardPolicy.AUTO  # no effect in one process
DATA_FILES = 8  # files that the training data is written to
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
GLOBAL_BATCH_SIZE = 64  # examples in a step, of all replicas
READ_PER_STEP = GLOBAL_BATCH_SIZE  # examples read for a step
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = NUM_TRAIN_EXAMPLES // GLOBAL_BATCH_SIZE  # an incomplete batch is dropped
TEST_BATCH_SIZE = GLOBAL_BATCH_SIZE  # examples of all replicas in a test step
TEST_STEPS = -(-NUM_TEST_EXAMPLES // TEST_BATCH_SIZE)  # every test example once
OPTIMIZER = tf.keras.optimizers.Adam  # called with LEARNING_RATE
LEARNING_RATE = 0.001  # not scaled by the number of replicas
ACCURACY = tf.keras.metrics.BinaryAccuracy  # the share of right answers
STEPS_PER_EXECUTION = 200  # steps in one call of a graph function, at most


def make_strategy() -> tf.distribute.Strategy:
    """Return a strategy with a copy of the model on each virtual CPU; steps sum their gradients."""
    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    tf.config.set_logical_device_configuration(cpu, parts)
    devices = [f"CPU:{number}" for number in range(REPLICAS)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)


def make_data() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (features, labels) to train on and to test on; labels follow a noisy linear rule."""
    rng = np.random.default_rng(SEED)
    size = NUM_TRAIN_EXAMPLES + NUM_TEST_EXAMPLES
    features = rng.standard_normal((size, NUM_FEATURES), np.float32)
    score = features @ rng.standard_normal(NUM_FEATURES, np.float32)
    labels = (score + NOISE * rng.standard_normal(size) > 0).astype(np.float32)[:, None]
    train, test = slice(NUM_TRAIN_EXAMPLES), slice(NUM_TRAIN_EXAMPLES, None)
    return (features[train], labels[train]), (features[test], labels[test])


def deal_tests(examples: tuple[tf.Tensor, ...]) -> Callable:
    """Return a function that makes a pipeline's test batches, with each example once.

    The replicas of all pipelines take a step's examples in turn, like dealt cards.
    """
    with tf.device("CPU"):  # where input pipelines run
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

        batches = tf.data.Dataset.range(TEST_STEPS * local)
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


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return endless training batches from a step on, and the test batches.

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


def make_model() -> tf.keras.Model:
    """Return a multilayer perceptron 16-8-1 whose output is a probability."""
    layers = [
        tf.keras.Input([NUM_FEATURES]),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
    model = tf.keras.Sequential(layers)
    model.compile(OPTIMIZER(LEARNING_RATE), loss=tf.keras.losses.BinaryCrossentropy())
    return model


def make_steps(model: tf.keras.Model) -> tuple:
    """Return a replica's step to train, its step to test, and the metrics of each."""
    train_metrics = tf.keras.metrics.Mean("loss"), ACCURACY("accuracy")
    test_metrics = tf.keras.metrics.Mean("test_loss"), ACCURACY("test_accuracy")

    def measured_losses(batch: tuple[tf.Tensor, ...], metrics: tuple, training: bool) -> tf.Tensor:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        losses = model.loss.call(labels, outputs) + sum(model.losses)  # of each example
        mean_loss, accuracy = metrics
        mean_loss.update_state(losses)
        accuracy.update_state(labels, outputs)
        return losses

    def train_step(batch: tuple[tf.Tensor, ...]) -> None:
        with tf.GradientTape() as tape:
            losses = measured_losses(batch, train_metrics, training=True)
            # The gradients of all replicas are summed. So each replica divides the sum of its
            # losses by the size of the global batch.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    def test_step(batch: tuple[tf.Tensor, ...]) -> None:
        measured_losses(batch, test_metrics, training=False)

    return train_step, test_step, train_metrics, test_metrics


def make_loops(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> tuple[Callable, Callable]:
    """Return two graph functions: one trains on some batches, one tests on all batches."""

    @tf.function
    def train(batches: tf.distribute.DistributedIterator, steps: tf.Tensor) -> None:
        for _ in tf.range(steps):
            strategy.run(train_step, args=(next(batches),))

    @tf.function
    def test(batches: Iterable) -> None:
        for batch in batches:
            strategy.run(test_step, args=(batch,))

    return train, test


def main(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
        train_step, test_step, train_metrics, test_metrics = make_steps(model)
    metrics = [*train_metrics, *test_metrics]
    epochs_done, steps_done = tf.Variable(0), tf.Variable(0)
    # Added because tf.train.Checkpoint misses states of random layers, and metrics of Keras.
    others = [each.value for part in (model, *train_metrics) for each in part.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epochs_done, step=steps_done, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    print(f"start at step {steps_done.numpy()} of {EPOCHS * STEPS_PER_EPOCH}")
    train_batches, test_batches = make_batches(strategy, int(steps_done.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, train_step, test_step)
    for epoch in range(int(epochs_done.numpy()), EPOCHS):
        while (left := (epoch + 1) * STEPS_PER_EPOCH - int(steps_done.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            steps_done.assign_add(steps)  # counted first: the workbench may save when train returns
            train(train_batches, tf.constant(steps))
        test(test_batches)
        results = ", ".join(f"{metric.name} {metric.result():.4f}" for metric in metrics)
        print(f"epoch {epoch + 1}: {results}")
        for metric in metrics:
            metric.reset_state()
        epochs_done.assign(epoch + 1)
        manager.save()
    model.save(f"{run_dir}/model.keras")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--run-dir", default="run", help="folder to continue from and to save in")
    main(parser.parse_args().run_dir)

# For the workbench that exported this script, to open it again; Python ignores it.
# config: {"sha256": "2a336dd3602c83b6", "config": {"devices": ["CPU:0"], "replicas": 2,
#     "global_batch_size": 64, "pipeline": "files"}}
