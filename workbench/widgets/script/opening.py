"""Opening a saved script into the form, and undoing that."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.config import ConfigError, RunConfig
from workbench.fields import NOT_IN_SCRIPTS
from workbench.plan.checks import LONGEST_NAME
from workbench.runs import RunError, start_run
from workbench.runs.folder.files import KEPT_CODE, expanded, runs_root
from workbench.runs.functions import keep_function
from workbench.scripts import Opened, read_script
from workbench.widgets.form.fields import name_box
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, column, html, set_visible, styled

EDITS = (
    "{name} has edits that are no settings, so the form's script lacks them. Train starts the "
    "form's script; Train this script as it is, in the tab Script, starts yours."
)

if TYPE_CHECKING:
    from workbench.devices import Devices
    from workbench.runs import Run


@dataclasses.dataclass(frozen=True)
class OpeningContext:
    """The parts of the workbench that the opening of a script uses."""

    asked: Callable[[], RunConfig]
    """Returns the config that the form shows now."""
    write: Callable[[RunConfig], None]
    """Fills the form with a config."""
    devices: Callable[[], Devices]
    started: Callable[[Run], None]
    """Called, in a background thread, with a run that was started."""


class ScriptOpening:
    """A view to open a script by its path.

    It fills the form with the script's settings, can restore the form, and can train the script as
    it is.
    """

    def __init__(self, context: OpeningContext, runs_dir: str | Path | None) -> None:
        self._context, self._runs_dir = context, runs_dir
        self._changed: Callable[[str], None] = lambda text: None
        self._noted: Callable[[str], None] = lambda text: None
        self._opened: Opened | None = None
        self._name = ""
        self._before: RunConfig | None = None
        self._path = name_box("Open a script", placeholder="train.py")
        path_box = styled(ipw.VBox, "wb-field", children=[self._path])
        self._back = button(
            "Restore the form", "Fill the form as it was before the script was opened", self._undo,
            visible=False,
        )  # fmt: skip
        self._run = button(
            "Train this script as it is", "Start a run of the opened text, unchanged", self._train,
            visible=False,
        )  # fmt: skip
        open_it = button("Open", "Fill the form with this script", self._open)
        parts = [path_box, open_it, self._back, self._run]
        self._state = html(description="Result of opening the script")
        self.box = column(styled(ipw.Box, "wb-save", children=parts), self._state)

    def on_opened(self, changed: Callable[[str], None]) -> None:
        """Call `changed` with the text of each opened script."""
        self._changed = changed

    def on_note(self, noted: Callable[[str], None]) -> None:
        """Call `noted` with a note on edits that the form's script lacks; empty without such."""
        self._noted = noted

    def _open(self, _: Any) -> None:
        typed = self._path.value.strip() or "train.py"
        try:
            path = expanded(typed)
        except RunError as error:
            self._refuse(Path(typed), error)
            return
        devices = self._context.devices()
        self._state.value = markup.quiet(f"Reading {path} ...")

        folders = path.parent, path.parent / KEPT_CODE

        def read() -> tuple[Opened, RunConfig]:
            opened = read_script(path.read_text(encoding="utf-8"), devices, folders)
            return opened, opened.with_files(self._kept(opened))

        run_in_background(
            read, lambda found: self._fill(path.name, *found), lambda e: self._refuse(path, e)
        )

    def _fill(self, name: str, opened: Opened, config: RunConfig) -> None:
        before = self._context.asked()
        unchanged = {name: getattr(before, name) for name in NOT_IN_SCRIPTS}
        self._opened, self._name, self._before = opened, name, before
        self._context.write(dataclasses.replace(config, **unchanged))
        self._changed(opened.text)
        self._show(back=True, edits=bool(opened.edits))
        self._state.value = markup.notice("info", self._summary(opened))

    def _refuse(self, path: Path, error: Exception) -> None:
        message = f"{path}: {error}"
        if not isinstance(error, ConfigError | RunError):
            message = f"{path} cannot be opened: {error}. Check the path."
        self._state.value = markup.notice("error", message)

    def _kept(self, opened: Opened) -> dict[str, str]:
        root = runs_root(self._runs_dir)
        return {each.field: keep_function(each.source, each.function, root) for each in opened.kept}

    def _summary(self, opened: Opened) -> str:
        if opened.as_made:
            return f"The form shows {self._name}, which is unchanged since the workbench wrote it."
        settings = f"{self._name} was edited. The form shows its settings and changed constants."
        rest = (
            "Its other edits are marked below, beside the form's script. The file is not changed."
            if opened.edits
            else "It has no other edits."
        )
        return f"{settings} {rest}"

    def _undo(self, _: Any) -> None:
        self._opened = None
        if self._before is not None:
            self._context.write(self._before)
        self._before = None
        self._state.value = markup.notice("info", "The form is as it was before.")
        self._show(back=False, edits=False)

    def _train(self, _: Any) -> None:
        opened, devices = self._opened, self._context.devices()
        if opened is None:
            return
        asked = self._context.asked()
        unchanged = {name: getattr(asked, name) for name in NOT_IN_SCRIPTS}
        name = asked.name or self._name

        def start() -> Run:
            plan = opened.plan_as_it_is(devices, self._kept(opened), **unchanged)
            return start_run(plan, self._runs_dir, devices, name[:LONGEST_NAME], script=opened.text)

        self._run.disabled = True
        run_in_background(start, self._started, self._failed)

    def _started(self, run: Run) -> None:
        self._run.disabled = False
        self._context.started(run)

    def _failed(self, error: Exception) -> None:
        self._run.disabled = False
        self._state.value = markup.notice("error", str(error))

    def _show(self, *, back: bool, edits: bool) -> None:
        set_visible(self._back, visible=back)
        set_visible(self._run, visible=edits)
        self._noted(EDITS.format(name=self._name) if edits else "")
