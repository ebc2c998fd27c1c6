from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import SEED, STEPS_PER_EPOCH, TEST_STEPS, WORKERS
    from ..loops.scheduled import make_loops
    from ..models.mlp import make_model
    from ..pipelines.per_worker import make_batches
    from ..recorder import Recorder
    from ..steps.custom_worker import make_steps
    from .new_checkpoints import new_checkpoints


def evaluate_checkpoints() -> None:
    """Test the checkpoint at the end of each epoch, while the other tasks train."""
    recorder = Recorder()
    if not recorder.dir:
        raise SystemExit("Needs --run-dir, where the chief saves its checkpoints; got none.")
    tf.config.set_visible_devices([], "GPU")
    tf.keras.utils.set_random_seed(SEED)
    model, progress = make_model(), tf.Variable([0.0] * 6, dtype=tf.float64)
    checkpoint = tf.train.Checkpoint(model=model, progress=progress)
    batches = iter(make_batches(np.zeros(WORKERS, np.int64))[1])
    _, test_steps = make_loops(tf.distribute.get_strategy(), *make_steps(model))
    recorder.event("serving")
    tested = 0
    for path in new_checkpoints(recorder.dir, recorder.stop):
        try:
            checkpoint.restore(path).expect_partial()
        except tf.errors.OpError:
            continue  # deleted, because the chief keeps three and tests can be slow; or damaged
        step, epoch = progress.numpy()[:2].astype(int).tolist()
        if epoch > tested and step == epoch * STEPS_PER_EPOCH:
            rows = test_steps(batches, tf.constant(TEST_STEPS)).numpy()
            loss, correct, examples = rows.sum(axis=(0, 1), dtype=float)
            result = {"test_loss": loss / examples, "test_accuracy": correct / examples}
            recorder.event("evaluated", epoch=epoch, step=step, **result)
            tested = epoch
    recorder.event("finished")
