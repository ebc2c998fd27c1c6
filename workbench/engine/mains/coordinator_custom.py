import functools
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.parameter_server import make_strategy

    from ..constants import EPOCHS, EVALUATOR, SEED, STEPS_PER_EPOCH, STEPS_PER_EXECUTION
    from ..lesson.tester import make_tester
    from ..loops.scheduled import make_loop
    from ..models.mlp import make_model
    from ..pipelines.per_worker import make_batches
    from ..steps.built_in_worker import make_step


def main(run_dir: str) -> None:
    """Schedule the steps of a custom loop, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
    tester = make_tester()
    # The optimizer of Keras 3 loses some of its count when workers do not wait for each other.
    epoch, step = tf.Variable(0), tf.Variable(0, dtype=tf.int64)
    state = {"model": model, "optimizer": model.optimizer}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    own_batches, tests = make_batches()
    make_dataset = functools.partial(own_batches, int(step.numpy()))
    batches = iter(coordinator.create_per_worker_dataset(make_dataset))
    train = make_loop(strategy, make_step(model))

    def shown(results: dict) -> str:
        return ", ".join(f"{name} {np.round(value, 4)!s}" for name, value in results.items())

    for number in range(int(epoch.numpy()), EPOCHS):
        call = None
        while (left := (number + 1) * STEPS_PER_EPOCH - int(step.numpy())) > 0:
            steps = min(STEPS_PER_EXECUTION, left)
            step.assign_add(steps)  # before the call, because a checkpoint may be made after it
            call = coordinator.schedule(train, args=(batches, tf.constant(steps)))
        coordinator.join()
        last = call.fetch() if call else {}
        tester.set_weights(model.get_weights())
        print(f"epoch {number + 1}, last step: {shown(last)}")
        if not EVALUATOR:
            tester.evaluate(tests, verbose=2)
        epoch.assign(number + 1)
        manager.save()
    tester.save(f"{run_dir}/model.keras")
