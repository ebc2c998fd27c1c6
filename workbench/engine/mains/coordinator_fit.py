import functools
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.parameter_server import make_strategy

    from ..constants import EPOCHS, EVALUATOR, SEED, STEPS_PER_EPOCH
    from ..lesson.compile_led import compile_model
    from ..lesson.tester import make_tester
    from ..models.mlp import make_model
    from ..pipelines.per_worker import make_batches


def main(run_dir: str) -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    with strategy.scope():
        model = make_model()
        model.optimizer.build(model.trainable_variables)
        compile_model(model)
    tester = make_tester()
    epoch, step = tf.Variable(0), model.optimizer.iterations
    state = {"model": model, "optimizer": model.optimizer}
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, **state)
    manager = tf.train.CheckpointManager(checkpoint, f"{run_dir}/checkpoints", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    own_batches, tests = make_batches()
    for number in range(int(epoch.numpy()), EPOCHS):
        done = int(step.numpy())
        left = (number + 1) * STEPS_PER_EPOCH - done
        data = tf.keras.utils.experimental.DatasetCreator(functools.partial(own_batches, done))
        if left > 0:
            model.fit(
                data, initial_epoch=number, epochs=number + 1, steps_per_epoch=left, verbose=2
            )
        tester.set_weights(model.get_weights())
        if not EVALUATOR:
            tester.evaluate(tests, verbose=2)
        epoch.assign(number + 1)
        manager.save()
    tester.save(f"{run_dir}/model.keras")
