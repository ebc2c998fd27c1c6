"""Report and export: saves the opened run for other people and tools, and offers a download."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import units
from workbench.runs import RunError
from workbench.runs.folder.files import full_path
from workbench.widgets.form.fields import RadioField, TextField
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.kernel.download import DownloadWidget
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, column, html, set_visible, styled
from workbench.widgets.parts.saved import saved_notice

from .export_kinds import BUNDLE, KINDS, Saved, save, usual_place

if TYPE_CHECKING:
    from workbench.runs import Run

IN_PARTS = ("csv", "parquet", "tensorboard")
"""The kinds that are written in parts. Their saving reports its progress and can be stopped."""


class _StoppedError(Exception):
    """The person stopped the saving."""


class ExportView:
    """A page that saves the opened run as the chosen kind and then offers it for download."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._stop: threading.Event | None = None
        """The event that ends the saving in progress; None if nothing is being saved."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        """The temporary folder that holds the zip file of a saved folder."""
        self._kind = RadioField("export_kind", "What to save", KINDS)
        self._path = TextField("export_path", "Save the run as", whole=True)
        self._path.show_help(
            "A path on the machine of the kernel. Existing files are never overwritten."
        )
        self._save = button("Save", "Write the file to this path", self._on_save)
        self._end = button(
            "Stop saving", "Stop, and remove the unfinished file", self._on_stop, visible=False
        )
        self._state = html(description="State of saving")
        self._download = column()
        fields = styled(ipw.Box, "wb-fields", children=[self._kind.box, self._path.box])
        for field in fields.children:
            field.add_class("wb-span")
        row = styled(ipw.Box, "wb-row", children=[self._save, self._end])
        title = html(markup.heading("Report and export"), description="Section")
        self.box = styled(
            ipw.VBox,
            "wb-section",
            "wb-spaced",
            "wb-export",
            children=[title, fields, row, self._state, self._download],
        )
        self._proposed = ""
        self._kind.on_change(self._propose)
        self._set_busy(None)

    def show(self, run: Run | None, status: str) -> None:
        """Follow the opened run."""
        if run is None or (self._run is not None and run.id == self._run.id):
            self._run = run
            return
        self._run = run
        self._propose()
        if self._stop is None:
            self._state.value = ""
            self._offer(None)

    def _propose(self) -> None:
        """Write a free path into the field: no file or folder exists there yet."""
        if self._run is not None:
            self._proposed = str(usual_place(self._run, self._kind.read()))
            self._path.write(self._proposed)

    def _on_save(self, _: Any) -> None:
        run, kind = self._run, self._kind.read()
        if run is None:
            return
        try:
            path = full_path(self._path.read() or usual_place(run, kind))
        except RunError as error:
            self._failed(error)
            return
        stop = threading.Event()
        self._set_busy(stop)
        set_visible(self._end, visible=kind in IN_PARTS)
        self._offer(None)
        seconds = "; making and hashing its data again takes seconds" * (kind == BUNDLE)
        self._state.value = markup.quiet(f"Saving {path.name}{seconds} ...")
        progress = _Progress(self._state, stop)
        run_in_background(
            lambda: save(run, kind, path, progress.report), self._done, self._failed, stop.set
        )

    def _on_stop(self, _: Any) -> None:
        if self._stop is not None:
            self._stop.set()
            self._end.disabled = True

    def _set_busy(self, stop: threading.Event | None) -> None:
        self._stop = stop
        self._save.disabled = stop is not None
        self._end.disabled = stop is None
        set_visible(self._end, visible=False)

    def _done(self, saved: Saved) -> None:
        self._state.value = saved_html(saved)
        self._offer(saved)
        if self._path.read() in (None, self._proposed):
            self._propose()
        self._set_busy(None)

    def _failed(self, error: Exception) -> None:
        stopped = isinstance(error, _StoppedError)
        message = markup.quiet("Stopped; nothing was saved.")
        self._state.value = message if stopped else markup.notice("error", str(error))
        self._set_busy(None)

    def _offer(self, saved: Saved | None) -> None:
        """Withdraw the earlier offer, and offer the saved file to the page; a folder as a zip."""
        for earlier in self._download.children:
            earlier.close()
        self._download.children = []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        if saved is None:
            return
        path = saved.path
        is_folder = path.is_dir()
        name = f"{path.name}.zip" if is_folder else path.name
        widget = DownloadWidget(f"Download {name}", "Download it in the browser")
        if is_folder:
            held = self._folder = tempfile.TemporaryDirectory(prefix="workbench-")
            into = Path(held.name)
            widget.offer(lambda: zipped(path, into), path)
        else:
            widget.offer(lambda: path)
        self._download.children = [widget]


class _Progress:
    """The progress of the saving. It also ends the saving after the person stopped it."""

    def __init__(self, state: Any, stop: threading.Event) -> None:
        self._state, self._stop, self._began = state, stop, time.monotonic()

    def report(self, done: int, total: int) -> None:
        """Show that `done` of `total` parts are written."""
        if self._stop.is_set():
            raise _StoppedError
        left = (time.monotonic() - self._began) / done * (total - done)
        text = f"{done:,} of {total:,} parts written, about {units.duration(left)} left."
        self._state.value = markup.quiet(text)


def saved_html(saved: Saved) -> str:
    """Return a link to the saved file and the next command to type (HTML)."""
    parts = [saved_notice(saved.path, units.byte_size(saved.size))]
    if saved.command:
        typed = f'<pre class="wb-log">{markup.text(saved.command)}</pre>'
        parts.append(f"{markup.quiet(saved.purpose)}{typed}")
    if saved.certificate:
        parts.append(markup.quiet(saved.certificate))
    for module in saved.modules:
        note = f"The script imports {module}, which no package provides. Copy it with the bundle."
        parts.append(markup.notice("warning", note))
    return "".join(parts)


def zipped(folder: Path, into: Path) -> Path:
    """Write a folder to a zip file in another folder, and return the zip file's path.

    Raises:
        RunError: the zip file cannot be written, or the folder is missing.
    """
    try:
        made = shutil.make_archive(str(into / folder.name), "zip", folder.parent, folder.name)
    except OSError as error:
        raise RunError(
            f"The zip file for the download of {folder} cannot be written to {into}: {error}. Free "
            "some space there and click again, or copy the folder itself."
        ) from error
    return Path(made)
