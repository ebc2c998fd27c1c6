from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.parameter_server import make_strategy

    from ..constants import EPOCHS, RUN_EAGERLY, SEED, STEPS_PER_EPOCH, TEST_STEPS
    from ..coordinator import Coordinator
    from ..loops.scheduled import make_loops
    from ..models.mlp import make_model
    from ..pipelines.per_worker import make_batches
    from ..steps.custom_worker import make_steps


def main() -> None:
    """Schedule the steps of a custom loop, from the first step or the last checkpoint."""
    recorder = Coordinator()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
    recorder.restore(strategy, model)
    make_own_batches, tests = make_batches(recorder.worker_steps)
    train_data = iter(recorder.cluster_coordinator.create_per_worker_dataset(make_own_batches))
    test_data = iter(tests)
    train_steps, test_steps = make_loops(strategy, *make_steps(model))
    for epoch in range(recorder.epoch, EPOCHS):
        recorder.train(train_steps, train_data, (epoch + 1) * STEPS_PER_EPOCH - recorder.step)
        if recorder.tested_elsewhere:
            recorder.end_epoch()
        else:
            recorder.test(test_steps, test_data, TEST_STEPS)
    recorder.finish()
