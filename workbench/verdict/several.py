"""Verdicts on several runs, one after another; a run whose verdict is decided keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.runs import Run, RunError
from workbench.runs.folder.files import StoppedError
from workbench.runs.folder.state import LIVE

from .verdict import SECONDS, START_SECONDS, OnProgress, judge, saved_verdict


def without_verdict(runs: Sequence[Run]) -> list[Run]:
    """Return the runs whose step can be timed and that have no readable, decided verdict yet."""
    return [run for run in runs if _can_be_judged(run) and not _is_decided(run)]


def judge_each(
    runs: Sequence[Run],
    seconds: float = SECONDS,
    on_progress: OnProgress = lambda action, left_seconds: None,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, str]:
    """Judge each of these runs that has no verdict, and return why a run still has none, by its id.

    See `judge`; it takes about `seconds` and the start of the processes for each run.

    Raises:
        StoppedError: `stopped`, which is called repeatedly, returned true.
    """
    reasons = {}
    left = without_verdict(runs)
    for number, run in enumerate(left, 1):
        after = (len(left) - number) * (START_SECONDS + seconds)
        name = f"{run.title} ({number} of {len(left)})"
        try:
            judge(run, seconds, _named(on_progress, name, after), stopped)
        except StoppedError:
            raise
        except RunError as error:
            reasons[run.id] = str(error)
    return reasons


def _named(on_progress: OnProgress, name: str, after_seconds: float) -> OnProgress:
    """Return a function that reports the progress of one run as that of all."""
    return lambda action, left: on_progress(f"{name}: {action}", left + after_seconds)


def _can_be_judged(run: Run) -> bool:
    return run.plan.synchronous and run.status not in LIVE and run.progress.step > 0


def _is_decided(run: Run) -> bool:
    try:
        found = saved_verdict(run)
        return found is not None and found.decided
    except RunError:
        return False
