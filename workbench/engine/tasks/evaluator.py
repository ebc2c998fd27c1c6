import time
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import EPOCHS, SEED, TEST_STEPS, WORKERS
    from ..loops.scheduled import make_loops
    from ..models.mlp import make_model
    from ..pipelines.per_worker import make_data
    from ..recorder import Recorder
    from ..steps.custom_worker import make_steps


def evaluate_checkpoints() -> None:
    """Test the newest checkpoint whenever an epoch is over, while the others train on."""
    recorder = Recorder()
    if not recorder.dir:
        raise SystemExit("Needs --run-dir, where the chief saves its checkpoints; got none.")
    tf.config.set_visible_devices([], "GPU")
    tf.keras.utils.set_random_seed(SEED)
    model, progress = make_model(), tf.Variable([0.0] * 6, dtype=tf.float64)
    checkpoint = tf.train.Checkpoint(model=model, progress=progress)
    batches = iter(make_data(np.zeros(WORKERS, np.int64))[1])
    _, test_steps = make_loops(tf.distribute.get_strategy(), *make_steps(model))
    recorder.event("serving")
    tested, seen = 0, None
    while tested < EPOCHS and not recorder.stop.is_set():
        newest = tf.train.latest_checkpoint(str(recorder.dir / "checkpoints"))
        if newest != seen:
            checkpoint.restore(newest).expect_partial()
            seen, (step, epoch) = newest, progress.numpy()[:2].astype(int).tolist()
            if epoch > tested:
                loss, correct, examples = (
                    test_steps(batches, tf.constant(TEST_STEPS))
                    .numpy()
                    .sum(axis=(0, 1), dtype=float)
                )
                result = {"test_loss": loss / examples, "test_accuracy": correct / examples}
                recorder.event("evaluated", epoch=epoch, step=step, **result)
                tested = epoch
        time.sleep(0.2)
    recorder.event("finished")
