"""Whether the form's chosen engine can be reached, checked in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.launchers import ENGINES, Reach
from workbench.widgets.kernel.background import Latest, waiting
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html

if TYPE_CHECKING:
    from workbench.config import RunConfig

SETTLE_SECONDS = 0.5


class LauncherReach:
    """A line on the chosen engine: its resources, or why it cannot be reached.

    The line is empty if the tasks run on this machine.
    """

    def __init__(self) -> None:
        self.box = html(description="Reach of the chosen engine")
        self._asking: Latest[Reach] = Latest(SETTLE_SECONDS)
        self._asked: tuple[str | None, ...] = ()

    def follow(self, config: RunConfig) -> None:
        """Ask again if the engine, its address or the Python interpreter that asks has changed."""
        wanted = (config.launcher, config.ray_address, config.interpreter)
        if wanted == self._asked:
            return
        self._asked = wanted
        engine = ENGINES.get(config.launcher)
        if engine is None:
            self._asking.forget()
            self.box.value = ""
            return
        self.box.value = markup.quiet(f"Asking {engine.name.title()} ...")
        self._asking.ask(waiting()(lambda: engine.reach(config)), self._show, self._failed)

    def _show(self, reach: Reach) -> None:
        level = "info" if reach.reachable else "warning"
        self.box.value = markup.notice(level, reach.summary)

    def _failed(self, error: Exception) -> None:
        self.box.value = markup.notice("warning", str(error))
