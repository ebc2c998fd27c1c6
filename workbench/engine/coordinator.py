"""The training by a chief, whose workers wait for nobody."""

import functools
import pathlib
import time
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from .constants import EPOCHS, SEED, STEPS_PER_EPOCH, STEPS_PER_EXECUTION
    from .slots import (
        compile_model,
        make_batches,
        make_loop,
        make_model,
        make_step,
        make_strategy,
        make_tester,
    )


def main__custom(run_dir: str) -> None:
    """Schedule the steps of a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
    tester = make_tester()
    # Counted here, because Keras 3's optimizer misses steps of workers that do not wait.
    epochs_done, steps_done = tf.Variable(0), tf.Variable(0, dtype=tf.int64)
    state = {"model": model, "optimizer": model.optimizer}
    checkpoint = tf.train.Checkpoint(epoch=epochs_done, step=steps_done, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    print(f"start at step {steps_done.numpy()} of {EPOCHS * STEPS_PER_EPOCH}")
    make_worker_batches, test_batches = make_batches()
    make_dataset = functools.partial(make_worker_batches, int(steps_done.numpy()))
    batches = iter(coordinator.create_per_worker_dataset(make_dataset))
    train = make_loop(strategy, make_step(model))
    for epoch in range(int(epochs_done.numpy()), EPOCHS):
        call = None
        while (left := (epoch + 1) * STEPS_PER_EPOCH - int(steps_done.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            steps_done.assign_add(steps)  # counted first: the workbench may save while it waits
            call = coordinator.schedule(train, args=(batches, tf.constant(steps)))
        coordinator.join()
        last = call.fetch() if call else {}
        results = ", ".join(f"{name} {np.round(value, 4)!s}" for name, value in last.items())
        print(f"epoch {epoch + 1}, last step: {results}")
        tester.set_weights(model.get_weights())
        tester.evaluate(test_batches, verbose=2)
        epochs_done.assign(epoch + 1)
        manager.save()
    tester.set_weights(model.get_weights())  # even if no epoch was left to do
    tester.save(f"{run_dir}/model.keras")


def main__fit(run_dir: str) -> None:
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


def evaluate_checkpoints(run_dir: str) -> None:
    """Test the newest checkpoint, again and again, while the other tasks train."""
    tf.config.set_visible_devices([], "GPU")
    tf.keras.utils.set_random_seed(SEED)
    tester = make_tester()
    epochs_done, steps_done = tf.Variable(0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(epoch=epochs_done, step=steps_done, model=tester)
    _, test_batches = make_batches()
    model = pathlib.Path(run_dir, "model.keras")  # saved by the chief at its end
    began, path, tested = time.time(), None, 0
    while tested < EPOCHS:
        over = model.exists() and model.stat().st_mtime > began
        newest = tf.train.latest_checkpoint(f"{run_dir}/checkpoints")
        if newest == path:
            if over:
                break
            time.sleep(0.2)
            continue
        path = newest
        checkpoint.restore(path).expect_partial()
        epochs = int(epochs_done.numpy())
        # Another checkpoint can be in the middle of an epoch.
        if epochs > tested and steps_done == epochs * STEPS_PER_EPOCH:
            tester.evaluate(test_batches, verbose=2)
            tested = epochs
