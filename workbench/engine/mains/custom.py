from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.mirrored import make_strategy

    from ..constants import EPOCHS, SEED, STEPS_PER_EPOCH, STEPS_PER_EXECUTION
    from ..loops.usual import make_loops
    from ..models.mlp import make_model
    from ..pipelines.usual import make_batches
    from ..steps.built_in import make_steps


def main(run_dir: str) -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
    # Metrics outside of the scope: Keras 3 counts wrongly in that of CentralStorageStrategy.
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
