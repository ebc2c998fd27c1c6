"""What data of one's own is, found out in the background while the form goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.plan import PlanError, Problem
from workbench.plan.own_data import is_own
from workbench.runs.programs.own_data import known, look
from workbench.widgets.kernel.background import ONE_TENSORFLOW, Latest, waiting

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.plan.own_data import DataFacts

SETTLE_SECONDS = 0.3


class DataLook:
    """Looks at the data that the form asks for, once for each function and interpreter."""

    def __init__(self, done: Callable[[], None]) -> None:
        """`done` is called, in another thread, when a look has ended."""
        self._done = done
        self._looking: Latest[DataFacts | None] = Latest(SETTLE_SECONDS)
        self._asked: tuple[str, str | None] | None = None
        self._problems: tuple[Problem, ...] = ()

    def facts(self, config: RunConfig) -> DataFacts | None:
        """Return what is known; None while it is not."""
        return known(config)

    def problems(self, config: RunConfig) -> tuple[Problem, ...]:
        """Return what the last look at this very data found wrong."""
        return self._problems if self._asked == _key(config) else ()

    def begin(self, config: RunConfig) -> bool:
        """Have the data looked at where that is to be done; return whether it is under way."""
        if not is_own(config.data) or known(config) is not None:
            return False
        if self._asked == _key(config):
            return not self._problems
        self._asked, self._problems = _key(config), ()

        def work() -> DataFacts | None:
            with waiting(), ONE_TENSORFLOW:
                return look(config)

        self._looking.ask(work, lambda _: self._done(), self._failed)
        return True

    def forget(self) -> None:
        """Look anew where the last look failed: what was wrong may have been mended."""
        if self._problems:
            self._asked, self._problems = None, ()

    def _failed(self, error: Exception) -> None:
        found = error.problems if isinstance(error, PlanError) else ()
        fix = "Call the function by itself and mend what it says."
        self._problems = found or (Problem("data", "one that can be looked at", str(error), fix),)
        self._done()


def _key(config: RunConfig) -> tuple[str, str | None]:
    return config.data, config.interpreter
