import json
import pathlib
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import EPOCHS, STEPS_PER_EPOCH


def new_checkpoints(run_dir: pathlib.Path, stop: threading.Event) -> Iterator[str]:
    """Yield each checkpoint once, until the chief has finished or a stop is requested."""
    seen, over = set[str](), False
    while not (over or stop.is_set()):
        over = chief_has_finished(run_dir)  # before the list, so its last save counts
        saved = tf.train.get_checkpoint_state(str(run_dir / "checkpoints"))
        for path in saved.all_model_checkpoint_paths if saved else ():
            if path not in seen and not stop.is_set():
                seen.add(path)
                yield path
        time.sleep(0.2)


def chief_has_finished(run_dir: pathlib.Path) -> bool:
    """Return whether the chief has reported its last step; after that it saves nothing."""
    try:
        events = (run_dir / "chief-0" / "events.jsonl").read_text().splitlines()
        last = json.loads(events[-1])
    except (OSError, ValueError, IndexError):
        return False  # no event yet, or a half-written line
    # An earlier attempt that finished had fewer steps to do.
    return bool(last["event"] == "finished" and last["step"] == EPOCHS * STEPS_PER_EPOCH)
