"""Your model on synthetic data: Mirrored strategy, 2 virtual replicas, Keras fit."""

import argparse
import sys
from collections.abc import Callable

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
# must divide STEPS_PER_EPOCH, else fit trains too many
STEPS_PER_EXECUTION = max(n for n in range(1, 14) if STEPS_PER_EPOCH % n == 0)


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


def prepare_model(function: Callable, make_optimizer: Callable | None = None) -> tf.keras.Model:
    """Return your model with all variables of its layers and metrics, which no step can make."""
    model, (examples, _) = function(), make_data()
    if isinstance(examples, tf.data.Dataset):
        example = next(iter(examples.batch(1)))
    else:
        example = tf.nest.map_structure(lambda part: tf.constant(part[:1]), examples)
    if type(model).call is not tf.keras.Model.call:  # else it has only steps of its own
        features, labels, weight = tf.keras.utils.unpack_x_y_sample_weight(example)
        outputs = model(features, training=False)
        if model.loss or model.losses:
            model.compute_loss(features, labels, outputs, weight)
        model.compute_metrics(features, labels, outputs, weight)
        model.reset_metrics()
    model.built = True
    model.optimizer = make_optimizer() if make_optimizer else model.optimizer
    return model


def make_model() -> tf.keras.Model:
    """Your own model."""
    del sys.argv[1:]  # they are this script's
    from own_model import build_model  # your own file own_model.py

    return prepare_model(build_model)


def compile_model(model: tf.keras.Model) -> None:
    """Choose how many steps `fit` does in a call; your function has compiled the rest."""
    model.steps_per_execution = STEPS_PER_EXECUTION
    model.jit_compile = False  # XLA cannot compile the sums over replicas on CPUs


def main(run_dir: str) -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
        compile_model(model)
    epochs_done, steps_done = tf.Variable(0), tf.Variable(0)
    # Added because tf.train.Checkpoint misses the states of random layers, such as Dropout.
    others = [each.value for each in model.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epochs_done, step=steps_done, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)

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
            model.evaluate(test_batches, verbose=2)
            end_epoch()
            continue
        model.fit(
            train_batches,
            initial_epoch=epoch,
            epochs=EPOCHS if left == STEPS_PER_EPOCH else epoch + 1,
            steps_per_epoch=left,
            validation_data=test_batches,
            callbacks=[counting],
            shuffle=False,
            verbose=2,
        )
    model.save(f"{run_dir}/model.keras")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--run-dir", default="run", help="folder to continue from and to save in")
    main(parser.parse_args().run_dir)

# For the workbench that exported this script, to open it again; Python ignores it.
# config: {"sha256": "fc04300d938b5275", "config": {"loop": "fit", "model":
#     "own_model.py:build_model", "devices": ["CPU:0"], "replicas": 2}}
