"""Steps that a coordinator schedules on workers, which do not wait for each other.

`ClusterCoordinator.schedule` is wrapped. On the worker, the rows of a call's steps go into a queue;
at the end of the call they go to the coordinator together, because a message for each step would
take as long as a third of a small step.
"""

import collections
import contextlib
import json
import os
import pathlib
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import tensorflow as tf
from tensorflow.python.distribute.coordinator import cluster_coordinator
from tensorflow.python.eager.polymorphic_function import polymorphic_function
from tensorflow.python.framework.config import is_op_determinism_enabled
from tensorflow.python.training import server_lib

from .folder.events import STOP_FD
from .folder.records import Kind, WorkersCall, in_order
from .kerases import Patches

CALLS_PER_WORKER = 3
"""The most calls that are scheduled and not done, so that a stop waits for few."""
LOOK_SECONDS = 0.002
MOST_LOOK_SECONDS = 0.02
STOP_SECONDS = 10.0
"""The longest wait at a stop for calls that workers do."""
LEFT = ("finished", "stopped", "failed")
"""Events that a task reports last."""


class Observer(Protocol):
    """What is told of the calls."""

    stop: threading.Event

    def lead(self, workers: int) -> None:
        """A strategy was made that leads so many workers."""

    def scheduling(self, function: Any) -> contextlib.AbstractContextManager[None]:
        """Watch how a function is scheduled, and traced before its first call."""

    def trains(self, function: Any) -> bool | None:
        """Return whether a function trains, or tests; None if it runs no steps."""

    def take_calls(self) -> None:
        """Record what the workers have done."""

    def leave_scheduled(self, settle: Callable[[], None]) -> None:
        """Stop or save if it is time; `settle` waits for the calls that are not done."""

    def all_done(self) -> None:
        """Workers have done all that was scheduled."""


class Scheduled:
    """The calls of a coordinator's workers."""

    def __init__(self, patches: Patches, observer: Observer) -> None:
        """Wrap TensorFlow."""
        self.observer = observer
        self.name = f"observed-{os.getpid()}-{time.time_ns()}"
        self.queues: list[tuple[Any, Any, tuple[str, ...]]] = []
        """Type, shape [replicas, 3 + scalars] and scalars of the rows in each queue of a worker."""
        self.filled: list[int] = []
        """The queues that the function fills which is traced."""
        self.filled_by: dict[Any, list[int]] = {}
        """The same of each function that is scheduled."""
        self.kinds: list[tuple[Kind, Any]] = []
        """Kinds and types of rows; what workers send names one by its number."""
        self.sent: Any = None
        """The queue of what workers have sent of their calls."""
        self.parts = collections.defaultdict[int, list[Any]](list)
        """What each worker has sent of a call whose end is not here yet."""
        self.around: dict[Any, Any] = {}
        self.going = 0
        """The calls that are scheduled and not known to be done."""
        coordinator = cluster_coordinator.ClusterCoordinator
        patches.wrap(coordinator, "schedule", self._watched_schedule)
        patches.before(coordinator, "join", self._begin_join)
        patches.after(coordinator, "join", self._end_join)
        strategy = tf.distribute.ParameterServerStrategy
        patches.before(strategy, "__init__", self._wait_for_servers)
        patches.after(strategy, "__init__", self._lead)

    def take(self) -> Iterator[WorkersCall]:
        """Yield the calls done since the last time."""
        while self.sent is not None and int(self.sent.size()):
            worker, number, ends, rows, times, span = (e.numpy() for e in self.sent.dequeue())
            kind, dtype = self.kinds[number]
            self.parts[worker].append((kind, rows.astype(dtype), times))
            if ends:
                self.going -= 1
                yield WorkersCall(int(worker), *in_order(self.parts.pop(worker)), span)

    def put(
        self,
        rows: tf.Tensor,
        scalars: tuple[str, ...],
        began: tf.Tensor,
        operations: Sequence[tf.Operation],
    ) -> None:
        """In the graph of a worker's step, keep its row once these operations are done."""
        queue = rows.dtype, rows.shape.as_list(), scalars
        if queue not in self.queues:
            self.queues.append(queue)
        self.filled.append(self.queues.index(queue))
        # As a group, of which each device sends one message. Otherwise each operation sends one.
        with tf.control_dependencies([rows, tf.group(*operations)]):
            times = tf.stack([began, moment()])
            handle = self._on_worker(self.filled[-1])
            tf.raw_ops.QueueEnqueueV2(handle=handle, components=[rows, times])

    def _on_worker(self, number: int) -> tf.Tensor:
        dtype, shape, _ = self.queues[number]
        return tf.raw_ops.FIFOQueueV2(
            component_types=[dtype, tf.float64],
            shapes=[shape, [2]],
            capacity=-1,
            shared_name=f"{self.name}-{number}",
        )

    def _taken(self, number: int) -> tuple[tf.Tensor, tf.Tensor]:
        """In the graph of a worker's call, return the rows in a queue, and their times."""
        queue = self._on_worker(number)
        rows, times = tf.raw_ops.QueueDequeueManyV2(
            handle=queue,
            n=tf.raw_ops.QueueSizeV2(handle=queue),
            component_types=[self.queues[number][0], tf.float64],
        )
        return rows, times

    def _wait_for_servers(self, _: Any, cluster_resolver: Any, *__: Any, **___: Any) -> None:
        wait_for_servers(cluster_resolver.cluster_spec(), self.observer.stop)

    def _lead(self, result: None, strategy: Any, *_: Any, **__: Any) -> None:
        self.observer.lead(strategy._num_workers)

    def _watched_schedule(self, schedule: Callable) -> Callable:
        def watched(coordinator: Any, fn: Any, args: Any = None, kwargs: Any = None) -> Any:
            if not isinstance(fn, polymorphic_function.Function):
                return schedule(coordinator, fn, args, kwargs)
            most, pause = CALLS_PER_WORKER * coordinator.strategy._num_workers, Pause()
            while self.going >= most and not self.observer.stop.is_set():
                done = coordinator.done()
                self.observer.take_calls()
                if done:  # calls that failed have reported nothing
                    self.going = 0
                pause.wait()
            with self.observer.scheduling(fn):
                result = schedule(coordinator, self._with_rows(fn), args, kwargs)
            if self.observer.trains(fn) is not None:
                self.going += 1
                self.observer.leave_scheduled(lambda: self._settle(coordinator))
            return result

        return watched

    def _begin_join(self, coordinator: Any) -> None:
        self._settle(coordinator)
        self.observer.leave_scheduled(lambda: None)

    def _end_join(self, *_: Any) -> None:
        self.observer.all_done()
        self.going = 0

    def _settle(self, coordinator: Any) -> None:
        """Wait until workers have done all calls, after a stop for some time at most.

        Then a call that hangs is given up, although the script may have counted its steps.
        """
        stopped_at, pause = None, Pause()
        while not coordinator.done():
            self.observer.take_calls()
            if self.observer.stop.is_set():
                stopped_at = stopped_at or time.monotonic()
                if time.monotonic() - stopped_at > STOP_SECONDS:
                    break
            pause.wait()
        self.observer.take_calls()

    def _with_rows(self, function: Any) -> Any:
        """Return a function that also sends the rows of its steps to the coordinator."""
        if function not in self.around:
            self.around[function] = tf.function(
                self._sending(function), input_signature=function.input_signature, autograph=False
            )
        return self.around[function]

    def _sending(self, function: Any) -> Callable:
        @tf.function(autograph=False)
        def call(*args: Any, **named: Any) -> tuple[Any, tf.Tensor]:
            return function(*args, **named), tf.constant(0)  # it may return nothing to wait for

        def sending(*args: Any, **named: Any) -> Any:
            began, self.filled = moment(), []
            with tf.control_dependencies([began]):
                result, done = call(*args, **named)
            trains = self.observer.trains(function)
            if trains is None:
                return result
            filled = list(dict.fromkeys(self.filled)) or self.filled_by.get(function, [])
            self.filled_by[function] = filled
            with tf.init_scope():
                if self.sent is None:
                    dtypes = [tf.int64, tf.int64, tf.bool, tf.float64, tf.float64, tf.float64]
                    self.sent = tf.queue.FIFOQueue(1_000_000, dtypes)
            for queue in filled:
                with tf.control_dependencies([done]):
                    rows, times = self._taken(queue)
                with tf.control_dependencies([rows]):
                    worker = tf.distribute.coordinator.experimental_get_current_worker_index()
                    span = tf.stack([began, moment()])
                    dtype, _, scalars = self.queues[queue]
                    kind, ends = tf.constant(len(self.kinds), tf.int64), queue == filled[-1]
                    self.kinds.append((Kind(trains, scalars), dtype.as_numpy_dtype))
                    rows = tf.cast(rows, tf.float64)
                    done = self.sent.enqueue([worker, kind, ends, rows, times, span])
            return result

        return sending


class Pause:
    """Waits between looks at workers: longer and longer, as looks take their machine's time."""

    def __init__(self) -> None:
        self.seconds = LOOK_SECONDS

    def wait(self) -> None:
        """Wait until the next look."""
        time.sleep(self.seconds)
        self.seconds = min(2 * self.seconds, MOST_LOOK_SECONDS)


def wait_for_servers(cluster: tf.train.ClusterSpec, stop: threading.Event) -> None:
    """Wait until all workers and parameter servers accept connections.

    TensorFlow itself would try again only a second after a refused connection:
    fixed_reconnect_backoff_ms in its grpc_channel.cc.
    """
    for address in (
        each for job in cluster.jobs if job != "chief" for each in cluster.job_tasks(job)
    ):
        host, _, port = address.rpartition(":")
        while not stop.is_set():
            with contextlib.suppress(OSError):
                socket.create_connection((host.strip("[]"), int(port)), timeout=1).close()
                break
            stop.wait(LOOK_SECONDS)


def moment() -> tf.Tensor:
    """Return the time when a graph comes to this operation: float64, in seconds since 1970."""
    # A clock is not deterministic, so TensorFlow then refuses it.
    return tf.constant(0, tf.float64) if is_op_determinism_enabled() else tf.timestamp()


def watch_servers(
    patches: Patches,
    leader: pathlib.Path | None,
    task: str,
    stop: threading.Event,
    event: Callable[[str], None],
) -> None:
    """Report when this process serves a coordinator; after a stop it ends with it.

    So does an evaluator, which a stop may find waiting for a checkpoint. Without a supervisor, none
    of them waits for a stop, but an evaluator still tests what was trained to the end. `leader` is
    the folder of the leading task.
    """
    path = None if leader is None else leader / "events.jsonl"
    earlier = 0  # bytes; times do not tell which events are new, as the chief's clock can differ
    with contextlib.suppress(OSError):
        earlier = path.stat().st_size if path else 0
    by_hand, evaluates = STOP_FD not in os.environ, task.startswith("evaluator-")

    def end_with_leader() -> None:
        if not by_hand:
            stop.wait()
        seen, left = earlier, LEFT[1:] if by_hand and evaluates else LEFT
        while path is not None:
            # Before the first event, and while a line is half written, there is no last event.
            with contextlib.suppress(OSError, ValueError, IndexError):
                if (size := path.stat().st_size) > seen:
                    if json.loads(path.read_bytes()[earlier:].splitlines()[-1])["event"] in left:
                        os._exit(0)
                    seen = size
            time.sleep(0.2)

    ending = threading.Thread(target=end_with_leader, daemon=True)
    if evaluates:
        ending.start()

    def serve(_: Any) -> None:
        event("serving")
        if by_hand and threading.current_thread() is threading.main_thread():
            for number in signal.SIGINT, signal.SIGTERM:  # no Python runs while the server waits
                signal.signal(number, signal.SIG_DFL)
        if ending.ident is None:
            ending.start()

    patches.before(server_lib.Server, "join", serve)
