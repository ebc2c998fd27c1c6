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


def main__workers(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    worker = this_worker()
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
    # All workers must save together. They restore the first one's, from a disk that all share.
    own_dir = run_dir if worker == 0 else f"{run_dir}/worker-{worker}/scratch"
    manager = tf.train.CheckpointManager(checkpoint, f"{own_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(tf.train.latest_checkpoint(f"{run_dir}/checkpoints"))
    print(f"start at step {steps_done.numpy()} of {EPOCHS * STEPS_PER_EPOCH}")
    train_batches, test_batches = make_batches(strategy, int(steps_done.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, train_step, test_step)

    @tf.function  # one call, because each read waits for all workers
    def take_results() -> list[tf.Tensor]:
        results = [metric.result() for metric in metrics]
        for metric in metrics:
            metric.reset_state()
        return results

    for epoch in range(int(epochs_done.numpy()), EPOCHS):
        while (left := (epoch + 1) * STEPS_PER_EPOCH - int(steps_done.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            steps_done.assign_add(steps)  # counted first: the workbench may save when train returns
            train(train_batches, tf.constant(steps))
        test(test_batches)
        results = zip(metrics, take_results())
        line = ", ".join(f"{metric.name} {result:.4f}" for metric, result in results)
        print(f"epoch {epoch + 1}: {line}")
        epochs_done.assign(epoch + 1)
        manager.save()
    model.save(f"{own_dir}/model.keras")


def main__own_alone(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
    epochs_done, steps_done, trained = tf.Variable(0), tf.Variable(0), tf.Variable("")
    # Added because tf.train.Checkpoint misses states of random layers, and metrics of Keras.
    others = [each.value for part in (model, *model.metrics) for each in part.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others, "trained": trained}
    checkpoint = tf.train.Checkpoint(epoch=epochs_done, step=steps_done, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    print(f"start at step {steps_done.numpy()} of {EPOCHS * STEPS_PER_EPOCH}")
    train_batches, test_batches = make_batches(strategy, int(steps_done.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, *make_steps(model))

    def take_results() -> str:
        results = model.get_metrics_result().items()
        model.reset_metrics()
        numbers = [(name, value.numpy()) for name, value in results if tf.is_tensor(value)]
        return ", ".join(f"{name} {value.round(4)!s}" for name, value in numbers)

    for epoch in range(int(epochs_done.numpy()), EPOCHS):
        while (left := (epoch + 1) * STEPS_PER_EPOCH - int(steps_done.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            steps_done.assign_add(steps)  # counted first: the workbench may save when train returns
            train(train_batches, tf.constant(steps))
        results = take_results()
        if not trained.numpy():  # else a checkpoint was made in the test pass
            trained.assign(results)
        test(test_batches)
        print(f"epoch {epoch + 1}: {trained.numpy().decode()}; test: {take_results()}")
        trained.assign("")
        epochs_done.assign(epoch + 1)
        manager.save()
    model.save(f"{run_dir}/model.keras")


def main__own_workers(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    worker = this_worker()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
    epochs_done, steps_done, trained = tf.Variable(0), tf.Variable(0), tf.Variable("")
    # Added because tf.train.Checkpoint misses states of random layers, and metrics of Keras.
    others = [each.value for part in (model, *model.metrics) for each in part.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others, "trained": trained}
    checkpoint = tf.train.Checkpoint(epoch=epochs_done, step=steps_done, **state)
    # All workers must save together. They restore the first one's, from a disk that all share.
    own_dir = run_dir if worker == 0 else f"{run_dir}/worker-{worker}/scratch"
    manager = tf.train.CheckpointManager(checkpoint, f"{own_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(tf.train.latest_checkpoint(f"{run_dir}/checkpoints"))
    print(f"start at step {steps_done.numpy()} of {EPOCHS * STEPS_PER_EPOCH}")
    train_batches, test_batches = make_batches(strategy, int(steps_done.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, *make_steps(model))

    def take_results() -> str:
        results = model.get_metrics_result().items()
        model.reset_metrics()
        numbers = [(name, value.numpy()) for name, value in results if tf.is_tensor(value)]
        return ", ".join(f"{name} {value.round(4)!s}" for name, value in numbers)

    for epoch in range(int(epochs_done.numpy()), EPOCHS):
        while (left := (epoch + 1) * STEPS_PER_EPOCH - int(steps_done.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            steps_done.assign_add(steps)  # counted first: the workbench may save when train returns
            train(train_batches, tf.constant(steps))
        results = take_results()
        if not trained.numpy():  # else a checkpoint was made in the test pass
            trained.assign(results)
        test(test_batches)
        print(f"epoch {epoch + 1}: {trained.numpy().decode()}; test: {take_results()}")
        trained.assign("")
        epochs_done.assign(epoch + 1)
        manager.save()
    model.save(f"{own_dir}/model.keras")
