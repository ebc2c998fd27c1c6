"""The inspection of a run's data in the background, while the form stays usable."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from workbench.fields import is_own
from workbench.plan import PlanError, Problem
from workbench.runs.programs.own_data import inspect_data, known
from workbench.runs.programs.published import is_unsure
from workbench.widgets.kernel.background import ONE_TENSORFLOW, Latest, waiting

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.plan.plan import DataFacts

SETTLE_SECONDS = 0.3


class DataInspection:
    """The inspection of the data that the form asks for, once for the same data.

    The user's own function is called, with each interpreter once. If files of a published data set
    are missing, their download is tried out.
    """

    def __init__(self, done: Callable[[], None]) -> None:
        """`done` is called, in another thread, when an inspection has ended."""
        self._done = done
        self._looking: Latest[DataFacts | None] = Latest(SETTLE_SECONDS)
        self._asked: tuple[str | None, ...] | None = None
        self._problems: tuple[Problem, ...] = ()

    def facts(self, config: RunConfig) -> DataFacts | None:
        """Return the known facts about the data; None while they are not known."""
        return known(config)

    def problems(self, config: RunConfig) -> tuple[Problem, ...]:
        """Return the problems that the last inspection found, if it was of exactly this data."""
        return self._problems if self._asked == _key(config) and _is_open(config) else ()

    def begin(self, config: RunConfig) -> bool:
        """Start an inspection of the data if it needs one.

        Return whether one is in progress without which there can be no plan.
        """
        if not _is_open(config):
            return False
        own = is_own(config.data)
        if self._asked == _key(config):
            return own and not self._problems
        self._asked, self._problems = _key(config), ()

        def work() -> DataFacts | None:
            with waiting(), ONE_TENSORFLOW if own else nullcontext():
                return inspect_data(config)

        self._looking.ask(work, lambda _: self._done(), self._failed)
        return own

    def forget(self) -> None:
        """Allow a new inspection if the last one failed, because the cause may be fixed now."""
        if self._problems:
            self._asked, self._problems = None, ()

    def _failed(self, error: Exception) -> None:
        found = error.problems if isinstance(error, PlanError) else ()
        fix = "Call the function by itself and fix its error."
        self._problems = found or (
            Problem("data", "a function whose data can be inspected", str(error), fix),
        )
        self._done()


def _is_open(config: RunConfig) -> bool:
    """Return whether an inspection could still find something out about the data."""
    return known(config) is None if is_own(config.data) else is_unsure(config)


def _key(config: RunConfig) -> tuple[str | None, ...]:
    if is_own(config.data):
        return config.data, config.interpreter
    return config.data, config.data_dir, config.launcher
