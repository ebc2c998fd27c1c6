# ---- Recorder of workers that do not step together. ----
import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections import deque
from typing import Any

import numpy as np
import tensorflow as tf


def take_done(calls: deque[Any], stop: threading.Event) -> list[Any]:
    """Wait for finished calls, after a stop for ten seconds at most; remove and return them.

    A call that hangs delays no other call, except if it hangs at once: TensorFlow makes all wait
    until its worker has released the previous result. TensorFlow fetches each result by itself, and
    repeats a call whose worker died. A RemoteValue has no public property that shows it is ready.
    """
    began = time.monotonic()
    while calls and not (stop.is_set() and time.monotonic() - began > 10):
        # The newest first: if a worker's newer call is done, so are all its older calls.
        done = [call for call in reversed(calls) if call._has_fetched_to_local or call._error]
        if done:
            for call in done:
                calls.remove(call)
            return done
        time.sleep(0.002)
    return []


def end_with_chief(recorder: Recorder) -> None:
    """If the supervisor dies, end this process after the chief has saved and ended."""
    if not recorder.dir:
        return
    path = recorder.dir / "chief-0" / "events.jsonl"
    earlier = 0  # bytes; times do not tell which events are new, as the chief's clock can differ
    with contextlib.suppress(OSError):
        earlier = path.stat().st_size

    def watch() -> None:
        recorder.stop.wait()
        while True:
            # Before the first event, and while a line is half written, there is no last event.
            with contextlib.suppress(OSError, ValueError, IndexError):
                last = json.loads(path.read_bytes()[earlier:].splitlines()[-1])
                if last["event"] in ("stopped", "finished"):
                    os._exit(0)
            time.sleep(0.2)

    threading.Thread(target=watch, daemon=True).start()


def wait_for_servers(cluster: dict[str, Any], stop: threading.Event) -> None:
    """Wait until all workers and parameter servers accept connections.

    TensorFlow itself would try again only a second after a refused connection:
    fixed_reconnect_backoff_ms in its grpc_channel.cc.
    """
    spec = tf.train.ClusterSpec(cluster)
    for address in (each for job in spec.jobs if job != "chief" for each in spec.job_tasks(job)):
        host, _, port = address.rpartition(":")
        while not stop.is_set():
            with contextlib.suppress(OSError):
                socket.create_connection((host.strip("[]"), int(port)), timeout=1).close()
                break
            stop.wait(0.02)


class Coordinator(Recorder):
    """A recorder whose workers run the steps, each at its own pace, with records of each worker."""

    def __init__(self) -> None:
        super().__init__()
        wait_for_servers(self.cluster, self.stop)

    @property
    def tested_elsewhere(self) -> bool:
        """Whether an evaluator tests the checkpoints; not if the script itself starts its tasks."""
        return EVALUATOR and "WORKBENCH_NO_EVALUATOR" not in os.environ

    def restore(
        self, strategy: tf.distribute.Strategy, model: tf.keras.Model, **more: tf.Variable
    ) -> None:
        """Resume from the last checkpoint, which also holds how many steps each worker did."""
        self.cluster_coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        self.done = tf.Variable([0] * WORKERS, dtype=tf.int64)
        super().restore(strategy, model, worker_steps=self.done, **more)
        self.begin_records()
        self.event("start", step=self.step, epoch=self.epoch, workers=WORKERS)

    def begin_records(self) -> None:
        """Begin the records of each worker at its own step."""
        self.worker_steps = self.done.numpy()
        if self.dir:
            folders = [self.dir / f"worker-{number}" for number in range(WORKERS)]
            self.by_worker = [Records(folder) for folder in folders]
            for records, step in zip(self.by_worker, self.worker_steps):
                records.folder.mkdir(exist_ok=True)
                with contextlib.suppress(OSError):  # a full disk
                    records.begin(int(step))

    def save(self, *, wait: bool = False, stopping: bool = False) -> None:
        """Save the state of training, with how many steps each worker did."""
        self.done.assign(self.worker_steps)
        super().save(wait=wait, stopping=stopping)

    def train(self, steps: Any, data: Any, count: int) -> dict[str, float]:
        """Run `count` steps in calls of about 0.2 s, as fast as the workers take them."""
        calls, began = deque[Any](), time.perf_counter()
        while count > 0 or calls:
            while count > 0 and len(calls) < 3 * WORKERS and not self.stop.is_set():
                size = min(count, STEPS_PER_CALL or self.steps_per_call)
                call = self.cluster_coordinator.schedule(steps, args=(data, tf.constant(size)))
                calls.append(call)
                count -= size
            results = [call.fetch() for call in take_done(calls, self.stop)]
            for result in sorted(results, key=lambda each: each[3][0]):  # in the order they began
                self.take(*result)
            if self.stop.is_set() and not results:
                self.sums[3] += time.perf_counter() - began
                self.save(wait=True, stopping=True)
                self.end("stopped", step=self.step)
                sys.exit(0)
        self.sums[3] += time.perf_counter() - began
        done = {f"worker-{n}": int(s) for n, s in enumerate(self.worker_steps)}
        self.more = {"worker_steps": done}
        return dict(zip(("loss", "accuracy"), self.sums[:2] / self.sums[2]))

    def take(
        self, worker: np.ndarray, rows: np.ndarray, times: np.ndarray, span: np.ndarray
    ) -> None:
        """Record a worker's call, and when each of its steps read the weights and updated them."""
        number, start, seconds = int(worker), float(span[0]), float(span[1] - span[0])
        first = int(self.worker_steps[number])
        self.worker_steps[number] += len(rows)
        if self.dir:
            try:
                self.by_worker[number].append(first, rows, start, seconds)
                with open(self.by_worker[number].folder / "updates", "ab") as file:
                    file.write(np.column_stack([first + np.arange(len(rows)), times]).tobytes())
            except OSError as error:
                lost = {"worker": number, "steps": len(rows), "error": str(error)}
                self.event("unrecorded", worker_first_step=first, **lost)
        for step, _ in np.argwhere(~np.isfinite(rows[..., 0]))[:1].tolist():
            self.event("nonfinite", step=first + step, worker=number, replica=number)
            sys.exit(3)
        self.step += len(rows)
        self.sums[:3] += rows.sum(axis=(0, 1), dtype=float)
        longest = int(0.2 * len(rows) / max(seconds, 1e-9))
        self.steps_per_call = max(1, min(longest, 4 * self.steps_per_call, 10_000))
        if self.is_due:
            self.save()
