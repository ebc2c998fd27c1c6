"""The workers of a strategy that step together: they also stop, save and count together."""

import contextlib
import functools
import json
import pathlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from .folder.events import tasks_of

AGREE_SECONDS = 0.2
"""About the time between two agreements, each of which takes some milliseconds."""
LEAVING_SECONDS = 10.0
"""The longest wait at the end for other workers."""
HEARTBEAT_MILLISECONDS = 120_000
"""How long workers wait for a silent one, which may come back. By itself, TensorFlow waits 10 s."""


class Workers:
    """The workers that step together, seen from one of them; it can be the only one."""

    def __init__(
        self, run_dir: pathlib.Path | None, task: str, tf_config: str, run: Callable
    ) -> None:
        """Take the workers from TF_CONFIG. `run` is `Strategy.run`, unwatched."""
        self.dir, self.task, self.run = run_dir, task, run
        together = tasks_of(tf_config)
        self.tasks = together if task in together else [task]
        self.strategy: Any = None
        """What sums over the workers, once it has run something."""
        self.calls, self.calls_left, self.agreed_at = 0, 0, time.monotonic()
        if len(self.tasks) > 1:
            be_patient()

    @property
    def count(self) -> int:
        """The workers that step together, as far as that is known."""
        return len(self.tasks) if self.strategy else 1

    def use(self, strategy: Any) -> None:
        """Take a strategy that runs something, if it makes workers step together."""
        if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
            self.strategy = strategy

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """Let this worker go at its own pace, and do what the others do not do."""
        together, self.strategy = self.strategy, None
        try:
            yield
        finally:
            self.strategy = together

    @property
    def leads(self) -> bool:
        """Whether this is the worker whose checkpoints count."""
        return self.task == self.tasks[0]

    def first_replica(self, local: int) -> int:
        """Return the number of this worker's first replica; each worker has `local` of them."""
        return self.tasks.index(self.task) * local

    def enter(self, step: int) -> None:
        """Note for the supervisor that this worker begins a call, in which it waits for others."""
        if self.count > 1 and self.dir is not None:
            with contextlib.suppress(OSError):  # a full disk
                (self.dir / self.task / "entered").write_text(str(step))

    def exchanged(self, values: Any, *, now: bool) -> np.ndarray | None:
        """Return the sums of values [numbers] over all workers, which all have to call this.

        Unless `now`, that is done about every 0.2 s; in between the result is None.
        """
        if self.count == 1:
            return np.asarray(values, float)
        self.calls += 1
        self.calls_left -= 1
        if self.calls_left > 0 and not now:
            return None
        seconds = max(time.monotonic() - self.agreed_at, 1e-6)
        wish = max(1, int(AGREE_SECONDS / seconds * self.calls))
        *sums, wishes = self.summed([*values, wish]).tolist()
        # All workers know the same sum, so they meet again after the same number of calls.
        self.calls, self.calls_left = 0, int(wishes / self.count)
        self.agreed_at = time.monotonic()
        return np.array(sums)

    def summed(self, values: Any) -> np.ndarray:
        """Return the sums of values [numbers] over all workers; each waits here for all others."""
        if self.count == 1:
            return np.asarray(values, float)
        replicas = self.strategy.num_replicas_in_sync // self.count
        return self._add(tf.constant(values, tf.float64)).numpy() / replicas

    @functools.cached_property
    def _add(self) -> Any:
        strategy = self.strategy

        @tf.function
        def add(values: tf.Tensor) -> tf.Tensor:
            return strategy.reduce("SUM", self.run(strategy, tf.identity, (values,)), axis=None)

        return add

    def leave_together(self) -> None:
        """Wait until all workers have reported their end.

        A worker that leaves closes its connections, and with them a sum that others still receive.
        """
        if self.count == 1 or self.dir is None:
            return
        paths = [self.dir / task / "events.jsonl" for task in self.tasks]
        until = time.monotonic() + LEAVING_SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(OSError, ValueError, IndexError):  # a line is being written
                last = [json.loads(path.read_bytes().splitlines()[-1])["event"] for path in paths]
                if set(last) <= {"finished", "stopped"}:
                    return
            time.sleep(0.02)


def be_patient() -> None:
    """Make workers wait longer for a silent one; TensorFlow has no public option for that."""
    with contextlib.suppress(ImportError, AttributeError):
        from tensorflow.python.eager import context

        made = context.context()
        configure = made.configure_coordination_service
        made.configure_coordination_service = functools.partial(
            configure, heartbeat_timeout_in_ms=HEARTBEAT_MILLISECONDS
        )
