"""The calls of graph functions by the script, and of `Strategy.run` in them.

Training can stop where a graph function returns. In `Strategy.run`, each replica adds its row of
numbers to what its step returns. In a graph, the rows of all replicas go into a queue together with
the time; `Runs.take` empties the queues.
"""

import collections
import functools
import itertools
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import tensorflow as tf
from tensorflow.python.autograph.core import ag_ctx
from tensorflow.python.autograph.impl import api as autograph
from tensorflow.python.distribute import distribute_lib, tpu_strategy
from tensorflow.python.eager.polymorphic_function import autograph_util, polymorphic_function
from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction
from tensorflow.python.framework import func_graph

from .folder.records import Kind, in_order
from .kerases import Patches
from .rows import Step, is_inside, reporting, watch_reports
from .scheduled import moment

LATE_SECONDS = 0.05
"""Longer than it takes from the time of a row until it is in its queue."""
INITIALIZES = b"initialize_variables"
"""In the name of a function by which TensorFlow initializes the variables of another function."""
MOST_WAITING = 1_000_000
"""Steps that wait in a queue until they are taken."""


class Observer(Protocol):
    """What is told of the calls."""

    def traced(self) -> None:
        """A function that runs steps was traced before its first call."""

    def enter(self, trains: bool) -> None:
        """A call that runs steps begins."""

    def leave(self) -> None:
        """A call that ran steps has returned; here training may stop."""


class Compiled:
    """Functions that XLA compiles. They return the rows of their steps: it compiles no queue."""

    def __init__(self, keep: Callable[[Kind, tf.Tensor], None], missed: Callable[[], None]) -> None:
        """`keep` takes rows outside of such a function; `missed` notes that rows are lost."""
        self.keep, self.missed = keep, missed
        self.around: Any = weakref.WeakKeyDictionary[Any, Any]()
        self.kinds: list[Kind] = []
        self.rows: dict[str, tf.Tensor] | None = None
        """The rows of the function that is being traced, by the number of their kind."""
        self.graph: Any = None

    def of(self, function: Any, call: Callable) -> tuple[Any, Callable]:
        """Return the function to call instead of this one, and how to call it."""
        if not function._jit_compile or self.rows is not None or is_inside():
            return function, call
        if function not in self.around:
            self.around[function] = self._with_rows(function)

        def calling(around: Any, *args: Any, **kwargs: Any) -> Any:
            result, rows = call(around, *args, **kwargs)
            with tf.device("CPU:0"):
                for number, each in rows.items():
                    self.keep(self.kinds[int(number)], each)
            return result

        return self.around[function], calling

    def add(self, kind: Kind, rows: tf.Tensor | None) -> None:
        """Have the function that is being traced return these rows.

        Those of a loop cannot leave it, and None is of a worker that cannot keep them.
        """
        if self.rows is None or rows is None or rows.graph is not self.graph:
            self.missed()
            return
        self.rows[str(len(self.kinds))] = rows
        self.kinds.append(kind)

    def _with_rows(self, function: Any) -> Any:
        plain = function.python_function
        if function._autograph:
            plain = autograph_util.py_func_from_autograph(
                plain, function._experimental_autograph_options
            )

        @functools.wraps(function.python_function)
        def with_rows(*args: Any, **kwargs: Any) -> Any:
            self.rows, self.graph = {}, tf.compat.v1.get_default_graph()
            try:
                with ag_ctx.ControlStatusCtx(ag_ctx.Status.UNSPECIFIED):
                    result = plain(*args, **kwargs)
                return result, self.rows
            finally:
                self.rows = self.graph = None

        return tf.function(
            with_rows,
            input_signature=function.input_signature,
            autograph=False,
            jit_compile=True,
            reduce_retracing=function._reduce_retracing,
        )


class Calls:
    """Watches the outermost calls of the main thread."""

    def __init__(self, patches: Patches, observer: Observer, compiled: Compiled) -> None:
        """Wrap graph functions."""
        self.observer, self.thread = observer, threading.current_thread()
        self.compiled = compiled
        self.current: Any = None
        """The function that is being called or traced."""
        self.begins = False
        """Whether it is called, and what it has been traced to is not yet executed."""
        self.traces = 0
        """The graphs that are being made, one in the other."""
        self.kinds: Any = weakref.WeakKeyDictionary[Any, bool | None]()
        """Functions that run steps: whether these train; None while that is not known."""
        patches.wrap(polymorphic_function.Function, "__call__", self._watched)
        patches.wrap(func_graph, "func_graph_from_py_func", self._watched_trace)
        patches.wrap(ConcreteFunction, "_call_flat", self._watched_execution)

    def ran(self) -> bool:
        """Note that a strategy runs something; return whether that is outside all functions."""
        if threading.current_thread() is self.thread and self.current is not None:
            self.kinds.setdefault(self.current, None)
        return self.current is None

    def stepped(self, trains: bool) -> None:
        """Note that the current function trains, or tests."""
        if self.current is not None:
            self.kinds[self.current] = trains or bool(self.kinds.get(self.current))

    def _watched(self, call: Callable) -> Callable:
        def watched(asked: Any, *args: Any, **kwargs: Any) -> Any:
            function, run = self.compiled.of(asked, call)
            outermost = self.current is None and threading.current_thread() is self.thread
            if not (outermost and tf.executing_eagerly()):
                return run(function, *args, **kwargs)
            self.current, self.begins = function, not tf.config.functions_run_eagerly()
            try:
                if not self.begins and self.kinds.get(function) is not None:
                    self.observer.enter(self.kinds[function])
                result = run(function, *args, **kwargs)
            finally:
                self.current, self.begins = None, False
            if function in self.kinds:
                self.observer.leave()
            return result

        return watched

    def _watched_trace(self, trace: Callable) -> Callable:
        def watched(*args: Any, **kwargs: Any) -> Any:
            if threading.current_thread() is not self.thread:
                return trace(*args, **kwargs)
            self.traces += 1
            try:
                return trace(*args, **kwargs)
            finally:
                self.traces -= 1

        return watched

    def _watched_execution(self, execute: Callable) -> Callable:
        def watched(concrete: Any, *args: Any, **kwargs: Any) -> Any:
            if (
                self.begins
                and not self.traces
                and self.current in self.kinds
                and tf.executing_eagerly()
                and threading.current_thread() is self.thread
                and INITIALIZES not in concrete.name
            ):
                self.begins = False
                self.observer.traced()
                if self.kinds[self.current] is not None:
                    self.observer.enter(self.kinds[self.current])
            return execute(concrete, *args, **kwargs)

        return watched


WRITES = "Assign", "Resource", "If", "Case", "While", "StatefulPartitionedCall", "QueueEnqueue"
"""How the types of operations begin that write to variables, or may, or keep a row."""


def writes(operations: Iterable[tf.Operation]) -> list[tf.Operation]:
    """Return those of a graph's operations that change something."""
    return [each for each in operations if each.type.startswith(WRITES)]


class Runs:
    """The rows that steps report, from their replicas to `take`."""

    def __init__(
        self,
        patches: Patches,
        put: Callable[[tf.Tensor, tuple[str, ...], tf.Tensor, list[tf.Operation]], None],
        ran: Callable[[Any], None],
        stepped: Callable[[Step], None],
        missed: Callable[[], None],
        *,
        measures_norms: bool = False,
    ) -> None:
        """Wrap TensorFlow and Keras.

        `put` takes the rows of steps of a coordinator's workers: see `Scheduled`.

        `ran` is called with a strategy before it runs something; `stepped` after a step that ran
        eagerly or was traced, with that of the first replica; `missed` if its row cannot be kept.

        `measures_norms`: rows hold the norms of gradients.
        """
        self.put, self.ran, self.stepped = put, ran, stepped
        self.measures_norms = measures_norms
        self.compiled = Compiled(self._put, missed)
        self.running = threading.local()
        self.queues: dict[tuple[Any, ...], tf.queue.FIFOQueue] = {}
        self.late: dict[tuple[Any, ...], tuple[np.ndarray, np.ndarray]] = {}
        """Rows with their times that were too new to be ordered among those of other kinds."""
        self.done = collections.deque[tuple[Kind, np.ndarray, float]]()
        """Rows of eager steps."""
        watch_reports(patches)
        for owner in (distribute_lib.StrategyBase, tpu_strategy.TPUStrategyV2):
            patches.wrap(owner, "run", self._watched_run)

    def waiting(self) -> bool:
        """Return whether there are new rows."""
        return bool(self.done) or any(int(queue.size()) for queue in list(self.queues.values()))

    def take(self, *, ended: bool) -> Iterator[tuple[Kind, np.ndarray, np.ndarray]]:
        """Yield new rows [steps, replicas, 3 + scalars] with their kind, and each step's time.

        Until the call has `ended`, the newest rows of several kinds are left for the next time.
        """
        until = time.time() - LATE_SECONDS
        done = []
        while self.done:  # another thread may add to it
            done.append(self.done.popleft())
        for kind, part in itertools.groupby(done, key=lambda each: each[0]):
            _, rows, times = zip(*part, strict=True)
            yield kind, np.stack(rows), np.array(times)
        found = collections.defaultdict[Any, list[Any]](list)
        queues = dict(self.queues)
        for (kind, *shape), queue in queues.items():
            key, parts = (kind, *shape), found[kind.trains, *shape]
            if key in self.late:
                parts.append((kind, *self.late.pop(key)))
            if count := int(queue.size()):
                rows, times = (each.numpy() for each in queue.dequeue_many(count))
                known = np.where(times > 0, times, time.time())
                late = known > until
                if not ended and late.any() and self._has_others(kind):
                    self.late[key] = rows[late], known[late]
                    rows, known = rows[~late], known[~late]
                parts.append((kind, rows, known))
        yield from (each for each in map(in_order, filter(None, found.values())) if len(each[1]))

    def _has_others(self, kind: Kind) -> bool:
        return sum(other.trains == kind.trains for other, *_ in self.queues) > 1

    def _watched_run(self, run: Callable) -> Callable:
        def watched(
            strategy: Any, fn: Callable, args: Any = (), kwargs: Any = None, options: Any = None
        ) -> Any:
            if getattr(self.running, "now", False):  # called by the same method of a subclass
                return run(strategy, fn, args, kwargs, options)
            self.ran(strategy)
            steps: list[Step] = []
            # As Strategy.run does, but only the function, not what stands around it.
            status = ag_ctx.control_status_ctx()
            converted = autograph.tf_convert(fn, status, convert_by_default=False)
            step = reporting(converted, keeps_gradients=self.measures_norms)
            graph = None
            if getattr(strategy.extended, "_being_scheduled", False):  # of a coordinator
                graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
            began, earlier = None, 0
            if graph is not None:
                with tf.control_dependencies([tf.group(*writes(graph.get_operations()))]):
                    began = moment()
                earlier = len(graph.get_operations())

            @tf.autograph.experimental.do_not_convert
            def with_row(*values: Any, **named: Any) -> Any:
                result, seen, row = step(*values, **named)
                steps.append(seen)
                return result, row

            self.running.now = True
            try:
                result, rows = run(strategy, with_row, args, kwargs, options)
            finally:
                self.running.now = False
            locals_ = strategy.experimental_local_results(rows)
            if locals_[0] is not None:
                scalars = steps[0].scalars
                if any(each.scalars != scalars for each in steps):  # a replica names others
                    scalars, locals_ = (), [each[:3] for each in locals_]
                if self.compiled.rows is not None:
                    rows = None if graph is not None else tf.stack(locals_)
                    self.compiled.add(Kind(steps[0].trains, scalars), rows)
                elif graph is not None:
                    done = writes(graph.get_operations()[earlier:])
                    self.put(tf.stack(locals_), scalars, began, done)
                else:
                    with tf.device("CPU:0"):
                        self._put(Kind(steps[0].trains, scalars), tf.stack(locals_))
                self.stepped(steps[0])
            return result

        return watched

    def _put(self, kind: Kind, rows: tf.Tensor) -> None:
        if tf.executing_eagerly():
            self.done.append((kind, rows.numpy(), time.time()))
            return
        key = kind, rows.dtype, rows.shape[0]
        with tf.init_scope():
            if key not in self.queues:
                kinds, shapes = [rows.dtype, tf.float64], [rows.shape, []]
                self.queues[key] = tf.queue.FIFOQueue(MOST_WAITING, kinds, shapes)
        with tf.control_dependencies([rows]):
            self.queues[key].enqueue([rows, moment()])
