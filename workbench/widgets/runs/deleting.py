"""The question before several runs are deleted, and the report afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import ipywidgets as ipw

from workbench.runs import RunError
from workbench.runs.listing import living
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.kernel.page_order import keep_order
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, styled

if TYPE_CHECKING:
    from workbench.runs import Run

MOST_NAMED = 12
Report = Callable[[str, str], None]


class Deleting:
    """RowActions before it deletes runs. `box` is empty between questions."""

    def __init__(self, report: Report, deleted: Callable[[], None]) -> None:
        """Runs are deleted in the background.

        `report` shows a text; its first argument is the level: info or error. `deleted` is called
        before the report, when all requested runs were tried.
        """
        self._report, self._deleted = report, deleted
        self.box = styled(ipw.VBox, "wb-runs-question", children=[])

    def ask(self, runs: Sequence[Run]) -> None:
        """Ask whether these runs are deleted; runs that are alive are refused."""
        alive = list(living(runs))
        over = [run for run in runs if run not in alive]
        refusal = _refusal(alive)
        if not over:
            self.clear()
            self._report("error", refusal)
            return
        how_many = "this run" if len(over) == 1 else f"these {len(over)} runs"
        question = (
            f"Delete {how_many} permanently, with records, checkpoints and models? "
            f"{_named(over)}. {refusal}"
        )
        label, tip = f"Delete {_count(len(over))}", "This cannot be undone"
        keys = row(
            button(label, tip, lambda _: self._do(over), "danger"),
            button("Keep", "Delete nothing", lambda _: self.clear()),
        )
        text = html(markup.notice("warning", question.strip()), description="Question")
        self.box.children = [text, keys]
        keep_order(self.box)

    def clear(self) -> None:
        """Withdraw the question."""
        self.box.children = []

    def _do(self, runs: Sequence[Run]) -> None:
        self.clear()
        self._report("info", f"Deleting {_count(len(runs))} ...")
        run_in_background(lambda: _delete(runs), self._done, self._failed)

    def _done(self, outcome: tuple[list[str], list[str]]) -> None:
        done, problems = outcome
        self._deleted()
        names = ", ".join(done[:MOST_NAMED]) + _more(len(done))
        report = f"Deleted {_count(len(done))}: {names}." if done else ""
        self._report("error" if problems else "info", " ".join([report, *problems]).strip())

    def _failed(self, error: Exception) -> None:
        self._report("error", str(error))


def _delete(runs: Sequence[Run]) -> tuple[list[str], list[str]]:
    """Delete runs; return the titles of the deleted ones, and why the others are still there."""
    done, problems = [], []
    for run in runs:
        title = run.title
        try:
            run.delete()
            done.append(title)
        except (RunError, OSError) as error:
            problems.append(f"{title}: {error}")
    return done, problems


def _refusal(alive: Sequence[Run]) -> str:
    if not alive:
        return ""
    why, them = ("it has", "it") if len(alive) == 1 else ("they have", "them")
    return (
        f"{_named(alive)} cannot be deleted, because {why} not ended. "
        f"Stop {them} first, or let {them} finish."
    )


def _named(runs: Sequence[Run]) -> str:
    names = [run.id if run.title == run.id else f"{run.title} ({run.id})" for run in runs]
    return "; ".join(names[:MOST_NAMED]) + _more(len(names))


def _more(count: int) -> str:
    return f" and {count - MOST_NAMED} more" if count > MOST_NAMED else ""


def _count(number: int) -> str:
    return "1 run" if number == 1 else f"{number} runs"
