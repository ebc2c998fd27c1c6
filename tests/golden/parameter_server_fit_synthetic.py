"""MLP 16-8-1 on synthetic data: ParameterServer strategy, 2 workers x 1 replica, Keras 2 fit.

Start a process for each task of the cluster, with its own TF_CONFIG. The first one is:
    TF_CONFIG='{"cluster": {"chief": ["localhost:2001"], "worker": ["localhost:2002",
        "localhost:2003"], "ps": ["localhost:2004"]},
        "task": {"type": "chief", "index": 0}}' python train.py
Workers and parameter servers run until you stop them.
"""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # needs tf_keras; Keras 3 has no such fit: keras#18624

import argparse
import functools
from collections.abc import Callable

import numpy as np
import tensorflow as tf

SEED = 42  # seeds the random numbers of this script
WORKERS = 2  # processes that train
TASKS = {"chief": 1, "worker": WORKERS, "ps": 1}  # processes of each kind
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 64  # examples in a step, of each replica
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = NUM_TRAIN_EXAMPLES // PER_REPLICA_BATCH_SIZE  # an incomplete batch is dropped
OPTIMIZER = tf.keras.optimizers.Adam  # called with LEARNING_RATE
LEARNING_RATE = 0.001  # not scaled by the number of replicas
STEPS_PER_EXECUTION = 20  # steps in one call of a graph function, at most


def this_task() -> tf.distribute.cluster_resolver.ClusterResolver:
    """Return the task that this process is, with the addresses of all; TF_CONFIG names them."""
    task = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    found = {kind: len(each) for kind, each in task.cluster_spec().as_dict().items()}
    if found != TASKS:
        raise SystemExit(
            f"Needs TF_CONFIG with the tasks {TASKS}, not {found}. Set it as at the top, or start "
            "all tasks: workbench run --script train.py"
        )
    return task


def serve(task: tf.distribute.cluster_resolver.ClusterResolver) -> None:
    """Serve the chief as a worker or a parameter server, until something ends this process."""
    cluster = task.cluster_spec()
    # With fewer threads, a call can wait for another one forever.
    threads = max(os.cpu_count() or 1, cluster.num_tasks("worker") + 1)
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=threads)
    tf.distribute.Server(
        cluster, task.task_type, task.task_id, protocol="grpc", config=config
    ).join()


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on its CPU, at its own pace."""
    task = this_task()
    tf.config.set_visible_devices([], "GPU")
    if task.task_type != "chief":
        serve(task)  # and never return
    return tf.distribute.ParameterServerStrategy(task)


def make_data() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (features, labels) to train on and to test on; labels follow a noisy linear rule."""
    rng = np.random.default_rng(SEED)
    size = NUM_TRAIN_EXAMPLES + NUM_TEST_EXAMPLES
    features = rng.standard_normal((size, NUM_FEATURES), np.float32)
    score = features @ rng.standard_normal(NUM_FEATURES, np.float32)
    labels = (score + NOISE * rng.standard_normal(size) > 0).astype(np.float32)[:, None]
    train, test = slice(NUM_TRAIN_EXAMPLES), slice(NUM_TRAIN_EXAMPLES, None)
    return (features[train], labels[train]), (features[test], labels[test])


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the numbers of `count` examples, from `first` on, in an epoch's shuffled order."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def make_batches() -> tuple[Callable, tf.data.Dataset]:
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


def make_tester() -> tf.keras.Model:
    """Return a model of this process, which gets the weights of the trained one."""
    tester = make_model()
    tester.compile(tester.optimizer, tester.loss, metrics=["accuracy"])
    return tester


def compile_model(model: tf.keras.Model) -> None:
    """Choose what `fit` measures, and how many steps a worker does in a call."""
    model.compile(
        model.optimizer,
        model.loss,
        metrics=["accuracy"],
        steps_per_execution=STEPS_PER_EXECUTION,
    )


def main(run_dir: str) -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
        compile_model(model)
    tester = make_tester()
    epochs_done, steps_done = tf.Variable(0), model.optimizer.iterations
    state = {"model": model, "optimizer": model.optimizer}
    checkpoint = tf.train.Checkpoint(epoch=epochs_done, step=steps_done, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    print(f"start at step {steps_done.numpy()} of {EPOCHS * STEPS_PER_EPOCH}")
    make_worker_batches, test_batches = make_batches()
    for epoch in range(int(epochs_done.numpy()), EPOCHS):
        start_step = int(steps_done.numpy())
        make_dataset = functools.partial(make_worker_batches, start_step)
        data = tf.keras.utils.experimental.DatasetCreator(make_dataset)
        left = (epoch + 1) * STEPS_PER_EPOCH - start_step
        if left > 0:
            model.fit(data, initial_epoch=epoch, epochs=epoch + 1, steps_per_epoch=left, verbose=2)
        tester.set_weights(model.get_weights())
        tester.evaluate(test_batches, verbose=2)
        epochs_done.assign(epoch + 1)
        manager.save()
    tester.set_weights(model.get_weights())  # even if no epoch was left to do
    tester.save(f"{run_dir}/model.keras")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--run-dir", default="run", help="folder to continue from and to save in")
    main(parser.parse_args().run_dir)

# For the workbench that exported this script, to open it again; Python ignores it.
# config: {"sha256": "a48728152a19efc4", "config": {"strategy": "parameter_server", "loop": "fit",
#     "devices": ["CPU:0"], "workers": 2, "parameter_servers": 1}}
