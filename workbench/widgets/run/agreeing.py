"""The question to a person before a click executes the code of a run from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as ipw

from workbench.widgets.kernel.page_order import keep_order
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, styled

if TYPE_CHECKING:
    from workbench.runs.consent import ForeignCode

WAITS = "This machine has never started the run in its present form: answer the question above."
NOT_AGREED = "Not resumed: you did not agree to execute its code."
Report = Callable[[str, str], None]


class Agreeing:
    """Shows foreign code and asks whether to execute it. `box` is empty between questions."""

    def __init__(self, report: Report) -> None:
        """`report` shows a text; its first argument is the level: info or error."""
        self._report = report
        self.box = styled(ipw.VBox, "wb-agreeing", children=[])

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
                button("Execute it", "Resume the run with this code", lambda _: yes(), "danger"),
                button("Do not execute it", "Leave the run as it is", lambda _: no()),
            ),
        ]
        keep_order(self.box)
        self._report("info", WAITS)

    def clear(self) -> None:
        """Withdraw the question."""
        self.box.children = []
