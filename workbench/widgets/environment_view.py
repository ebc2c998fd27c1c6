"""A view that makes an environment with the TensorFlow that the run's interpreter lacks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench import units
from workbench.environments import (
    Build,
    CancelledError,
    Made,
    MakingError,
    Progress,
    fitting_build,
    make_environment,
)
from workbench.environments.folders import environments_dir
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, column, html, row, set_visible

if TYPE_CHECKING:
    from workbench.devices import Devices

_SHOWN_EVERY_SECONDS = 0.25
FOR_RUNS = "Make an environment"


class EnvironmentView:
    """A view that offers an environment, shows its progress, and passes its interpreter on."""

    def __init__(self) -> None:
        self._made: Callable[[str], None] = lambda interpreter: None
        self._build: Build | None = None
        self._interpreter = ""
        self._stop: threading.Event | None = None
        """The event that cancels the build of the environment; None if no build runs."""
        self._shown_at = 0.0
        self._make = button(FOR_RUNS, FOR_RUNS, self._on_make, visible=False)
        self._cancel = button(
            "Cancel", "Stop, and remove the unfinished environment", self._on_cancel, visible=False
        )
        self._state = html(description="State of the environment")
        self._message = html(description="Messages of the environment")
        self.box = column(row(self._make, self._cancel, self._state), self._message)

    def on_made(self, made: Callable[[str], None]) -> None:
        """Call `made`, in a background thread, with the interpreter that runs must use."""
        self._made = made

    def offer(self, devices: Devices) -> None:
        """Offer an environment with the TensorFlow that the interpreter of `devices` lacks.

        Offer nothing if no environment helps. While a build runs, the offer stays the same.
        """
        if self._stop is not None:
            return
        self._build, self._interpreter = fitting_build(devices), devices.interpreter
        self._set_busy(None)
        self._state.value = "" if self._build is None else markup.quiet(_about(self._build))
        if self._build is not None:
            self._message.value = ""

    def close(self) -> None:
        """Cancel the build of the environment, if one runs."""
        if self._stop is not None:
            self._stop.set()

    def _on_make(self, _: Any) -> None:
        build, interpreter, stop = self._build, self._interpreter, threading.Event()
        if build is None or self._stop is not None:
            return
        self._set_busy(stop)
        self._message.value = ""
        self._state.value = markup.quiet("Starting ...")
        run_in_background(
            lambda: make_environment(
                build, interpreter, on_progress=self._show_progress, stopped=stop.is_set
            ),
            self._done,
            self._failed,
            stop.set,
        )

    def _on_cancel(self, _: Any) -> None:
        if self._stop is not None:
            self._stop.set()
            self._cancel.disabled = True
            self._state.value = markup.quiet("Cancelling ...")

    def _set_busy(self, stop: threading.Event | None) -> None:
        self._stop = stop
        build = self._build
        name = "Make a TPU environment" if build and build.for_tpus else FOR_RUNS
        self._make.description = self._make.tooltip = name
        set_visible(self._make, visible=stop is None and build is not None)
        set_visible(self._cancel, visible=stop is not None)
        self._cancel.disabled = False

    def _show_progress(self, progress: Progress) -> None:
        """Show the progress; the thread of the build calls this often."""
        now = time.monotonic()
        if now - self._shown_at < _SHOWN_EVERY_SECONDS:
            return
        self._shown_at = now
        if self._stop is not None and not self._stop.is_set():
            self._state.value = progress_text(progress)

    def _done(self, made: Made) -> None:
        self._build = None
        self._set_busy(None)
        how = "already existed" if made.reused else f"made in {_time(made.elapsed_seconds)}"
        message = f"Runs now use {made.interpreter} ({how})."
        notes = "".join(markup.notice("warning", note) for note in made.notes)
        self._state.value = ""
        self._message.value = markup.notice("info", message) + notes
        self._made(made.interpreter)

    def _failed(self, error: Exception) -> None:
        self._set_busy(None)
        if isinstance(error, CancelledError):
            self._state.value = markup.quiet("Cancelled; the unfinished environment was removed.")
        else:
            self._state.value = ""
            self._message.value = markup.notice("error", str(error))


def progress_text(progress: Progress) -> str:
    """Return the step, the time and the last output line of the tool that runs (HTML)."""
    step = f"Step {progress.number} of {progress.steps}, {progress.step}"
    head = markup.quiet(f"{step} ({_time(progress.elapsed_seconds)} so far) ...")
    return head + markup.quiet(progress.line[:200])


def _time(seconds: float) -> str:
    return units.duration(seconds)


def _about(build: Build) -> str:
    loaded, taken = map(units.byte_size, (build.download_bytes, build.disk_bytes))
    try:
        folder = environments_dir()
    except MakingError as error:
        return str(error)
    then = " Then choose TPU as the strategy." if build.for_tpus else ""
    return (
        f"Installs {build.label} into a separate environment, which runs then use; the packages of "
        f"the kernel stay as they are. Downloads up to {loaded}, needs up to {taken} in {folder}, "
        f"and takes a few minutes. If the environment already exists, it is used immediately.{then}"
    )
