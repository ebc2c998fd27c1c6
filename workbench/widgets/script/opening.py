"""Opening a saved script into the form, and undoing that."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.config import ConfigError, RunConfig
from workbench.plan.checks import LONGEST_NAME
from workbench.runs import RunError, start_edited
from workbench.runs.folder.files import expanded, runs_root
from workbench.runs.functions import keep_function
from workbench.scripts import NOT_IN_SCRIPTS, Merged, Opened, read_script, sentences
from workbench.widgets.form.fields import check_box, name_box
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, column, html, set_visible, styled

KEEP = "Keep my edits in the form's script"

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

    It shows the understood fields, can restore the form, and can train the script as it is. While
    the person keeps the edits, the form's script has them too, whatever the form's fields are.
    """

    def __init__(self, context: OpeningContext, runs_dir: str | Path | None) -> None:
        self._context, self._runs_dir = context, runs_dir
        self._changed: Callable[[str, str], None] = lambda name, text: None
        self._chosen: Callable[[], None] = lambda: None
        self._opened: Opened | None = None
        self._merged = "", Merged("", ())
        """The form's newest script without the edits, and with them."""
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
        self._keep = check_box(KEEP, ticked=True)
        set_visible(self._keep, visible=False)
        self._keep.observe(lambda _: self._chosen(), "value")
        open_it = button("Open", "Fill the form with this script", self._open)
        parts = [path_box, open_it, self._back, self._run]
        self._state = html(description="Result of opening the script")
        self._left_out = html(description="Edits that are left out")
        row = styled(ipw.Box, "wb-save", children=parts)
        self.box = column(row, self._state, self._keep, self._left_out)

    def on_opened(self, changed: Callable[[str, str], None]) -> None:
        """Call `changed` with the name and the text of each opened script."""
        self._changed = changed

    def on_chosen(self, chosen: Callable[[], None]) -> None:
        """Call `chosen` when the form's script must have the edits or must lose them."""
        self._chosen = chosen

    @property
    def edited(self) -> str:
        """The name of the script whose edits the form's script keeps; empty if there is none."""
        opened = self._opened
        return self._name if opened and not opened.as_made and self._keep.value else ""

    def with_edits(self, script: str) -> Merged:
        """Return the form's script with the edits of the opened script that are kept."""
        if self._opened is None or not self.edited:
            return Merged(script, ())
        if self._merged[0] != script:
            self._merged = script, self._opened.merged(script)
        return self._merged[1]

    def tell(self, left_out: tuple[str, ...]) -> None:
        """Show the edited lines that the form's script cannot have."""
        text = (
            "The settings of the form change these lines that you edited, so the form's script "
            "leaves your edits out. Set the fields back, copy the lines into the saved script by "
            "hand, or train the script as it is. Both scripts are shown side by side below."
        )
        shown = markup.notice("warning", text) + _items(list(left_out)) if left_out else ""
        self._left_out.value = shown

    def _open(self, _: Any) -> None:
        typed = self._path.value.strip() or "train.py"
        try:
            path = expanded(typed)
        except RunError as error:
            self._refuse(Path(typed), error)
            return
        devices = self._context.devices()
        self._state.value = markup.quiet(f"Reading {path} ...")

        def read() -> tuple[Opened, RunConfig]:
            opened = read_script(path.read_text(encoding="utf-8"), devices)
            return opened, opened.with_files(self._kept(opened))

        run_in_background(
            read, lambda found: self._fill(path.name, *found), lambda e: self._refuse(path, e)
        )

    def _fill(self, name: str, opened: Opened, config: RunConfig) -> None:
        before = self._context.asked()
        unchanged = {name: getattr(before, name) for name in NOT_IN_SCRIPTS}
        self._opened, self._name, self._before = opened, name, before
        self._merged = "", Merged("", ())
        self._keep.value = True
        self._show(back=True, run=bool(opened.lost), keep=not opened.as_made)
        self._context.write(dataclasses.replace(config, **unchanged))
        self._changed(name, opened.text)
        self._state.value = self._summary(opened)

    def _refuse(self, path: Path, error: Exception) -> None:
        message = f"{path}: {error}"
        if not isinstance(error, ConfigError | RunError):
            message = f"{path} cannot be opened: {error}. Check the path."
        self._state.value = markup.notice("error", message)

    def _kept(self, opened: Opened) -> dict[str, str]:
        root = runs_root(self._runs_dir)
        return {each.field: keep_function(each.source, each.function, root) for each in opened.kept}

    def _summary(self, opened: Opened) -> str:
        """Return the result as HTML: fields, kept functions, and parts only the script has."""
        if opened.as_made:
            message = (
                f"The form shows {self._name}, which is unchanged since the workbench wrote it."
            )
            return markup.notice("info", message)
        message = (
            f"{self._name} was edited. The form shows the settings that it recognizes; the file is "
            "not changed."
        )
        held = markup.notice("info", message) + _items(
            sentences([each for each in opened.differences if not each.lost])
        )
        if not opened.lost:
            return held
        only = (
            "The form has no fields for the following parts. While the box below is checked, the "
            "form's script keeps them, even if you change settings."
        )
        return held + markup.notice("info", only) + _items(sentences(opened.lost))

    def _undo(self, _: Any) -> None:
        self._opened = None
        if self._before is not None:
            self._context.write(self._before)
        self._before = None
        self._state.value = markup.notice("info", "The form is as it was before.")
        self._show(back=False, run=False, keep=False)

    def _train(self, _: Any) -> None:
        opened, devices = self._opened, self._context.devices()
        if opened is None:
            return
        asked = self._context.asked()
        unchanged = {name: getattr(asked, name) for name in NOT_IN_SCRIPTS}
        name = asked.name or self._name

        def start() -> Run:
            plan = opened.plan_as_it_is(devices, self._kept(opened), **unchanged)
            return start_edited(opened.text, plan, devices, self._runs_dir, name[:LONGEST_NAME])

        self._run.disabled = True
        run_in_background(start, self._started, self._failed)

    def _started(self, run: Run) -> None:
        self._run.disabled = False
        self._context.started(run)

    def _failed(self, error: Exception) -> None:
        self._run.disabled = False
        self._state.value = markup.notice("error", str(error))

    def _show(self, *, back: bool, run: bool, keep: bool) -> None:
        set_visible(self._back, visible=back)
        set_visible(self._run, visible=run)
        set_visible(self._keep, visible=keep)


def _items(lines: list[str]) -> str:
    items = "".join(f"<li>{markup.text(line)}</li>" for line in lines)
    return f'<ul class="wb-findings">{items}</ul>' if items else ""
