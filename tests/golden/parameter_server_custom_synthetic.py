"""MLP 16-8-1 on Synthetic: ParameterServer strategy, 2 workers x 1 replica, Custom loop."""

import os
from collections.abc import Callable

import numpy as np
import tensorflow as tf

SEED = 42  # decides data, first weights and order of examples
WORKERS = 2  # processes that train
TASKS = {"chief": 1, "worker": WORKERS, "ps": 1}  # processes of each kind; the first kind leads
EVALUATOR = False  # True: a separate process tests the checkpoints; False: the chief does
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 64  # examples that each replica takes in a step
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = 156  # 10,000 examples, 156 steps an epoch; 16 examples left out
TEST_STEPS = 32  # every test example once
LEARNING_RATE = 0.001  # independent of the number of replicas
ACCURACY = tf.keras.metrics.binary_accuracy  # 1 or 0 for each example
STEPS_PER_CALL = None  # in a graph call; None: enough for 0.2 s
RUN_EAGERLY = False  # True: no graphs, for debugging


def make_strategy() -> tf.distribute.Strategy:
    """Keep variables on the parameter servers; each worker computes on its CPU, at its own pace."""
    tf.config.set_visible_devices([], "GPU")
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return tf.distribute.ParameterServerStrategy(resolver)


def open_devices(worker: int) -> None:
    """Let a worker compute on its CPU."""
    tf.config.set_visible_devices([], "GPU")


def make_data() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (features, labels) to train on and to test on; labels follow a noisy linear rule."""
    random = np.random.default_rng(SEED)
    examples = NUM_TRAIN_EXAMPLES + NUM_TEST_EXAMPLES
    features = random.standard_normal((examples, NUM_FEATURES), np.float32)
    score = features @ random.standard_normal(NUM_FEATURES, np.float32)
    labels = (score + NOISE * random.standard_normal(examples) > 0).astype(np.float32)[:, None]
    parts = (np.split(array, [NUM_TRAIN_EXAMPLES]) for array in (features, labels))
    return tuple(zip(*parts))


def make_batches(done: np.ndarray) -> tuple[Callable, tf.data.Dataset]:
    """Return a function that makes a worker's training batches, and the repeated test batches.

    Worker w of W takes the batches w, w + W, w + 2W, ... of all epochs, without those that it has
    done: `done`, int64 [W].
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)
    first = tf.constant(done)

    def train(_: tf.distribute.InputContext | None = None) -> tf.data.Dataset:
        # Not input_pipeline_id, which is 0 in every worker here.
        worker = tf.distribute.coordinator.experimental_get_current_worker_index()

        def batch_at(own: tf.Tensor) -> tuple[tf.Tensor, ...]:
            step = own * WORKERS + tf.cast(worker, tf.int64)
            position = step % STEPS_PER_EPOCH * PER_REPLICA_BATCH_SIZE
            rows = shuffled_rows(step // STEPS_PER_EPOCH, position, PER_REPLICA_BATCH_SIZE)
            return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

        steps = tf.data.Dataset.counter(first[worker])
        return steps.map(batch_at, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    test = tf.data.Dataset.from_tensor_slices(tests).batch(PER_REPLICA_BATCH_SIZE)
    return train, test.repeat().prefetch(tf.data.AUTOTUNE)


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
    """Return two functions of a worker's own batch: one to train, one to test.

    Both return the sum of losses, the correct answers and the examples.
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
            # No worker waits for others: the mean is over its own batch.
            loss = tf.reduce_mean(losses)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return row

    return train_step, lambda batch: forward(batch, training=False)[1]


def make_loops(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> list[Callable]:
    """Return two graph functions of many steps: one to train on a worker, one to test here.

    Training returns the worker's number, the results of its steps [step, 1, 3], the times before
    each step read the weights and after it updated them [step, 2], and the times when the call
    began and ended. Times are float64 seconds since 1970 on the worker.
    """

    @tf.function  # separate: control dependencies do not reach into strategy.run
    def step(batch: tuple[tf.Tensor, ...]) -> tf.Tensor:
        return strategy.run(train_step, args=(batch,))

    @tf.function
    def train(iterator: tf.distribute.DistributedIterator, count: tf.Tensor) -> tuple:
        worker = tf.distribute.coordinator.experimental_get_current_worker_index()
        began = tf.timestamp()
        rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
        times = tf.TensorArray(tf.float64, size=count)
        with tf.control_dependencies([began]):
            for number in tf.range(count):
                batch = next(iterator)
                with tf.control_dependencies(tf.nest.flatten(batch)):
                    reads = tf.timestamp()
                with tf.control_dependencies([reads]):
                    row = step(batch)
                with tf.control_dependencies([row]):
                    updated = tf.timestamp()
                rows = rows.write(number, row[None])
                times = times.write(number, tf.stack([reads, updated]))
        result = rows.stack()
        with tf.control_dependencies([result]):
            return worker, result, times.stack(), tf.stack([began, tf.timestamp()])

    @tf.function
    def test(iterator: tf.data.Iterator, count: tf.Tensor) -> tf.Tensor:
        rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
        for number in tf.range(count):
            rows = rows.write(number, test_step(next(iterator))[None])
        return rows.stack()

    return [train, test]


def main() -> None:
    """Schedule the steps of a custom loop, from the first step or the last checkpoint."""
    recorder = Coordinator()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
    recorder.restore(strategy, model)
    make_own_batches, tests = make_batches(recorder.worker_steps)
    train_data = iter(recorder.cluster_coordinator.create_per_worker_dataset(make_own_batches))
    test_data = iter(tests)
    train_steps, test_steps = make_loops(strategy, *make_steps(model))
    for epoch in range(recorder.epoch, EPOCHS):
        recorder.train(train_steps, train_data, (epoch + 1) * STEPS_PER_EPOCH - recorder.step)
        if recorder.tested_elsewhere:
            recorder.end_epoch()
        else:
            recorder.test(test_steps, test_data, TEST_STEPS)
    recorder.finish()


def evaluate_checkpoints() -> None:
    """Test the checkpoint at the end of each epoch, while the other tasks train."""
    recorder = Recorder()
    if not recorder.dir:
        raise SystemExit("Needs --run-dir, where the chief saves its checkpoints; got none.")
    tf.config.set_visible_devices([], "GPU")
    tf.keras.utils.set_random_seed(SEED)
    model, progress = make_model(), tf.Variable([0.0] * 6, dtype=tf.float64)
    checkpoint = tf.train.Checkpoint(model=model, progress=progress)
    batches = iter(make_batches(np.zeros(WORKERS, np.int64))[1])
    _, test_steps = make_loops(tf.distribute.get_strategy(), *make_steps(model))
    recorder.event("serving")
    tested = 0
    for path in new_checkpoints(recorder.dir, recorder.stop):
        try:
            checkpoint.restore(path).expect_partial()
        except tf.errors.OpError:
            continue  # deleted, because the chief keeps three and tests can be slow; or damaged
        step, epoch = progress.numpy()[:2].astype(int).tolist()
        if epoch > tested and step == epoch * STEPS_PER_EPOCH:
            rows = test_steps(batches, tf.constant(TEST_STEPS)).numpy()
            loss, correct, examples = rows.sum(axis=(0, 1), dtype=float)
            result = {"test_loss": loss / examples, "test_accuracy": correct / examples}
            recorder.event("evaluated", epoch=epoch, step=step, **result)
            tested = epoch
    recorder.event("finished")


def threads_for(cluster: tf.train.ClusterSpec) -> int:
    """Return the threads that a server needs: a thread for each CPU, or more if these are few.

    On one CPU, TensorFlow would take one thread, in which a call would wait for another forever:
    worker_config in https://www.tensorflow.org/tutorials/distribute/parameter_server_training.
    """
    on_linux = hasattr(os, "sched_getaffinity")
    cpus = len(os.sched_getaffinity(0)) if on_linux else os.cpu_count() or 1
    return max(cpus, cluster.num_tasks("worker") + 1)


def serve() -> None:
    """Serve the chief as a worker or a parameter server until something ends this process."""
    recorder = Recorder()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    kind, index = resolver.task_type, resolver.task_id
    if kind == "worker":
        open_devices(index)
    else:
        tf.config.set_visible_devices([], "GPU")
    cluster = resolver.cluster_spec()
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=threads_for(cluster))
    server = tf.distribute.Server(cluster, kind, index, protocol="grpc", config=config)
    recorder.event("serving")
    end_with_chief(recorder)
    server.join()


# The recorder of all scripts stands here.


# The recorder of workers that do not step together stands here.


# ---- Helpers of the functions at the top. ----
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import tensorflow as tf


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the examples at `count` positions of an epoch. Only seed and epoch decide them."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def new_checkpoints(run_dir: pathlib.Path, stop: threading.Event) -> Iterator[str]:
    """Yield each checkpoint once, until the chief has finished or a stop is requested."""
    seen, over = set[str](), False
    while not (over or stop.is_set()):
        over = chief_has_finished(run_dir)  # before the list, so its last save counts
        saved = tf.train.get_checkpoint_state(str(run_dir / "checkpoints"))
        for path in saved.all_model_checkpoint_paths if saved else ():
            if path not in seen and not stop.is_set():
                seen.add(path)
                yield path
        time.sleep(0.2)


def chief_has_finished(run_dir: pathlib.Path) -> bool:
    """Return whether the chief has reported its last step; after that it saves nothing."""
    try:
        events = (run_dir / "chief-0" / "events.jsonl").read_text().splitlines()
        last = json.loads(events[-1])
    except (OSError, ValueError, IndexError):
        return False  # no event yet, or a half-written line
    # An earlier attempt that finished had fewer steps to do.
    return bool(last["event"] == "finished" and last["step"] == EPOCHS * STEPS_PER_EPOCH)


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
    run_and_leave(run_task, chief=main, worker=serve, ps=serve, evaluator=evaluate_checkpoints)

# config: {"sha256": "02fd6cfb25397c5b", "config": {"strategy": "parameter_server", "devices":
#     ["CPU:0"], "workers": 2, "parameter_servers": 1}}
