"""The training with a custom loop."""

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from .constants import EPOCHS, SEED, STEPS_PER_EPOCH, STEPS_PER_EXECUTION
    from .slots import (
        make_batches,
        make_loops,
        make_model,
        make_steps,
        make_strategy,
        this_worker,
    )


def main__alone(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
        train_step, test_step, train_metrics, test_metrics = make_steps(model)
    metrics = [*train_metrics, *test_metrics]
    epoch, step = tf.Variable(0), tf.Variable(0)
    # The state of random layers, such as Dropout, and what is measured are no part of a model.
    others = [each.value for part in (model, *train_metrics) for each in part.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    train_batches, test_batches = make_batches(strategy, int(step.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, train_step, test_step)
    for number in range(int(epoch.numpy()), EPOCHS):
        while (left := (number + 1) * STEPS_PER_EPOCH - int(step.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            step.assign_add(steps)  # before the call, because a checkpoint may be made at its end
            train(train_batches, tf.constant(steps))
        test(test_batches)
        results = ", ".join(f"{metric.name} {metric.result():.4f}" for metric in metrics)
        print(f"epoch {number + 1}: {results}")
        for metric in metrics:
            metric.reset_state()
        epoch.assign(number + 1)
        manager.save()
    model.save(f"{run_dir}/model.keras")


def main__workers(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    worker = this_worker(strategy)
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
        train_step, test_step, train_metrics, test_metrics = make_steps(model)
    metrics = [*train_metrics, *test_metrics]
    epoch, step = tf.Variable(0), tf.Variable(0)
    # The state of random layers, such as Dropout, and what is measured are no part of a model.
    others = [each.value for part in (model, *train_metrics) for each in part.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    # All workers must save, because they read variables together. Only the checkpoints of the
    # first worker are used.
    own_dir = run_dir if worker == 0 else f"{run_dir}/worker-{worker}/scratch"
    manager = tf.train.CheckpointManager(checkpoint, f"{own_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(tf.train.latest_checkpoint(f"{run_dir}/checkpoints"))
    train_batches, test_batches = make_batches(strategy, int(step.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, train_step, test_step)

    @tf.function  # one call, because each read waits for all workers
    def take_results() -> list[tf.Tensor]:
        results = [metric.result() for metric in metrics]
        for metric in metrics:
            metric.reset_state()
        return results

    for number in range(int(epoch.numpy()), EPOCHS):
        while (left := (number + 1) * STEPS_PER_EPOCH - int(step.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            step.assign_add(steps)  # before the call, because a checkpoint may be made at its end
            train(train_batches, tf.constant(steps))
        test(test_batches)
        results = zip(metrics, take_results())
        line = ", ".join(f"{metric.name} {result:.4f}" for metric, result in results)
        print(f"epoch {number + 1}: {line}")
        epoch.assign(number + 1)
        manager.save()
    model.save(f"{own_dir}/model.keras")


def main__own_alone(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
    epoch, step, trained = tf.Variable(0), tf.Variable(0), tf.Variable("")
    # The state of random layers, such as Dropout, and what is measured are no part of a model.
    others = [each.value for part in (model, *model.metrics) for each in part.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others, "trained": trained}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    train_batches, test_batches = make_batches(strategy, int(step.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, *make_steps(model))

    def take_results() -> str:
        results = model.get_metrics_result().items()
        model.reset_metrics()
        numbers = [(name, value.numpy()) for name, value in results if tf.is_tensor(value)]
        return ", ".join(f"{name} {value.round(4)!s}" for name, value in numbers)

    for number in range(int(epoch.numpy()), EPOCHS):
        while (left := (number + 1) * STEPS_PER_EPOCH - int(step.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            step.assign_add(steps)  # before the call, because a checkpoint may be made at its end
            train(train_batches, tf.constant(steps))
        results = take_results()
        if not trained.numpy():  # else a checkpoint was made in the test pass
            trained.assign(results)
        test(test_batches)
        print(f"epoch {number + 1}: {trained.numpy().decode()}; test: {take_results()}")
        trained.assign("")
        epoch.assign(number + 1)
        manager.save()
    model.save(f"{run_dir}/model.keras")


def main__own_workers(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    worker = this_worker(strategy)
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
    epoch, step, trained = tf.Variable(0), tf.Variable(0), tf.Variable("")
    # The state of random layers, such as Dropout, and what is measured are no part of a model.
    others = [each.value for part in (model, *model.metrics) for each in part.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others, "trained": trained}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    # All workers must save, because they read variables together. Only the checkpoints of the
    # first worker are used.
    own_dir = run_dir if worker == 0 else f"{run_dir}/worker-{worker}/scratch"
    manager = tf.train.CheckpointManager(checkpoint, f"{own_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(tf.train.latest_checkpoint(f"{run_dir}/checkpoints"))
    train_batches, test_batches = make_batches(strategy, int(step.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, *make_steps(model))

    def take_results() -> str:
        results = model.get_metrics_result().items()
        model.reset_metrics()
        numbers = [(name, value.numpy()) for name, value in results if tf.is_tensor(value)]
        return ", ".join(f"{name} {value.round(4)!s}" for name, value in numbers)

    for number in range(int(epoch.numpy()), EPOCHS):
        while (left := (number + 1) * STEPS_PER_EPOCH - int(step.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            step.assign_add(steps)  # before the call, because a checkpoint may be made at its end
            train(train_batches, tf.constant(steps))
        results = take_results()
        if not trained.numpy():  # else a checkpoint was made in the test pass
            trained.assign(results)
        test(test_batches)
        print(f"epoch {number + 1}: {trained.numpy().decode()}; test: {take_results()}")
        trained.assign("")
        epoch.assign(number + 1)
        manager.save()
    model.save(f"{own_dir}/model.keras")
