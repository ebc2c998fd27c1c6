"""A run's speed and the time left: the one definition, for all places that show them.

Speed is the examples, or steps, of calls divided by the time of these calls and of the gaps between
them. The first call of each attempt, which may trace, and the test passes do not count. Of a run
that trains, it is the speed of the last ten seconds; of any other run, the steady state: all calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.runs.folder.events import Event

from .arrays import Shape, TaskRecords, steady_spans
from .reader import step_files
from .step_files import Doubles, StepFiles, known

RECENT_SECONDS = 10.0
RECENT = f"over the last {RECENT_SECONDS:.0f} seconds of training"
FEWEST_READ = 128


@dataclass(frozen=True)
class Speed:
    """How fast a run trains. One is the other times the examples of a step."""

    steps_per_second: float
    examples_per_second: float


def steady_rate(tasks: Sequence[TaskRecords]) -> float | None:
    """Return the examples per second of a run in the steady state, over all tasks.

    If the number of workers changed, some workers took part only for a part of the time. None if a
    task recorded no call besides the first.
    """
    examples, seconds = [], []
    for task in tasks:
        each_seconds, each_examples = task.steady_seconds(), task.call_examples
        known = np.isfinite(each_seconds) & np.isfinite(each_examples)
        if not known.any():
            return None
        examples.append(float(each_examples[known].sum()))
        seconds.append(float(each_seconds[known].sum()))
    if tasks and len({workers for _, workers in tasks[0].shape.worker_counts}) > 1:
        return sum(examples) / max(seconds)
    return sum(np.divide(examples, seconds)) if tasks else None


def recent_speed(task_dir: Path, shape: Shape, epoch_ends: Sequence[int] = ()) -> Speed | None:
    """Return the speed of a worker over the last ten seconds of training; None if unknown.

    A test pass does not use up the ten seconds. `epoch_ends` are as in `Shape.epochs_of`.
    """
    files = step_files(task_dir, shape.replicas, shape.total_steps)
    calls, spans = _last_calls(files, shape, epoch_ends)
    if not spans.sum() > 0:
        return None
    steps = int(calls[:, 1].sum())
    rows = files.rows(int(calls[0, 0]), steps)
    if not len(rows):
        return None
    rate = steps / float(spans.sum())
    return Speed(rate, rate * float(rows[..., 2].sum(dtype=np.float64)) / len(rows))


def _last_calls(
    files: StepFiles, shape: Shape, epoch_ends: Sequence[int]
) -> tuple[Doubles, Doubles]:
    """Return the calls of the last ten seconds of training, and the seconds of each.

    They are calls of the newest attempt, without its first one.
    """
    written = files.calls_written()
    count = FEWEST_READ
    while True:
        log = known(files.log(max(0, written - count)))
        begins = np.flatnonzero(log[:, 1] == 0)
        whole = count >= written or len(begins) > 0
        calls = log[begins[-1] + 1 :] if len(begins) else log
        opening = (np.arange(len(calls)) == 0) & whole
        epochs = shape.epochs_of(calls[:, 0], np.array(epoch_ends, np.int64))
        spans = steady_spans(calls, epochs, opening)
        calls, spans = calls[~opening], spans[~opening]
        later = spans[::-1].cumsum()[::-1] - spans
        if whole or later.max(initial=0.0) >= RECENT_SECONDS:
            return calls[later < RECENT_SECONDS], spans[later < RECENT_SECONDS]
        count *= 4


def joined_speed(workers: Sequence[Speed | None], *, synchronous: bool) -> Speed | None:
    """Return the speed of a run from those of its workers; None if it is unknown.

    Synchronous workers take each step together, as fast as the slowest; others add up.
    """
    known = [speed for speed in workers if speed is not None]
    if not known or (synchronous and len(known) < len(workers)):
        return None
    steps = [speed.steps_per_second for speed in known]
    if not synchronous:
        return Speed(sum(steps), sum(speed.examples_per_second for speed in known))
    in_step = sum(speed.examples_per_second / speed.steps_per_second for speed in known)
    return Speed(min(steps), min(steps) * in_step)


def seconds_left(
    speed: Speed | None, steps: int, shape: Shape, test_steps: int, events: Sequence[Event]
) -> float | None:
    """Return the seconds that `steps` more steps take, with a test pass after each epoch.

    The first pass takes longer, because it traces. Until a second one is over, a pass counts no
    longer than its `test_steps` would take in training. `events` are those of the leading task.
    """
    if speed is None:
        return None
    passes, began = [], None
    for event in events:
        if event["event"] == "test":
            began = event["time"]
        elif event["event"] == "epoch" and began is not None:
            passes.append(event["time"] - began)
    in_training = test_steps / speed.steps_per_second
    usual = float(np.median(passes[1:])) if passes[1:] else min([*passes, in_training])
    return steps / speed.steps_per_second + -(-steps // shape.steps_per_epoch) * usual
