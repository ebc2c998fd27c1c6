from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from workbench.engine.strategies.cpu.mirrored import make_strategy

    from ..constants import (
        EPOCHS,
        RUN_EAGERLY,
        SEED,
        STEPS_PER_EPOCH,
        STEPS_PER_EXECUTION,
        TEST_STEPS,
    )
    from ..loops.usual import make_loops
    from ..models.mlp import make_model
    from ..pipelines.usual import make_batches
    from ..recorder import Recorder
    from ..steps.fit import make_steps


def main() -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    recorder = Recorder()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
        model.steps_per_execution = STEPS_PER_EXECUTION
    recorder.restore(strategy, model)
    train_data, test_data = make_batches(strategy, recorder.step)
    train_steps, test_steps = make_loops(strategy, *make_steps(model))

    def train_function(iterator: tf.distribute.DistributedIterator) -> dict[str, float]:
        left = (recorder.epoch + 1) * STEPS_PER_EPOCH - recorder.step
        return recorder.train(train_steps, iterator, min(STEPS_PER_EXECUTION, left))

    def test_function(iterator: tf.distribute.DistributedIterator) -> dict[str, float]:
        return recorder.test(test_steps, iterator, TEST_STEPS)

    # Keras calls these for every execution; they run Keras' steps and record each.
    model.train_function, model.test_function = train_function, test_function
    model._maybe_symbolic_build = lambda **_: None  # built above; else Keras takes a batch
    model.fit(
        train_data,
        initial_epoch=recorder.epoch,
        epochs=EPOCHS,
        steps_per_epoch=STEPS_PER_EPOCH,
        validation_data=test_data,
        validation_steps=1,
        shuffle=False,
        verbose=0,
    )
    recorder.finish()
