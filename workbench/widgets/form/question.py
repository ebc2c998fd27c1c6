"""A question before a run starts, with a button for each answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import ipywidgets as ipw

from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, styled


class Answer(NamedTuple):
    """An answer: its button's label and tip, and what a click on it does."""

    label: str
    tip: str
    action: Callable[[], None]


NO = Answer("Do not start", "Start nothing", lambda: None)


class Question:
    """Asks one question at a time. `box` is empty between questions."""

    def __init__(self) -> None:
        self.box = styled(ipw.VBox, "wb-question")
        self._asked: object | None = None

    def ask(self, text: str, *answers: Answer) -> None:
        """Ask a question; `NO` is always the last answer."""

        asked = self._asked = object()

        def then(action: Callable[[], None]) -> Callable[[object], None]:
            def clicked(_: object) -> None:
                if self._asked is asked:  # else it was answered, or the form has changed
                    self.clear()
                    action()

            return clicked

        self.box.children = [
            html(markup.notice("warning", text), description="Question"),
            row(*(button(label, tip, then(action)) for label, tip, action in (*answers, NO))),
        ]

    def clear(self) -> None:
        """Withdraw the question."""
        self._asked = None
        self.box.children = []
