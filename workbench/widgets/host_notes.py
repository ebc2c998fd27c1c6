"""Notes about runs on a lent machine: which files are lost, and how to keep the machine awake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets as ipw

from workbench import hosts
from workbench.widgets.parts import markup
from workbench.widgets.parts.copy_button import COPIED, CopyButton
from workbench.widgets.parts.page_parts import column, html, styled

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.runs import Summary

CELL = "from workbench import follow\nawait follow()"
REMEDY = (
    "To keep them, enter a folder on a drive under Archive folder (in More settings), or click "
    "Download run below a run."
)
AWAKE = "Run these two lines in a cell: it runs until the run ends, and the buttons keep working."


class HostNotes:
    """A view of notes on a lent machine.

    One note warns that the host does not keep runs. While a run is alive and no cell follows it,
    another note shows how to follow it.
    """

    def __init__(self, runs: Path) -> None:
        self._host = hosts.lent()
        self._followed = False
        self._summary: Summary | None = None
        keeping = hosts.word_on_keeping(runs)
        text = markup.quiet(f"{keeping} {REMEDY}") if keeping else ""
        self._keeping = html(text, description="Keeping")
        self._awake = html(description="Staying awake")
        self._copy = column()
        awake = styled(ipw.VBox, COPIED, children=[self._awake, self._copy])
        self.box = column(awake, self._keeping)

    def show(self, summary: Summary | None) -> None:
        """Follow the opened run; None means that no run is open."""
        self._summary = summary
        at_risk = summary is not None and summary.alive and not self._followed
        text = "" if self._host is None or not at_risk else _awake(self._host.idle)
        if text != self._awake.value:
            self._awake.value = text
            self._copy.children = [CopyButton()] if text else []

    def note_following(self, followed: bool) -> None:
        """Note whether a cell follows the run, so that it runs as long as the run."""
        self._followed = followed
        self.show(self._summary)


def _awake(idle: str) -> str:
    cell = f'<pre class="wb-log">{markup.text(CELL)}</pre>'
    return f"{markup.notice('info', f'{idle} {AWAKE}')}{cell}"
