"""The training with Keras `fit`."""

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from .constants import EPOCHS, SEED, STEPS_PER_EPOCH, STEPS_PER_EXECUTION
    from .slots import (
        compile_model,
        make_batches,
        make_model,
        make_strategy,
        make_train_functions,
        this_worker,
    )


def main__alone(run_dir: str) -> None:
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


def main__loops(run_dir: str) -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
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
    model.save(f"{run_dir}/model.keras")


def main__loops_workers(run_dir: str) -> None:
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
