"""The question to a person before a click executes the code of a run from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import ipywidgets as ipw

from workbench.runs import RunError
from workbench.runs.consent import ForeignCode, foreign_code
from workbench.widgets.kernel.page_order import keep_order
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, styled

if TYPE_CHECKING:
    from workbench.runs import Run

WAITS = "This machine has never started the run in its present form: answer the question above."
NOT_AGREED = "Not done: you did not agree to execute its code."
Report = Callable[[str, str], None]


class Agreeing:
    """Shows foreign code and asks whether to execute it. `box` is empty between questions."""

    def __init__(self, report: Report) -> None:
        """`report` shows a text; its first argument is the level: info or error."""
        self._report = report
        self._agreed = ""
        """The digest of the last code to which a person agreed."""
        self.box = styled(ipw.VBox, "wb-agreeing", children=[])

    def before(self, run: Run, execute: Callable[[], None]) -> None:
        """Call `execute`, which executes a run's code; if it is foreign, only after a yes.

        A run that a click must not execute is reported.
        """
        try:
            code = foreign_code(run.dir, agreed=self._agreed)
        except RunError as error:
            self._report("error", str(error))
            return
        if code is None:
            execute()
        else:
            self.ask(code, partial(self._go_on, code.digest, run, execute))

    def _go_on(self, agreed: str, run: Run, execute: Callable[[], None]) -> None:
        """Execute the code if it is still the code to which the person agreed."""
        self._agreed = agreed
        self.before(run, execute)

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
