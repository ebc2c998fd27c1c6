"""The input pipelines: from examples to the batches of replicas."""

import hashlib
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from .constants import (
        AUTO_SHARD,
        DATA_FILES,
        GLOBAL_BATCH_SIZE,
        NUM_TRAIN_EXAMPLES,
        PER_REPLICA_BATCH_SIZE,
        READ_PER_STEP,
        SEED,
        STEPS_PER_EPOCH,
        STEPS_PER_STACK,
        WORKERS,
    )
    from .slots import deal_tests, make_data, shuffled_rows


def make_batches__usual(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return endless training batches from a step on, and the test batches."""
    with tf.device("CPU"):  # where input pipelines run
        examples, tests = tf.nest.map_structure(tf.constant, make_data())

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices(tests).batch(GLOBAL_BATCH_SIZE)
    buffers = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    return tuple(  # the strategy splits each global batch among its replicas
        strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE), buffers)
        for batches in (train, test)
    )


def make_batches__usual_workers(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return endless training batches from a step on, and the test batches.

    The strategy gives each worker its share of the training batches by the rule AUTO_SHARD. By
    the rule OFF the share is all batches, and a worker uses a batch for several steps.
    """
    with tf.device("CPU"):  # where input pipelines run
        examples, tests = tf.nest.map_structure(tf.constant, make_data())
    steps = GLOBAL_BATCH_SIZE // READ_PER_STEP

    def rows_of(step: tf.Tensor) -> tf.Tensor:
        first = step % STEPS_PER_EPOCH * READ_PER_STEP
        return shuffled_rows(step // STEPS_PER_EPOCH, first, READ_PER_STEP)

    def batch_from(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        rows = tf.concat([rows_of(step + ahead) for ahead in range(steps)], axis=0)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step, steps).map(batch_from, tf.data.AUTOTUNE)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
    )


def make_batches__sharded(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return endless training batches from a step on, and the test batches."""
    with tf.device("CPU"):  # where input pipelines run
        examples, tests = tf.nest.map_structure(tf.constant, make_data())

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices(tests).batch(GLOBAL_BATCH_SIZE)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    return tuple(  # every process makes whole batches; the strategy takes the process's share
        strategy.experimental_distribute_dataset(batches.with_options(options).prefetch(2))
        for batches in (train, test)
    )


def make_batches__indexed(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return endless training batches from a step on, and the test batches.

    Each element is a stack: one replica's batches of STEPS_PER_STACK steps. The last stack of an
    epoch may hold batches beyond the epoch's steps, which the loop skips.
    """
    with tf.device("CPU"):  # where input pipelines run
        examples, tests = tf.nest.map_structure(tf.constant, make_data())
    stacks_per_epoch = -(-STEPS_PER_EPOCH // STEPS_PER_STACK)

    def train(context: tf.distribute.InputContext) -> tf.data.Dataset:
        pipelines, own = context.num_input_pipelines, context.input_pipeline_id
        replicas = context.num_replicas_in_sync // pipelines

        def stack_at(number: tf.Tensor) -> tuple[tf.Tensor, ...]:
            first = number % stacks_per_epoch * STEPS_PER_STACK * GLOBAL_BATCH_SIZE
            count = STEPS_PER_STACK * GLOBAL_BATCH_SIZE
            rows = shuffled_rows(number // stacks_per_epoch, first, count)
            rows = tf.reshape(rows, [STEPS_PER_STACK, pipelines, replicas, PER_REPLICA_BATCH_SIZE])
            rows = tf.reshape(tf.transpose(rows[:, own], [1, 0, 2]), [-1])
            shape = [replicas, STEPS_PER_STACK, PER_REPLICA_BATCH_SIZE]
            return tf.nest.map_structure(
                lambda part: tf.reshape(tf.gather(part, rows), shape + part.shape[1:]), examples
            )

        epoch, step = divmod(start_step, STEPS_PER_EPOCH)
        stacks = tf.data.Dataset.counter(epoch * stacks_per_epoch + step // STEPS_PER_STACK)
        return stacks.map(stack_at, tf.data.AUTOTUNE).unbatch().prefetch(2 * replicas)

    return (
        strategy.distribute_datasets_from_function(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
    )


def make_batches__numpy(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return endless training batches from a step on, and the test batches.

    The examples of NumPy arrays are shuffled in a buffer that holds them all; seed and epoch decide
    the order. To start at a step, all steps before it are read again and skipped.
    """
    examples, tests = make_data()
    train = tf.data.Dataset.from_tensor_slices(tf.nest.map_structure(np.asarray, examples))
    # The inner repeat fills an epoch longer than the data; take ends a shorter epoch.
    train = train.shuffle(NUM_TRAIN_EXAMPLES, SEED).repeat()
    train = train.take(STEPS_PER_EPOCH * READ_PER_STEP).repeat()
    train = train.skip(start_step * READ_PER_STEP).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
    )


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


def make_batches__files(
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


def make_batches__per_worker() -> tuple[Callable, tf.data.Dataset]:
    """Return a function that makes a worker's batches from a step on, and the test batches.

    Worker w of W takes the batches w, w + W, w + 2W, ... of all epochs. Workers do not wait for
    each other, so an epoch is a number of steps rather than one pass through the data, and runs
    differ. A start at a step assumes that all workers did equal shares of the steps before it.
    """
    with tf.device("CPU"):  # where input pipelines run
        examples, tests = tf.nest.map_structure(tf.constant, make_data())

    def train(start_step: int, _: tf.distribute.InputContext | None = None) -> tf.data.Dataset:
        # Not InputContext.input_pipeline_id, which is 0 in every worker here.
        worker = tf.distribute.coordinator.experimental_get_current_worker_index()

        def batch_at(own: tf.Tensor) -> tuple[tf.Tensor, ...]:
            step = own * WORKERS + tf.cast(worker, tf.int64)
            position = step % STEPS_PER_EPOCH * PER_REPLICA_BATCH_SIZE
            rows = shuffled_rows(step // STEPS_PER_EPOCH, position, PER_REPLICA_BATCH_SIZE)
            return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

        steps = tf.data.Dataset.counter(start_step // WORKERS)
        return steps.map(batch_at, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    return train, tf.data.Dataset.from_tensor_slices(tests).batch(PER_REPLICA_BATCH_SIZE)


def make_batches__dataset(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return endless training batches from a step on, and the test batches.

    The strategy gives each worker its share of the examples by the rule AUTO_SHARD. To start at a
    step, all steps before it are read again and skipped, which takes the time of reading.
    """
    train, test = make_data()
    # The inner repeat fills an epoch longer than the data; take ends a shorter epoch.
    train = train.repeat().take(STEPS_PER_EPOCH * READ_PER_STEP).repeat()
    train = train.skip(start_step * READ_PER_STEP).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(test)),
    )


def make_batches__cached(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return endless training batches from a step on, and the test batches.

    Memory keeps the examples of the first epoch and their order. The strategy gives each worker
    its share of the examples by the rule AUTO_SHARD.
    """
    train, test = make_data()
    # The inner repeat fills an epoch longer than the data; take ends a shorter epoch.
    # cache comes after take, because a cache that is not read to its end is dropped.
    train = train.repeat().take(STEPS_PER_EPOCH * READ_PER_STEP).cache().repeat()
    train = train.skip(start_step * READ_PER_STEP).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(test)),
    )


def make_batches__dataset_per_worker() -> tuple[Callable, tf.data.Dataset]:
    """Return a function that makes a worker's batches from a step on, and the test batches.

    Worker w of W takes the batches w, w + W, w + 2W, ... of all epochs. Its share of the steps that
    are done is read again and skipped.
    """

    def train(start_step: int, _: tf.distribute.InputContext | None = None) -> tf.data.Dataset:
        # Not InputContext.input_pipeline_id, which is 0 in every worker here.
        worker = tf.distribute.coordinator.experimental_get_current_worker_index()
        examples, _test = make_data()
        # The inner repeat fills an epoch longer than the data; take ends a shorter epoch.
        examples = examples.repeat().take(STEPS_PER_EPOCH * PER_REPLICA_BATCH_SIZE).repeat()
        batches = examples.batch(PER_REPLICA_BATCH_SIZE, drop_remainder=True)
        own = batches.shard(WORKERS, tf.cast(worker, tf.int64))
        return own.skip(start_step // WORKERS).prefetch(tf.data.AUTOTUNE)

    _, tests = make_data()
    return train, tests.batch(PER_REPLICA_BATCH_SIZE)
