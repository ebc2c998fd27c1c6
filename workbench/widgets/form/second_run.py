"""The question before a run starts while another one is alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as ipw

from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, styled

if TYPE_CHECKING:
    from workbench.runs import Run

Action = Callable[[], None]


class SecondRun:
    """Asks whether another run starts although one is alive. `box` is empty between questions."""

    def __init__(self) -> None:
        self.box = styled(ipw.VBox, "wb-second-run")
        self._asked: object | None = None
        self._show: Callable[[Run], None] = lambda run: None

    def on_show(self, show: Callable[[Run], None]) -> None:
        """Call `show` with the living run if the person wants to see it."""
        self._show = show

    def ask(self, run: Run, start: Action) -> None:
        """Ask about a start while `run` is alive; `start` is called if the person wants it."""

        asked = self._asked = object()

        def then(action: Action) -> Callable[[object], None]:
            def clicked(_: object) -> None:
                if self._asked is asked:  # else it was answered, or the form has changed
                    self.clear()
                    action()

            return clicked

        name = f"{run.title} ({run.id})"
        text = (
            f"{name} is {run.status}. If another run needs the same devices, it waits in the queue "
            "until they are free."
        )
        self.box.children = [
            html(markup.notice("warning", text), description="Question"),
            row(
                button("Start another run", "Start a second run", then(start)),
                button("Show that run", f"Open {name}", then(lambda: self._show(run))),
                button("Do not start", "Start nothing", then(lambda: None)),
            ),
        ]

    def clear(self) -> None:
        """Withdraw the question."""
        self._asked = None
        self.box.children = []
