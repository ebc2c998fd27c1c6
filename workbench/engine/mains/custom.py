from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.mirrored import make_strategy

    from ..constants import EPOCHS, SEED, STEPS_PER_EPOCH, STEPS_PER_EXECUTION
    from ..lesson.metrics import make_metrics
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
    # Outside of the scope, because Keras 3 counts wrongly in that of CentralStorageStrategy.
    metrics = [make_metrics(), make_metrics()]
    epoch, step = tf.Variable(0), tf.Variable(0)
    # The state of random layers, such as Dropout, and what is measured are no part of a model.
    others = [each.value for part in (model, *metrics[0]) for each in part.variables]
    state = {"model": model, "optimizer": model.optimizer, "others": others}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    train_batches, test_batches = make_batches(strategy, int(step.numpy()))
    train_batches = iter(train_batches)
    train, test = make_loops(strategy, *make_steps(model, *metrics))
    for number in range(int(epoch.numpy()), EPOCHS):
        while (left := (number + 1) * STEPS_PER_EPOCH - int(step.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            step.assign_add(steps)  # before the call, because a checkpoint may be made at its end
            train(train_batches, tf.constant(steps))
        test(test_batches)
        results = [float(metric.result()) for phase in metrics for metric in phase]
        line = "epoch {}: loss {:.4f}, accuracy {:.4f}, test loss {:.4f}, test accuracy {:.4f}"
        print(line.format(number + 1, *results))
        for metric in (*metrics[0], *metrics[1]):
            metric.reset_state()
        epoch.assign(number + 1)
        manager.save()
    model.save(f"{run_dir}/model.keras")
