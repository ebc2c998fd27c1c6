"""Bring back: copies runs of an archive, or of a zip file, into the folder of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.runs import archived_runs, restore_run
from workbench.widgets.form.fields import name_box
from workbench.widgets.kernel.background import Latest, run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import (
    ANY_WIDTH,
    button,
    column,
    html,
    is_visible,
    set_visible,
    styled,
)

if TYPE_CHECKING:
    from workbench.runs import Run

EXAMPLE = "/content/drive/MyDrive/runs, or a run's .zip"
MOST_LISTED = 50


class BringBack:
    """Controls that choose a folder and copy one of its runs. No existing run is replaced."""

    def __init__(self, runs_dir: str | Path | None, brought: Callable[[Run], None]) -> None:
        """`brought` is called, in a background thread, with each run that was copied."""
        self._runs_dir, self._brought = runs_dir, brought
        self._looking: Latest[list[tuple[str, str]]] = Latest()
        self._asked = button(
            "Restore from an archive ...", "Copy a run from another folder", self._on_asked
        )
        self._folder = name_box("Restore from", placeholder=EXAMPLE)
        self._folder.observe(lambda _: self._poll(), "value")
        self._found = styled(ipw.Dropdown, description="Run in the archive", style=ANY_WIDTH)
        self._bring = button("Restore", "Copy the run into the folder of runs", self._on_bring)
        self._message = html(description="State of restoring")
        fields = [
            styled(ipw.VBox, "wb-field", children=[control])
            for control in (self._folder, self._found)
        ]
        self._choice = styled(ipw.Box, "wb-save", children=[*fields, self._bring], visible=False)
        asked = styled(ipw.HBox, "wb-row", children=[self._asked])
        self.box = column(asked, self._choice, self._message)
        self._offer([])

    def _on_asked(self, _: Any) -> None:
        set_visible(self._choice, visible=not is_visible(self._choice))
        self._message.value = ""

    def _poll(self) -> None:
        """List the runs of the folder in the background, so that a slow disk delays no button."""
        place = self._folder.value.strip()
        self._offer([])
        if place:
            self._message.value = markup.quiet("Searching for runs ...")
            self._looking.ask(lambda: _runs_in(place), self._show, self._failed)

    def _show(self, found: list[tuple[str, str]]) -> None:
        self._message.value = ""
        self._offer(found)

    def _offer(self, found: list[tuple[str, str]]) -> None:
        options = found or [("none found yet", "")]
        self._found.options = options
        self._found.value = options[0][1]
        self._bring.disabled = not found

    def _on_bring(self, _: Any) -> None:
        chosen = self._found.value
        self._bring.disabled = True
        self._message.value = markup.quiet(f"Copying {chosen} ...")
        run_in_background(lambda: restore_run(chosen, self._runs_dir), self._done, self._failed)

    def _done(self, run: Run) -> None:
        self._bring.disabled = False
        message = f"{run.title} was restored: {run.status} at step {run.progress.step:,}."
        more = " Resume continues from its last checkpoint." if run.status != "finished" else ""
        self._message.value = markup.notice("info", message + more)
        self._brought(run)

    def _failed(self, error: Exception) -> None:
        self._bring.disabled = not self._found.value
        self._message.value = markup.notice("error", str(error))


def _runs_in(place: str) -> list[tuple[str, str]]:
    """Return the label and the path of each run of a folder, or of a zip file."""
    if place.endswith(".zip"):
        return [(Path(place).name, place)]
    runs = archived_runs(place)[:MOST_LISTED]
    return [(f"{run.title} ({run.id}), {run.status}", str(run.dir)) for run in runs]
