"""MLP 16-8-1 on synthetic data: MultiWorkerMirrored strategy, 2 workers x 1 replica, Keras fit.

Start a process for each task of the cluster, with its own TF_CONFIG. The first one is:
    TF_CONFIG='{"cluster": {"worker": ["localhost:2001", "localhost:2002"]},
        "task": {"type": "worker", "index": 0}}' python train.py
"""

import argparse
from collections.abc import Callable, Iterable

import numpy as np
import tensorflow as tf

SEED = 42  # seeds the random numbers of this script
WORKERS = 2  # processes that train
# how gradients are summed
COMMUNICATION = tf.distribute.experimental.CommunicationOptions(
    implementation=tf.distribute.experimental.CommunicationImplementation.AUTO,
)
AUTO_SHARD = tf.data.experimental.AutoShardPolicy.AUTO  # how data is split among workers
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 64  # examples in a step, of each replica
GLOBAL_BATCH_SIZE = PER_REPLICA_BATCH_SIZE * WORKERS  # examples in a step, of all replicas
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = NUM_TRAIN_EXAMPLES // GLOBAL_BATCH_SIZE  # an incomplete batch is dropped
OPTIMIZER = tf.keras.optimizers.Adam  # called with LEARNING_RATE
LEARNING_RATE = 0.001  # not scaled by the number of replicas
ACCURACY = tf.keras.metrics.BinaryAccuracy  # the share of right answers
STEPS_PER_EXECUTION = STEPS_PER_EPOCH  # must divide STEPS_PER_EPOCH, else fit trains too many


def make_strategy() -> tf.distribute.Strategy:
    """Return a strategy with a model copy on each worker's CPU; steps sum their gradients."""
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
    """Return the numbers of `count` examples, from `first` on, in an epoch's shuffled order."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def make_batches(
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


def compile_model(model: tf.keras.Model) -> None:
    """Choose what `fit` measures, and how many steps a call of its graph function does."""
    model.compile(model.optimizer, model.loss, metrics=[ACCURACY("accuracy")], jit_compile=False)
    model.steps_per_execution = STEPS_PER_EXECUTION


def this_worker() -> int:
    """Return the number of the worker that this process is; TF_CONFIG names it and all others."""
    task = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    workers = task.cluster_spec().as_dict().get("worker", [])
    if len(workers) != WORKERS:
        raise SystemExit(
            f"Needs TF_CONFIG with {WORKERS} workers, not {len(workers)}. Set it as at the top, or "
            "start all workers: workbench run --script train.py"
        )
    return task.task_id


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


def make_train_functions(strategy: tf.distribute.Strategy, model: tf.keras.Model) -> None:
    """Make the functions that `fit` calls.

    Those of Keras 3 fail with several workers (keras#20585), and take no stacks of batches.
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
    model._maybe_symbolic_build = lambda **_: None  # private; it averages a batch, or fails


def main(run_dir: str) -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    worker = this_worker()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
        compile_model(model)
    make_train_functions(strategy, model)
    epochs_done, steps_done = tf.Variable(0), tf.Variable(0)
    # Added because tf.train.Checkpoint misses the states of random layers, such as Dropout.
    others = [each.value for each in model.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epochs_done, step=steps_done, **state)
    # All workers must save together. They restore the first one's, from a disk that all share.
    own_dir = run_dir if worker == 0 else f"{run_dir}/worker-{worker}/scratch"
    manager = tf.train.CheckpointManager(checkpoint, f"{own_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(tf.train.latest_checkpoint(f"{run_dir}/checkpoints"))

    def end_epoch(*_: object) -> None:
        epochs_done.assign_add(1)
        manager.save()

    counting = tf.keras.callbacks.LambdaCallback(
        # Counted before the call, because the workbench may save when it returns.
        on_train_batch_begin=lambda _, logs=None: steps_done.assign_add(STEPS_PER_EXECUTION),
        on_epoch_end=end_epoch,
    )
    print(f"start at step {steps_done.numpy()} of {EPOCHS * STEPS_PER_EPOCH}")
    # One call of fit trains all epochs; an epoch that was begun earlier has a call of its own.
    while (epoch := int(epochs_done.numpy())) < EPOCHS:
        train_batches, test_batches = make_batches(strategy, int(steps_done.numpy()))
        left = (epoch + 1) * STEPS_PER_EPOCH - int(steps_done.numpy())  # steps of this epoch
        if left <= 0:
            model.evaluate(test_batches, steps=1, verbose=2)  # one call tests on all
            end_epoch()
            continue
        model.fit(
            train_batches,
            initial_epoch=epoch,
            epochs=EPOCHS if left == STEPS_PER_EPOCH else epoch + 1,
            steps_per_epoch=left,
            validation_data=test_batches,
            validation_steps=1,  # one call tests on all
            callbacks=[counting],
            shuffle=False,
            verbose=2,
        )
    model.save(f"{own_dir}/model.keras")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--run-dir", default="run", help="folder to continue from and to save in")
    main(parser.parse_args().run_dir)

# For the workbench that exported this script, to open it again; Python ignores it.
# config: {"sha256": "5cc31881dd73de90", "config": {"strategy": "multi_worker_mirrored", "loop":
#     "fit", "devices": ["CPU:0"], "workers": 2}}
