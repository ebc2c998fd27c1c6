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
    epoch, step = tf.Variable(0), tf.Variable(0)
    # The state of random layers, such as Dropout, is no part of a model.
    others = [each.value for each in model.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)

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
            model.evaluate(tests, verbose=2)
            end_epoch()
            continue
        model.fit(
            batches,
            initial_epoch=first,
            epochs=EPOCHS if steps == STEPS_PER_EPOCH else first + 1,
            steps_per_epoch=steps,
            validation_data=tests,
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
    epoch, step = tf.Variable(0), tf.Variable(0)
    # The state of random layers, such as Dropout, is no part of a model.
    others = [each.value for each in model.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)

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
    model.save(f"{run_dir}/model.keras")


def main__loops_workers(run_dir: str) -> None:
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
