"""The host of the notebook, and the help for a page of it that does not draw the run view."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Callable
from typing import Any

from IPython import get_ipython

from workbench import hosts

HELP = {
    "Colab": "Run `from google.colab import output; output.enable_custom_widget_manager()` in a "
    "cell, then this cell again.",
    "Kaggle": "Switch on the internet in the notebook's settings, reload the page, then run "
    "this cell again.",
    "VS Code": 'Set "jupyter.widgetScriptSources" to ["jsdelivr.com", "unpkg.com"] in the '
    "settings, load the window again, then run this cell again.",
    "Jupyter": "Install anywidget into the environment of the Jupyter server (pip install "
    "anywidget), start the server again, reload the page, then run this cell again.",
}


def host() -> str:
    """Return the known host of this kernel: a key of `HELP`."""
    name = hosts.host_name()
    return name if name in HELP else hosts.JUPYTER


def allow_own_widgets() -> None:
    """Make Colab draw widgets of packages other than ipywidgets, such as the run view.

    anywidget does this too, but only once, and only if `google.colab.output` is imported already.
    """
    if host() == "Colab":
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module("google.colab.output").enable_custom_widget_manager()


def on_cell_event(event: str, action: Callable[..., None]) -> Callable[[], None]:
    """Call `action` at each such event of IPython. Return a function that ends this.

    The returned function may be called more than once.
    """
    shell: Any = get_ipython()
    if shell is None:
        return lambda: None
    shell.events.register(event, action)

    def end() -> None:
        with contextlib.suppress(ValueError):  # already ended
            shell.events.unregister(event, action)

    return end


class CellClock:
    """The time since which no cell runs. A kernel that runs a cell answers no page."""

    def __init__(self) -> None:
        # A cell made this clock, so a cell runs now; or a thread made it. The next cell fixes it.
        in_cell = bool(getattr(get_ipython(), "execution_count", 0))
        self._idle_since = None if in_cell else time.monotonic()
        self._ends = (
            on_cell_event("pre_run_cell", self._on_start),
            on_cell_event("post_run_cell", self._on_end),
        )

    @property
    def idle_since(self) -> float | None:
        """The `time.monotonic()` at which the last cell ended; None while one runs."""
        return self._idle_since

    def close(self) -> None:
        """Stop following the cells."""
        for end in self._ends:
            end()

    def _on_start(self, _: Any = None) -> None:
        self._idle_since = None

    def _on_end(self, _: Any = None) -> None:
        self._idle_since = time.monotonic()
