"""Where the notebook runs, and what to do there when its page does not draw the run view."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from IPython import get_ipython

HELP = {
    "Colab": "Run `from google.colab import output; output.enable_custom_widget_manager()` in a "
    "cell, then this cell again.",
    "Kaggle": "Switch the internet on in the notebook's settings, load the page again, then run "
    "this cell again.",
    "VS Code": 'Set "jupyter.widgetScriptSources" to ["jsdelivr.com", "unpkg.com"] in the '
    "settings, load the window again, then run this cell again.",
    "Jupyter": "Install anywidget into the environment of the Jupyter server (pip install "
    "anywidget), start the server again, load the page again, then run this cell again.",
}


def host() -> str:
    """Return which of the known hosts this kernel belongs to, by what each leaves in it."""
    if "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ:
        return "Colab"
    if "KAGGLE_KERNEL_RUN_TYPE" in os.environ:
        return "Kaggle"
    shell: Any = get_ipython()
    if "VSCODE_PID" in os.environ or "__vsc_ipynb_file__" in getattr(shell, "user_ns", {}):
        return "VS Code"
    return "Jupyter"


class CellClock:
    """Tells since when no cell runs: a kernel that runs one answers no page."""

    def __init__(self) -> None:
        shell: Any = get_ipython()
        self._idle_since: float | None = time.monotonic()
        if shell is not None:
            # Made by a cell, so one runs now, or by a thread; the next cell sets it right.
            self._idle_since = None if getattr(shell, "execution_count", 0) else self._idle_since
            shell.events.register("pre_run_cell", self._on_start)
            shell.events.register("post_run_cell", self._on_end)

    @property
    def idle_since(self) -> float | None:
        """The `time.monotonic()` at which the last cell ended; None while one runs."""
        return self._idle_since

    def close(self) -> None:
        """Look no more."""
        shell: Any = get_ipython()
        if shell is not None:
            with contextlib.suppress(ValueError):  # closed before
                shell.events.unregister("pre_run_cell", self._on_start)
                shell.events.unregister("post_run_cell", self._on_end)

    def _on_start(self, _: Any = None) -> None:
        self._idle_since = None

    def _on_end(self, _: Any = None) -> None:
        self._idle_since = time.monotonic()


class AfterCells:
    """Does something after each cell; nothing where there is no notebook, or nothing to do."""

    def __init__(self, deed: Callable[[], None] | None) -> None:
        self._deed = deed
        self._shell: Any = get_ipython() if deed else None
        if self._shell is not None:
            self._shell.events.register("post_run_cell", self._on_end)

    def close(self) -> None:
        """Do it no more."""
        if self._shell is not None:
            with contextlib.suppress(ValueError):  # closed before
                self._shell.events.unregister("post_run_cell", self._on_end)

    def _on_end(self, _: Any = None) -> None:
        if self._deed:
            self._deed()
