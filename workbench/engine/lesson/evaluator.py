import pathlib
import time
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import EPOCHS, SEED, STEPS_PER_EPOCH
    from ..pipelines.per_worker import make_batches
    from .tester import make_tester


def evaluate_checkpoints(run_dir: str) -> None:
    """Test the newest checkpoint, again and again, while the other tasks train."""
    tf.config.set_visible_devices([], "GPU")
    tf.keras.utils.set_random_seed(SEED)
    tester = make_tester()
    epoch, step = tf.Variable(0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(epoch=epoch, step=step, model=tester)
    _, tests = make_batches()
    model = pathlib.Path(run_dir, "model.keras")  # saved by the chief at its end
    began, path, tested = time.time(), None, 0
    while tested < EPOCHS:
        over = model.exists() and model.stat().st_mtime > began
        newest = tf.train.latest_checkpoint(f"{run_dir}/checkpoints")
        if newest == path:
            if over:
                break
            time.sleep(0.2)
            continue
        path = newest
        checkpoint.restore(path).expect_partial()
        number = int(epoch.numpy())
        # Another checkpoint can be in the middle of an epoch.
        if number > tested and step == number * STEPS_PER_EPOCH:
            tester.evaluate(tests, verbose=2)
            tested = number
