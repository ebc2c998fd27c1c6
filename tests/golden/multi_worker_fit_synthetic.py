"""MLP 16-8-1 on Synthetic: MultiWorkerMirrored strategy, 2 workers x 1 replica, Keras fit."""

import argparse
from collections.abc import Callable, Iterable

import numpy as np
import tensorflow as tf

SEED = 42  # decides data, first weights and order of examples
WORKERS = 2  # processes that train
# how gradients are summed
COMMUNICATION = tf.distribute.experimental.CommunicationOptions(
    implementation=tf.distribute.experimental.CommunicationImplementation.AUTO,
)
AUTO_SHARD = tf.data.experimental.AutoShardPolicy.AUTO  # how training data is split among workers
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 64  # examples that each replica takes in a step
GLOBAL_BATCH_SIZE = PER_REPLICA_BATCH_SIZE * WORKERS  # examples that all replicas take in a step
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = NUM_TRAIN_EXAMPLES // GLOBAL_BATCH_SIZE  # what fills no batch is left out
OPTIMIZER = tf.keras.optimizers.Adam  # called with LEARNING_RATE
LEARNING_RATE = 0.001  # independent of the number of replicas
ACCURACY = tf.keras.metrics.BinaryAccuracy  # 1 or 0 for each example
STEPS_PER_EXECUTION = STEPS_PER_EPOCH  # divides the steps of an epoch, else Keras 3 trains too many


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each worker, on its CPU; every step sums the gradients of all."""
    tf.config.set_visible_devices([], "GPU")
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=COMMUNICATION)


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
    """Return the examples at `count` positions of an epoch. Only seed and epoch decide them."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, without end, and the test batches.

    Every worker makes all global batches; the strategy keeps this worker's share of each.
    """
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
    return tuple(
        strategy.experimental_distribute_dataset(batches.with_options(options).prefetch(2))
        for batches in (train, test)
    )


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
    model.compile(OPTIMIZER(LEARNING_RATE), loss=tf.keras.losses.BinaryCrossentropy())
    return model


def compile_model(model: tf.keras.Model) -> None:
    """Choose what `fit` measures, and how many steps it does in a call."""
    model.compile(model.optimizer, model.loss, metrics=[ACCURACY("accuracy")], jit_compile=False)
    model.steps_per_execution = STEPS_PER_EXECUTION


def this_worker(strategy: tf.distribute.Strategy) -> int:
    """Return the number of the worker that this process is; TF_CONFIG names it and all others."""
    tasks = strategy.cluster_resolver
    workers = tasks.cluster_spec().as_dict().get("worker", [])
    if len(workers) != WORKERS:
        raise SystemExit(
            f"Needs TF_CONFIG with the addresses of {WORKERS} workers; it names {len(workers)}. "
            "Set it for each worker's process, or start all: workbench run --script train.py"
        )
    return tasks.task_id


def make_loops(
    strategy: tf.distribute.Strategy, train_step: Callable, test_step: Callable
) -> list[Callable]:
    """Return two graph functions: one trains on some batches, one tests on all batches."""

    @tf.function
    def train(batches: tf.distribute.DistributedIterator, steps: tf.Tensor) -> None:
        for _ in tf.range(steps):
            strategy.run(train_step, args=(next(batches),))

    @tf.function
    def test(batches: Iterable) -> None:
        for batch in batches:
            strategy.run(test_step, args=(batch,))

    return [train, test]


def make_train_functions(strategy: tf.distribute.Strategy, model: tf.keras.Model) -> None:
    """Make the functions that `fit` calls for its steps.

    Those of Keras 3 fail with several workers (keras#20585), and know no stacks of batches.
    """
    train, test = make_loops(strategy, model.train_step, model.test_step)
    results = tf.function(model.get_metrics_result)

    def train_function(batches: tf.distribute.DistributedIterator) -> dict[str, tf.Tensor]:
        train(batches, tf.constant(STEPS_PER_EXECUTION))
        return results()

    def test_function(batches: tf.distribute.DistributedIterator) -> dict[str, tf.Tensor]:
        test(batches)
        return results()

    model.train_function, model.test_function = train_function, test_function
    model._maybe_symbolic_build = lambda **_: None  # it sums a batch of its own, or fails


def main(run_dir: str) -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    worker = this_worker(strategy)
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
        compile_model(model)
    make_train_functions(strategy, model)
    epoch, step = tf.Variable(0), tf.Variable(0)
    # The state of random layers, such as Dropout, is no part of a model.
    others = [each.value for each in model.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    # All workers must save, because they read variables together. Only the checkpoints of the
    # first worker are used.
    own_dir = run_dir if worker == 0 else f"{run_dir}/worker-{worker}/scratch"
    manager = tf.train.CheckpointManager(checkpoint, f"{own_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(tf.train.latest_checkpoint(f"{run_dir}/checkpoints"))

    def end_epoch(*_: object) -> None:
        epoch.assign_add(1)
        manager.save()

    counting = tf.keras.callbacks.LambdaCallback(
        # Before the call, because a checkpoint may be made at its end.
        on_train_batch_begin=lambda _, logs=None: step.assign_add(STEPS_PER_EXECUTION),
        on_epoch_end=end_epoch,
    )
    while (first := int(epoch.numpy())) < EPOCHS:
        batches, tests = make_batches(strategy, int(step.numpy()))
        steps = (first + 1) * STEPS_PER_EPOCH - int(step.numpy())  # that are left of this epoch
        if steps == 0:
            model.evaluate(tests, steps=1, verbose=2)
            end_epoch()
            continue
        model.fit(
            batches,
            initial_epoch=first,
            epochs=EPOCHS if steps == STEPS_PER_EPOCH else first + 1,
            steps_per_epoch=steps,
            validation_data=tests,
            validation_steps=1,
            callbacks=[counting],
            shuffle=False,
            verbose=2,
        )
    model.save(f"{own_dir}/model.keras")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--run-dir", default="run", help="keeps checkpoints and the model")
    main(options.parse_args().run_dir)

# config: {"sha256": "bbf1988c44aa65f5", "config": {"strategy": "multi_worker_mirrored", "loop":
#     "fit", "devices": ["CPU:0"], "workers": 2}}
