"""The comparison as one HTML file, saved by a click and offered for download."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import units
from workbench.experiments.comparing.table import add_losses
from workbench.free_path import beside
from workbench.runs import RunError
from workbench.runs.folder.files import runs_root
from workbench.verdict import SECONDS
from workbench.verdict.several import judge_each
from workbench.widgets.form.fields import check_box
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.kernel.download import DownloadWidget
from workbench.widgets.parts import markup
from workbench.widgets.parts.long_work import LongWork, OnProgress, Stopped
from workbench.widgets.parts.page_parts import button, column, html, row
from workbench.widgets.parts.saved import saved_notice

if TYPE_CHECKING:
    from .snapshot import Snapshot

NAME = "comparison.html"


class ReportButton:
    """A button that writes what the view shows to a file next to the comparison."""

    def __init__(
        self, runs_dir: str | Path | None, snapshot: Callable[[], Snapshot | None]
    ) -> None:
        """`snapshot` returns the newest snapshot of the comparison."""
        self._runs_dir, self._snapshot = runs_dir, snapshot
        self._save = button(
            "Save as HTML report", "One page that you can share; it opens offline",
            self._on_save,
        )  # fmt: skip
        self._times = check_box("Time each run's step first", ticked=False)
        self._times.tooltip = (
            f"The report then shows where the time of a step goes; about {SECONDS:g} s for each row"
        )
        self._work = LongWork("the timing of the steps", self._set_busy)
        self._saved = html(description="Saved report")
        self._download = column()
        controls = row(self._save, self._times, self._work.button, self._work.state)
        self.box = column(controls, self._saved, self._download)

    def close(self) -> None:
        """Stop work in progress."""
        self._work.give_up()

    def _set_busy(self, busy: bool) -> None:
        self._save.disabled = busy

    def _on_save(self, _: Any) -> None:
        snapshot = self._snapshot()
        if snapshot is None:
            return
        self._saved.value = ""
        self._offer(None)
        if not self._times.value:
            self._set_busy(True)
            self._work.say("Writing the report ...")
            run_in_background(
                lambda: write(snapshot, self._place(snapshot)), self._written, self._failed
            )
            return
        first = [group.runs[0] for group in snapshot.groups if group.runs]

        def work(on_progress: OnProgress, stopped: Stopped) -> tuple[Path, dict[str, str]]:
            untimed = judge_each(first, SECONDS, on_progress, stopped)
            on_progress("Writing the report", None)
            return write(snapshot, self._place(snapshot)), untimed

        self._work.begin(work, lambda result: self._show(*result))

    def _written(self, path: Path) -> None:
        self._set_busy(False)
        self._work.say("")
        self._show(path, {})

    def _failed(self, error: Exception) -> None:
        self._set_busy(False)
        self._work.say("")
        self._saved.value = markup.notice("error", str(error))

    def _place(self, snapshot: Snapshot) -> Path:
        name = f"{snapshot.folder.name}.html" if snapshot.folder else NAME
        path = runs_root(self._runs_dir) / name
        return beside(path) if path.exists() else path

    def _show(self, path: Path, untimed: dict[str, str]) -> None:
        notes = [
            markup.notice("warning", f"The step of {run} was not timed. {why}")
            for run, why in untimed.items()
        ]
        size = units.byte_size(path.stat().st_size)
        self._saved.value = "".join([saved_notice(path, size), *notes])
        self._offer(path)

    def _offer(self, path: Path | None) -> None:
        """Withdraw the earlier offer, and offer a file to the page."""
        for earlier in self._download.children:
            earlier.close()
        self._download.children = []
        if path is not None:
            widget = DownloadWidget(f"Download {path.name}", "Download it in the browser")
            widget.offer(lambda: path)
            self._download.children = [widget]


def write(snapshot: Snapshot, path: Path) -> Path:
    """Write the report of what was read.

    Raises:
        RunError: no row has a run, a run cannot be read, or the file cannot be written.
    """
    from workbench.report import Compared, write_comparison

    if not any(group.runs for group in snapshot.groups):
        raise RunError(
            "No run has started yet, so there is nothing to report. Wait for the first run, or "
            "add earlier runs."
        )
    table = add_losses(snapshot.table, snapshot.groups) if any(snapshot.due) else snapshot.table
    return write_comparison(Compared(snapshot.groups, table, snapshot.advice), path)
