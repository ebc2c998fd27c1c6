"""The epochs of a training: where they end, and what is reported of them.

Losses, correct answers and examples of the steps are summed. What Keras models measure beside
these, such as compiled metrics, is read before it is reset.
"""

import threading
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from . import kerases
from .kerases import Patches
from .rows import LOSS
from .workers import Workers

FOLLOWED = (*kerases.MEANS, *kerases.GROUPS)
"""The classes of metrics of which it is known whether a step updates them."""


class Observer(Protocol):
    """What knows the run."""

    lock: threading.RLock
    workers: Workers

    @property
    def is_led(self) -> bool:
        """Whether this process leads workers that do the steps."""

    def event(self, name: str, **values: Any) -> None:
        """Report an event."""

    def take_calls(self) -> None:
        """Record what the workers have done."""

    def position(self) -> dict[str, Any]:
        """Return the steps done, for an event."""


class Epochs:
    """The sums and results of the epoch that goes on, and where it ends."""

    def __init__(self, patches: Patches, observer: Observer) -> None:
        """Wrap Keras."""
        self.observer, self.measured = observer, Measured()
        for owner in kerases.RESETTERS:
            patches.before(owner, "reset_metrics", self.resets)
        for owner in kerases.EVALUATORS:
            patches.after(owner, "evaluate", self.evaluated)
        for owner in kerases.CALLBACKS:
            patches.before(owner, "on_epoch_end", self.fitted)
        self.over = 0
        """The epochs that are over."""
        self.sums, self.tests = np.zeros(4), np.zeros(3)
        """Loss, correct answers and examples of this epoch so far; of training, also seconds."""
        self.unshared = np.zeros(7)
        """What this worker has to add to both, in the same order."""
        self.result: dict[str, float] = {}
        """Of the last epoch."""
        self.metrics: dict[str, float | None] = {}
        """What the model has measured in this epoch, beside loss and accuracy."""
        self.reads: list[tuple[Any, dict[str, Any]]] = []
        """Objects that read checkpoints of this run before the training, and what these counted."""
        self.optimizer: Any = None
        """The optimizer that trains."""
        self.trained = self.unknown = False
        """Whether this process has trained; whether the optimizer was then read again."""
        self.testing = self.has_tests = False
        self.is_over = self.is_tested = False
        """Whether `fit` has ended this epoch; whether the model was tested since it trained."""
        self.unread = self.partial = self.miscounts = False
        """Whether steps were done since the metrics were read; whether an earlier process began
        this epoch; whether the metrics of Keras miscount.
        """

    # What is counted.

    def counts(self) -> dict[str, Any]:
        """Return what a process needs to go on in this epoch."""
        if self.observer.workers.count == 1:
            self.share()
        counted = {"epoch": self.over, "sums": self.sums.tolist()}
        return {**counted, "result": self.result, "metrics": self.metrics}

    def go_on(self, counts: dict[str, Any]) -> None:
        """Go on from counts."""
        self.over, self.sums = counts["epoch"], np.array(counts["sums"], float)
        self.result, self.metrics = counts.get("result", {}), counts.get("metrics", {})
        self.partial, self.has_tests = bool(self.sums[2]), "test_loss" in self.result
        self.unshared, self.is_over, self.is_tested = np.zeros(7), False, False

    def read(self, reader: Any, counts: dict[str, Any] | None) -> None:
        """Note that an object has read a checkpoint, and what that has counted, if known."""
        if self.trained:
            self.unknown = self.unknown or holds(reader, self.optimizer)
        elif counts is not None:
            self.reads.append((reader, counts))

    def read_with(self, optimizer: Any) -> dict[str, Any] | None:
        """Return what the last checkpoint has counted that was read with this optimizer, if any."""
        found = [counts for reader, counts in self.reads if holds(reader, optimizer)]
        return found[-1] if found else None

    def add_rows(self, rows: np.ndarray, seconds: float, *, trains: bool) -> None:
        """Add the rows of steps that took so many seconds."""
        sums = rows[..., :3].sum(axis=(0, 1), dtype=float)
        if trains:
            self.trained, self.unknown, self.reads = True, False, []
            self.unshared[:4] += [*sums, seconds]
        elif not self.is_tested:
            self.unshared[4:] += sums

    def share(self) -> None:
        """Add what the workers have done, all of which have to call this."""
        with self.observer.lock:
            self.add(self.observer.workers.summed(self.unshared))

    def add(self, sums: np.ndarray) -> None:
        """Add what all workers have done."""
        sums[3] /= self.observer.workers.count  # seconds
        self.sums += sums[:4]
        self.tests += sums[4:]
        self.unshared[:] = 0

    # Where epochs end.

    def enter(self, *, trains: bool) -> None:
        """Note that steps begin that train, or test."""
        if not trains and not self.testing:
            self.observer.event("test", epoch=self.over + 1)
            self.tests = np.zeros(3)
        elif trains and (self.testing or self.is_over):
            if not self.testing and self.observer.workers.count > 1:
                self.share()
            self.end()
        self.testing, self.unread = not trains, True

    def saves(self) -> None:
        """Note that the script saves by itself: an epoch ends there, or after its tests."""
        if self.testing or self.is_over or not self.has_tests:
            self.end()

    def fitted(self, callbacks: Any, *_: Any, **__: Any) -> None:
        """Note the end of an epoch of `fit`, whose tests may follow."""
        self._share_of(getattr(callbacks, "model", None))
        self.is_over = True

    def resets(self, model: Any) -> None:
        """Note that a model begins to measure anew."""
        self._share_of(model)
        self.measured.model = model
        self.read_metrics()

    def _share_of(self, model: Any) -> None:
        """Add what the workers have done, if all of them are here with the model that they train.

        A model of another strategy, such as one that only the first worker tests, is not theirs.
        """
        workers = self.observer.workers
        theirs = getattr(model, "distribute_strategy", None) is workers.strategy
        if workers.count > 1 and theirs and self.unread and not self.testing:
            self.share()

    def evaluated(self, *_: Any, **__: Any) -> None:
        """Note the end of a test: the first one after the training is that of the epoch.

        If this script only reads the training of the model, report it.
        """
        self.read_metrics()
        self.is_tested = True
        if not (self.sums[2] or self.unshared[2]):
            self.end()

    def end(self) -> None:
        """Report the results of an epoch, unless no step was done since the last one."""
        self.observer.take_calls()
        with self.observer.lock:
            self._end()

    def _end(self) -> None:
        self.read_metrics()
        self.is_over = self.is_tested = False
        if self.observer.workers.count == 1:
            self.share()
        if not self.sums[2]:
            self._end_test()
            return
        self.has_tests = self.has_tests or bool(self.tests[2])
        results = {"loss": self.sums[0] / self.sums[2], "accuracy": self.sums[1] / self.sums[2]}
        if self.tests[2]:
            results |= self._test_results()
        results["examples_per_second"] = self.sums[2] / self.sums[3]
        if self.unshared.any():
            results = {}  # this worker does not know them
        self.result = rounded(results)
        self.over += 1
        self.sums, self.tests, self.testing = np.zeros(4), np.zeros(3), False
        self.unshared = np.zeros(7)
        more: dict[str, Any] = {"metrics": self.metrics} if self.metrics else {}
        more |= self.observer.position()
        self.observer.event("epoch", epoch=self.over, **self.result, **more)
        self.metrics, self.partial = {}, False

    def _end_test(self) -> None:
        if self.tests[2] and self.reads:
            more: dict[str, Any] = {"metrics": self.metrics} if self.metrics else {}
            more |= {name: self.reads[-1][1][name] for name in ("epoch", "step")}
            self.observer.event("evaluated", **more, **rounded(self._test_results()))
        self.tests, self.metrics, self.testing = np.zeros(3), {}, False

    def _test_results(self) -> dict[str, float]:
        loss, accuracy, _ = self.tests / self.tests[2]
        return {"test_loss": loss, "test_accuracy": accuracy}

    def read_metrics(self) -> None:
        """Read what the model has measured since the last time."""
        if not self.unread or self.is_tested or self.measured.model is None:
            return
        self.unread = False
        if self.observer.is_led and not self.testing:
            return  # workers that do not wait for each other lose some counts
        phase, sums = ("test_", self.tests) if self.testing else ("", self.sums)
        own = self.unshared[4:] if self.testing else self.unshared[:4]
        results = self.measured.results(trains=not self.testing)
        if self.partial or self.miscounts:
            examples = sums[2] + self.observer.workers.summed(own[2:3])[0]
            if not self.measured.has_counted(examples):
                results = dict.fromkeys(results)
        self.metrics |= {phase + name: value for name, value in results.items()}


def parts_of(checkpoint: Any) -> list[Any]:
    """Return all objects that a checkpoint holds."""
    return list(tf.train.TrackableView(checkpoint).descendants())


def holds(checkpoint: Any, optimizer: Any) -> bool:
    """Return whether a checkpoint holds an optimizer; None is a training without one."""
    if optimizer is None:
        return True
    calls = kerases.calls_of(optimizer)
    return any(kerases.variable_of(each) is calls for each in parts_of(checkpoint))


def rounded(results: dict[str, float]) -> dict[str, float]:
    """Return results with six digits."""
    return {name: float(f"{value:.6g}") for name, value in results.items()}


class Measured:
    """The results of a model's metrics, read before they are reset."""

    def __init__(self) -> None:
        self.model: Any = None
        """The model whose metrics were reset last."""
        self.updated: dict[bool, set[int]] = {True: set(), False: set()}
        """The metrics that steps update, by id: those that train, and those that test."""

    def results(self, *, trains: bool) -> dict[str, float | None]:
        """Return what the model has measured; None: unknown, because no step measures it."""
        found = dict[str, float | None]()
        compile_loss = getattr(self.model, "_compile_loss", None)
        compile_loss = compile_loss or getattr(self.model, "compiled_loss", None)  # of tf-keras
        # The loss of each output is left out: in it, a short batch weighs as much as a full one.
        losses = {id(each) for each in getattr(compile_loss, "metrics", ())}
        metrics = [each for each in self.model.metrics if id(each) not in losses]
        followed = {id(each) for each in metrics if isinstance(each, FOLLOWED)}
        if followed and followed.isdisjoint(self.updated[True] | self.updated[False]):
            return {}  # a model of which no step was watched
        for metric in metrics if getattr(self.model, "compiled", True) else ():
            if metric.name == LOSS:
                continue
            known = id(metric) not in followed or id(metric) in self.updated[trains]
            result = metric.result()
            for name, value in numbers(
                result if isinstance(result, dict) else {metric.name: result}
            ):
                rounded = value if value.is_integer() else float(f"{value:.6g}")
                found[name] = rounded if known and np.isfinite(value) else None
        return found

    def has_counted(self, examples: float) -> bool:
        """Return whether a metric has counted so many examples, and so all of the epoch."""
        means = [each for each in self.model.metrics if isinstance(each, kerases.MEANS)]
        return any(float(np.asarray(each.count)) == examples for each in means)


def numbers(results: dict[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Yield names and numbers; leave out arrays, such as one value per class, and None."""
    for name, value in results.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{before}{name}_")
        elif (
            value is not None
            and (found := np.asarray(value)).ndim == 0
            and found.dtype.kind in "biuf"
        ):
            yield before + name, float(found)
