"""MLP 16-8-1 on synthetic data: Mirrored strategy, 2 virtual replicas, custom loop."""

import argparse
from collections.abc import Callable, Iterable

import numpy as np
import tensorflow as tf

SEED = 42  # seeds the random numbers of this script
REPLICAS = 2  # virtual devices that share a physical one
CROSS_DEVICE_OPS = tf.distribute.ReductionToOneDevice()  # how gradients are summed
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 64  # examples in a step, of each replica
GLOBAL_BATCH_SIZE = PER_REPLICA_BATCH_SIZE * REPLICAS  # examples in a step, of all replicas
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = NUM_TRAIN_EXAMPLES // GLOBAL_BATCH_SIZE  # an incomplete batch is dropped
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
    buffers = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    return tuple(  # the strategy splits each global batch among its replicas
        strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE), buffers)
        for batches in (train, test)
    )


def compile_by_xla(make_model: Callable) -> Callable:
    """Let XLA compile the model's forward pass, and with it its gradient.

    The sum of gradients and the update of the weights stay outside, because they wait for other
    replicas.
    """

    def make_compiled_model() -> tf.keras.Model:
        model = make_model()
        model.call = tf.function(model.call, jit_compile=True)
        return model

    return make_compiled_model


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


make_model = compile_by_xla(make_model)


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
# config: {"sha256": "0c63c437b2569835", "config": {"devices": ["CPU:0"], "replicas": 2, "xla":
#     true}}
