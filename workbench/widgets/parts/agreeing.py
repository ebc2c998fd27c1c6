"""The question to a person before a click executes the code of a run from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

import ipywidgets as ipw

from workbench.runs import RunError
from workbench.runs.consent import ForeignCode, foreign_code
from workbench.widgets.kernel.page_order import keep_order

from . import markup
from .page_parts import button, html, row, styled

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.runs import Run

WAITS = "This machine has not run this code before: answer the question above."
NOT_AGREED = "Not done: you did not agree to execute its code."
Report = Callable[[str, str], None]


class Finding(Protocol):
    """Returns the code of a run that a person must agree to, unless its digest is `agreed`."""

    def __call__(self, run_dir: Path, *, agreed: str) -> ForeignCode | None: ...


class Agreeing:
    """Shows foreign code and asks whether to execute it. `box` is empty between questions."""

    def __init__(self, report: Report) -> None:
        """`report` shows a text; its first argument is the level: info or error."""
        self._report = report
        self._agreed: dict[Finding, str] = {}
        """The digest of the last code to which a person agreed, for each kind of code."""
        self.box = styled(ipw.VBox, "wb-agreeing", children=[])

    def before(self, run: Run, execute: Callable[[], None], find: Finding = foreign_code) -> None:
        """Call `execute`, which executes a run's code; if it is foreign, only after a yes.

        `find` finds this code. A run that a click must not execute is reported.
        """
        try:
            code = find(run.dir, agreed=self._agreed.get(find, ""))
        except RunError as error:
            self._report("error", str(error))
            return
        if code is None:
            execute()
        else:
            self.ask(code, partial(self._go_on, code.digest, run, execute, find))

    def _go_on(self, agreed: str, run: Run, execute: Callable[[], None], find: Finding) -> None:
        """Execute the code if it is still the code to which the person agreed."""
        self._agreed[find] = agreed
        self.before(run, execute, find)

    def ask(self, code: ForeignCode, execute: Callable[[], None]) -> None:
        """Ask whether this code may be executed; call `execute` only after a yes."""

        def yes() -> None:
            self.clear()
            execute()

        def no() -> None:
            self.clear()
            self._report("error", NOT_AGREED)

        script = f"<pre>{markup.text(code.script)}</pre>"
        self.box.children = [
            html(markup.notice("warning", str(code)), description="Question"),
            html(markup.scrolling("The script", script, "wb-code"), description="The script"),
            row(
                button(
                    "Execute it",
                    "Execute this code with all your permissions",
                    lambda _: yes(),
                    "danger",
                ),
                button("Do not execute it", "Leave the run as it is", lambda _: no()),
            ),
        ]
        keep_order(self.box)
        self._report("info", WAITS)

    def clear(self) -> None:
        """Withdraw the question."""
        self.box.children = []
