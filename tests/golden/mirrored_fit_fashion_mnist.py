"""CNN 32-64 on Fashion-MNIST: Mirrored strategy, 2 virtual replicas, Keras fit."""

import argparse
import contextlib
import gzip
import hashlib
import os
import pathlib

import numpy as np
import tensorflow as tf

SEED = 42  # decides data, first weights and order of examples
REPLICAS = 2  # virtual devices that share a physical one
CROSS_DEVICE_OPS = tf.distribute.ReductionToOneDevice()  # how gradients are summed
NUM_TRAIN_EXAMPLES = 60_000  # examples to train on
DATA_DIR = None  # None: the usual folders, else a download
PER_REPLICA_BATCH_SIZE = 64  # examples that each replica takes in a step
GLOBAL_BATCH_SIZE = 128  # 64 x 2 replicas
EPOCHS = 2  # each followed by a test pass
STEPS_PER_EPOCH = 468  # 60,000 examples, 468 steps an epoch; 96 examples left out
LEARNING_RATE = 0.001  # independent of the number of replicas
ACCURACY = tf.keras.metrics.SparseCategoricalAccuracy  # 1 or 0 for each example
STEPS_PER_EXECUTION = 4  # divides the steps of an epoch, else Keras 3 trains too many


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each part of the CPU; every step sums the gradients of all."""
    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    tf.config.set_logical_device_configuration(cpu, parts)
    devices = [f"CPU:{number}" for number in range(REPLICAS)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)


PUBLISHED_DIR = os.environ.get("WORKBENCH_UNPACKED")  # a folder for unpacked files, if set
CHECKSUMS = {  # sha256 of each unpacked file
    "train-images-idx3": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}


def read_file(name: str) -> np.ndarray:
    """Return a published file's bytes [size], from PUBLISHED_DIR if possible, else unpacked."""
    if not PUBLISHED_DIR or DATA_DIR is not None:
        return unpack_published(name)
    kept = pathlib.Path(PUBLISHED_DIR, name)
    with contextlib.suppress(OSError):  # it is missing or unreadable
        content = np.fromfile(kept, np.uint8)
        if hashlib.sha256(content.data).hexdigest() == CHECKSUMS[name]:
            return content
    content = unpack_published(name)
    keep_published(content, kept)
    return content


def unpack_published(name: str) -> np.ndarray:
    """Return a file's bytes [size] from DATA_DIR, if set, else the usual folders or a download."""
    usual = "~/.keras/datasets/fashion-mnist", "/usr/share/datasets/fashion-mnist"
    folders = usual if DATA_DIR is None else [DATA_DIR]
    paths = [pathlib.Path(folder).expanduser() / f"{name}-ubyte.gz" for folder in folders]
    path = next((path for path in paths if path.exists()), paths[0])
    if DATA_DIR is None and not path.exists():
        path = download_published(path.name)
    try:
        content = gzip.decompress(path.read_bytes())
    except Exception as error:
        raise SystemExit(f"Needs {path}; {error}. Replace it.") from error
    if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
        raise SystemExit(f"Needs the published {path}; this one differs. Replace it.")
    return np.frombuffer(content, np.uint8)


def download_published(name: str) -> pathlib.Path:
    """Return the path of a packed file in Keras' cache, downloaded if it is not there."""
    url = f"https://storage.googleapis.com/tensorflow/tf-keras-datasets/{name}"
    try:
        cached = tf.keras.utils.get_file(name, url, cache_subdir="datasets/fashion-mnist")
    except Exception as error:
        raise SystemExit(
            f"Needs {name}; the download fails: {error}. Connect this machine to the internet "
            "(Kaggle has a switch for it in its settings), or copy the four files from another "
            "machine to ~/.keras/datasets/fashion-mnist."
        ) from error
    return pathlib.Path(cached)


def keep_published(content: np.ndarray, path: pathlib.Path) -> None:
    """Write a whole file or none; without the file the next run unpacks again."""
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content.data)
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()


def make_data() -> tuple[tuple[tf.Tensor, np.ndarray], ...]:
    """Return (images, labels), 60,000 to train on and 10,000 to test on, scaled to [0, 1]."""
    parts = []
    for part in ("train", "t10k"):
        images, labels = read_file(f"{part}-images-idx3")[16:], read_file(f"{part}-labels-idx1")[8:]
        with tf.device("CPU"):  # not in a GPU's memory
            parts.append((tf.reshape(images, [-1, 28, 28, 1]) / 255, labels))
    return tuple(parts)


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the examples at `count` positions of an epoch. Only seed and epoch decide them."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, without end, and the test batches.

    The strategy splits each global batch among its replicas.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices(tests).batch(GLOBAL_BATCH_SIZE)
    options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    return tuple(
        strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE), options)
        for batches in (train, test)
    )


def make_optimizer() -> tf.keras.optimizers.Optimizer:
    """Return Adam with its other settings as published."""
    return tf.keras.optimizers.Adam(LEARNING_RATE)


def make_model() -> tf.keras.Model:
    """Return a model of 2 convolutions and 2 dense layers, with L2 on each kernel and logits."""
    options = {"kernel_regularizer": tf.keras.regularizers.L2(1e-5)}
    model = tf.keras.Sequential(
        [
            tf.keras.Input([28, 28, 1]),
            tf.keras.layers.Conv2D(32, 3, activation="relu", **options),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(64, 3, activation="relu", **options),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu", **options),
            tf.keras.layers.Dense(10, **options),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(make_optimizer(), loss=loss)
    return model


def make_metrics() -> tuple[tf.keras.metrics.Metric, ...]:
    """Return what is measured of training or of a test: the mean loss and the accuracy."""
    return tf.keras.metrics.Mean("loss"), ACCURACY("accuracy")


def main(run_dir: str) -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
    model.compile(
        model.optimizer,
        loss=model.loss,
        metrics=list(make_metrics()[1:]),
        steps_per_execution=STEPS_PER_EXECUTION,
        jit_compile=False,
    )
    epoch = tf.Variable(0)
    state = {"model": model, "optimizer": model.optimizer, "epoch": epoch}
    checkpoint = tf.train.Checkpoint(**state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)

    def end_epoch(*_: object) -> None:
        epoch.assign_add(1)
        manager.save()

    while (first := int(epoch.numpy())) < EPOCHS:
        step = int(model.optimizer.iterations.numpy())
        steps = (first + 1) * STEPS_PER_EPOCH - step  # that are left of this epoch
        batches, tests = make_batches(strategy, step)
        if steps == 0:
            model.evaluate(tests, verbose=2)
            end_epoch()
            continue
        model.fit(
            batches,
            initial_epoch=first,
            epochs=EPOCHS if steps == STEPS_PER_EPOCH else first + 1,
            steps_per_epoch=steps,
            validation_data=tests,
            callbacks=[tf.keras.callbacks.LambdaCallback(on_epoch_end=end_epoch)],
            shuffle=False,
            verbose=2,
        )
    model.save(f"{run_dir}/model.keras")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--run-dir", default="run", help="keeps checkpoints and the model")
    main(options.parse_args().run_dir)

# config: {"sha256": "c143b05de898b8b6", "config": {"loop": "fit", "data": "fashion_mnist",
#     "devices": ["CPU:0"], "replicas": 2, "epochs": 2}}
