"""The progress of the opened run in one line, with a button that stops it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as ipw

from workbench import units
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, set_visible, styled

if TYPE_CHECKING:
    from workbench.runs import Progress, Summary

SHOWN_EVERY_SECONDS = 0.5


class RunningLine:
    """A line that stays in sight beside Train while the opened run is alive."""

    def __init__(self, stop: Callable[[], None]) -> None:
        """`stop` asks the opened run to stop."""
        self._shown_at = 0.0
        self._doing = ""
        self.stop = button("Stop", "Finish the step, save a checkpoint and stop", lambda _: stop())
        self._line = html(description="Progress of the run")
        self.box = styled(ipw.Box, "wb-running", children=[self._line, self.stop])
        self.show(None)

    def show(self, summary: Summary | None) -> None:
        """Follow the opened run; None means that no run is open."""
        alive = summary is not None and summary.alive
        set_visible(self.box, visible=alive)
        if summary is None or not alive:
            self._doing = ""
            return
        self.stop.disabled = summary.status == "stopping"
        now, doing = time.monotonic(), summary.progress.doing
        if doing != self._doing or now - self._shown_at >= SHOWN_EVERY_SECONDS:
            self._doing, self._shown_at = doing, now
            self._line.value = progress_line(summary.progress)


def progress_line(progress: Progress) -> str:
    """Return a bar, and below it what the run does, its steps and the time left (HTML)."""
    done = progress.step / progress.total_steps if progress.total_steps else 0.0
    parts = [progress.doing, f"epoch {progress.epoch} of {progress.epochs}"]
    parts.append(f"step {progress.step:,} of {progress.total_steps:,}")
    if progress.eta_seconds is not None:
        parts.append(f"{units.duration(progress.eta_seconds)} left")
    bar = f'<div class="wb-done"><span style="width:{done:.1%}"></span></div>'
    return bar + markup.quiet(", ".join(parts))
