"""MLP 16-8-1 on Synthetic: MultiWorkerMirrored strategy, 2 workers x 1 replica, Keras fit."""

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

SEED = 42  # decides data, first weights and order of examples
WORKERS = 2  # processes that train
TASKS = {"worker": WORKERS}  # processes of each kind; the first kind leads
# how gradients are summed
COMMUNICATION = tf.distribute.experimental.CommunicationOptions(
    implementation=tf.distribute.experimental.CommunicationImplementation.AUTO,
)
AUTO_SHARD = tf.data.experimental.AutoShardPolicy.AUTO  # how training data is split among workers
READ_PER_STEP = 128  # examples that each worker reads for a step, of which it keeps its part
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 64  # examples that each replica takes in a step
GLOBAL_BATCH_SIZE = 128  # 64 x 2 replicas
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = 78  # 10,000 examples, 78 steps an epoch; 16 examples left out
TEST_BATCH_SIZE = 128  # examples of all replicas in a test step
TEST_STEPS = 16  # every test example once
LEARNING_RATE = 0.001  # independent of the number of replicas
ACCURACY = tf.keras.metrics.binary_accuracy  # 1 or 0 for each example
STEPS_PER_STACK = 1  # batches in one element of the pipeline
STEPS_PER_EXECUTION = 50  # steps between two callbacks
STEPS_PER_CALL = None  # in a graph call; None: enough for 0.2 s
RUN_EAGERLY = False  # True: no graphs, for debugging


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each worker, on its CPU; every step sums the gradients of all."""
    tf.config.set_visible_devices([], "GPU")
    cores_per_worker = max(1, (os.cpu_count() or 1) // WORKERS)
    tf.config.threading.set_intra_op_parallelism_threads(cores_per_worker)
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)


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
    """Return the training batches from a step on, and the test batches.

    The strategy gives each worker its share of the training batches by the rule AUTO_SHARD. By
    the rule OFF the share is all batches, and a worker uses a batch for several steps.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)
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


def make_steps(model: tf.keras.Model) -> list[Callable]:
    """Wrap the model's own train_step and test_step so that they return what is recorded.

    Both return the replica's sum of losses, its correct answers and its examples.
    """
    compute_loss, seen = model.compute_loss, threading.local()  # each replica has its thread

    def watched_loss(
        x: Any = None, y: Any = None, y_pred: Any = None, *rest: Any, **named: Any
    ) -> tf.Tensor:
        loss = compute_loss(x, y, y_pred, *rest, **named)
        # Keras divides a replica's mean by the replicas, because their gradients are summed.
        mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
        examples = tf.cast(tf.shape(y)[0], loss.dtype)
        correct = tf.reduce_sum(tf.cast(ACCURACY(y, y_pred), loss.dtype))
        # A short last batch may leave a replica without examples: then the mean is NaN.
        seen.row = tf.stack([tf.math.multiply_no_nan(mean, examples), correct, examples])
        return loss

    def recorded(step: Callable) -> Callable:
        def run(batch: tuple[tf.Tensor, ...]) -> tf.Tensor:
            seen.row = None
            step(batch)
            if seen.row is None:
                raise SystemExit(
                    f"Losses are recorded in self.compute_loss; {step.__name__} of {model.name} "
                    "does not call it. Take the loss from there, or choose the custom loop."
                )
            return seen.row

        return run

    model.compute_loss = watched_loss
    return [recorded(model.train_step), recorded(model.test_step)]


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
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    recorder = Recorder()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
        model.steps_per_execution = STEPS_PER_EXECUTION
    recorder.restore(strategy, model)
    train_data, test_data = make_batches(strategy, recorder.step)
    train_steps, test_steps = make_loops(strategy, *make_steps(model))

    def train_function(iterator: tf.distribute.DistributedIterator) -> dict[str, float]:
        left = (recorder.epoch + 1) * STEPS_PER_EPOCH - recorder.step
        return recorder.train(train_steps, iterator, min(STEPS_PER_EXECUTION, left))

    def test_function(iterator: tf.distribute.DistributedIterator) -> dict[str, float]:
        return recorder.test(test_steps, iterator, TEST_STEPS)

    # Keras calls these for every execution; they run Keras' steps and record each.
    model.train_function, model.test_function = train_function, test_function
    model._maybe_symbolic_build = lambda **_: None  # built above; else Keras takes a batch
    model.fit(
        train_data,
        initial_epoch=recorder.epoch,
        epochs=EPOCHS,
        steps_per_epoch=STEPS_PER_EPOCH,
        validation_data=test_data,
        validation_steps=1,
        shuffle=False,
        verbose=0,
    )
    recorder.finish()


# The recorder of all scripts stands here.


# ---- Helpers of the functions at the top. ----
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import tensorflow as tf


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the examples at `count` positions of an epoch. Only seed and epoch decide them."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def deal_tests(examples: tuple[tf.Tensor, ...]) -> Callable:
    """Return a function that makes a pipeline's test batches, with each example once.

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

        batches = tf.data.Dataset.range(TEST_STEPS * local)
        return batches.map(batch_at, tf.data.AUTOTUNE).prefetch(2 * local)

    return deal


def run_task(**roles: Callable) -> None:
    """Run the task that TF_CONFIG names; without TF_CONFIG, start all tasks here."""
    text = os.environ.get("TF_CONFIG")
    if text is None:
        sys.exit(start_tasks())
    try:
        config = json.loads(text)
        cluster, kind, index = config["cluster"], config["task"]["type"], config["task"]["index"]
        port = int(cluster[kind][index].rpartition(":")[2]) if kind in TASKS else 0
        if kind not in roles or {name: len(cluster[name]) for name in cluster} != TASKS:
            raise LookupError(kind)
        addresses = [address for name in cluster for address in cluster[name]]
        if index < 0 or len(set(addresses)) < len(addresses):
            raise ValueError(index)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        needed = ", ".join(f"{size} {name}" for name, size in TASKS.items())
        raise SystemExit(
            f"TF_CONFIG must name {needed} tasks, each by its own host:port, and the one to run "
            f"here; received {text}. Fix it, or unset it to start all tasks on this machine."
        ) from error
    held = os.environ.get("TF_GRPC_REUSE_PORT") == "1"  # set by the starter of this task
    with socket.socket() as probe:
        shared = socket.SO_REUSEPORT if held else socket.SO_REUSEADDR
        probe.setsockopt(socket.SOL_SOCKET, shared, 1)  # so a restarted task can bind again
        try:
            probe.bind(("", port))
        except (OSError, OverflowError) as error:
            fix = "Name a free port in the TF_CONFIG of every task."
            raise SystemExit(f"Needs port {port} for itself; {error}. {fix}") from error
    roles[kind]()


def start_tasks() -> int:
    """Run each task in a process of this script until the first kind of task ends or fails."""
    names = [(kind, index) for kind, size in TASKS.items() for index in range(size)]
    ports = [socket.socket() for _ in names]  # bound until the end, so no port is lost
    cluster: dict[str, list[str]] = {kind: [] for kind in TASKS}
    for (kind, _), port in zip(names, ports):
        port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        port.bind(("", 0))
        cluster[kind].append(f"localhost:{port.getsockname()[1]}")
    tasks: list[subprocess.Popen] = []
    for kind, index in names:
        config = {"cluster": cluster, "task": {"type": kind, "index": index}}
        settings = {"TF_CONFIG": json.dumps(config), "WORKBENCH_NO_EVALUATOR": "1"}
        environment = {**os.environ, **settings, "TF_GRPC_REUSE_PORT": "1"}
        output = subprocess.DEVNULL if tasks else None  # the first prints what all have in common
        tasks.append(subprocess.Popen([sys.executable, *sys.argv], env=environment, stdout=output))
    leading = tasks[: next(iter(TASKS.values()))]
    try:
        while None in (ends := [task.poll() for task in leading]):
            if any(ends):
                time.sleep(1)  # until the others have also failed and reported it
                break
            time.sleep(0.1)
    finally:
        for task in tasks:
            task.kill()
    return max(abs(task.wait()) for task in leading)


if __name__ == "__main__":
    run_and_leave(run_task, worker=main)

# config: {"sha256": "41a40b0afcd6cef7", "config": {"strategy": "multi_worker_mirrored", "loop":
#     "fit", "devices": ["CPU:0"], "workers": 2}}
