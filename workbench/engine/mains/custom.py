from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.mirrored import make_strategy

    from ..constants import EPOCHS, RUN_EAGERLY, SEED, STEPS_PER_EPOCH, TEST_STEPS
    from ..loops.usual import make_loops
    from ..models.mlp import make_model
    from ..pipelines.usual import make_batches
    from ..recorder import Recorder
    from ..steps.custom_own import make_steps


def main() -> None:
    """Train with a custom loop, from the first step or from the last checkpoint."""
    recorder = Recorder()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
    recorder.restore(strategy, model)
    train_data, test_data = make_batches(strategy, recorder.step)
    train_data = iter(train_data)
    train_steps, test_steps = make_loops(strategy, *make_steps(model))
    for epoch in range(recorder.epoch, EPOCHS):
        recorder.train(train_steps, train_data, (epoch + 1) * STEPS_PER_EPOCH - recorder.step)
        recorder.test(test_steps, iter(test_data), TEST_STEPS)
    recorder.finish()
