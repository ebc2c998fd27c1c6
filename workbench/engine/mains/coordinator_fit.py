from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.parameter_server import make_strategy

    from ..constants import EPOCHS, RUN_EAGERLY, SEED, STEPS_PER_EPOCH, TEST_STEPS
    from ..coordinator import Coordinator
    from ..loops.scheduled import make_loops
    from ..models.mlp import make_model
    from ..pipelines.per_worker import make_batches
    from ..steps.fit import make_steps


def main() -> None:
    """Schedule the steps of Keras `fit`, from the first step or the last checkpoint."""
    recorder = Coordinator()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
    recorder.restore(strategy, model)
    make_own_batches, tests = make_batches(recorder.worker_steps)
    test_data = iter(tests)
    train_steps, test_steps = make_loops(strategy, *make_steps(model))

    def train_function(iterator: tf.distribute.DistributedIterator) -> dict[str, float]:
        left = (recorder.epoch + 1) * STEPS_PER_EPOCH - recorder.step
        return recorder.train(train_steps, iterator, left)

    def test(_: int, logs: dict[str, float]) -> None:
        if recorder.tested_elsewhere:
            recorder.end_epoch()
        else:
            results = recorder.test(test_steps, test_data, TEST_STEPS)
            logs.update({f"val_{name}": value for name, value in results.items()})

    # Keras calls this as an epoch's only step; it runs Keras' steps on workers and records each.
    model.train_function = train_function
    model.fit(
        tf.keras.utils.experimental.DatasetCreator(make_own_batches),
        initial_epoch=recorder.epoch,
        epochs=EPOCHS,
        steps_per_epoch=1,
        callbacks=[tf.keras.callbacks.LambdaCallback(on_epoch_end=test)],
        verbose=0,
    )
    recorder.finish()
