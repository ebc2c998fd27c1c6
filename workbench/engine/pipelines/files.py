import hashlib
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import (
        AUTO_SHARD,
        DATA_FILES,
        GLOBAL_BATCH_SIZE,
        NUM_TRAIN_EXAMPLES,
        READ_PER_STEP,
        SEED,
        STEPS_PER_EPOCH,
    )
    from ..data.synthetic import make_data
    from .tests import deal_tests


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
