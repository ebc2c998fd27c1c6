"""Saving a script without overwriting a text that a person edited."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as ipw

from workbench.codegen.carried import is_as_made
from workbench.free_path import beside
from workbench.runs.folder.files import RunError, expanded, sha256
from workbench.runs.processes.environment import observed, pack_observer
from workbench.widgets.form.fields import name_box
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, column, html, styled
from workbench.widgets.parts.saved import saved_notice

USUAL = "train.py"
OBSERVER_TIP = (
    "Save observe.pyz beside the script: it records every step where only TensorFlow is installed"
)


class ScriptSaving:
    """A path and buttons that save a script.

    A file changed since this view saved it, or written by anything else, is never overwritten
    silently. If the file is a script exactly as the workbench wrote it, the user can choose to
    replace it. An edited file stays, and the new text can be saved next to it.
    """

    def __init__(self, text: Callable[[str], str | None]) -> None:
        """`text` returns the text to save for a suffix, .py or .ipynb; None if there is none."""
        self._text = text
        self._saved: dict[Path, str] = {}
        self._path = name_box("Save as", placeholder=USUAL, value=USUAL)
        path_box = styled(ipw.VBox, "wb-field", children=[self._path])
        buttons = [
            button("Save .py", "Save the script", self._saver(".py")),
            button("Save .ipynb", "Save the same functions as a notebook", self._saver(".ipynb")),
            button("Save observer", OBSERVER_TIP, self._save_observer),
        ]
        self._state = html(description="State of saving")
        self._question = styled(ipw.HBox, "wb-row", children=[])
        row = styled(ipw.Box, "wb-save", children=[path_box, *buttons])
        self.box = column(row, self._state, self._question)

    def _save_observer(self, _: Any) -> None:
        self._question.children = []
        try:
            path = expanded(self._path.value.strip() or USUAL).absolute()
            saved = pack_observer(path.parent)
        except RunError as error:
            self._say("error", str(error))
            return
        except OSError as error:
            fix = "Choose another path."
            self._say("error", f"The observer cannot be saved beside {path}: {error}. {fix}")
            return
        words = observed(path.with_suffix(".py").name)
        self._state.value = saved_notice(saved, f"to record the script anywhere with: {words}")

    def _saver(self, suffix: str) -> Callable[[Any], None]:
        def save(_: Any) -> None:
            self._question.children = []
            try:
                text = self._text(suffix)
                path = expanded(self._path.value.strip() or USUAL)
            except RunError as error:
                self._say("error", str(error))
                return
            if text is None:
                self._say(
                    "error", "There is no script while the form has problems. Fix them first."
                )
                return
            self._save(path.with_suffix(suffix), text)

        return save

    def _save(self, path: Path, text: str, *, asked: bool = False) -> None:
        """Write the file, or ask the user if the file has a text that this view did not write.

        `asked` means that the user chose to replace the file.
        """
        try:
            held = path.read_text(encoding="utf-8") if path.exists() else None
            ours = held is None or held == text or self._saved.get(path) == sha256(held)
            if held is None or ours or (asked and is_as_made(held)):
                path.write_text(text, encoding="utf-8")
                self._saved[path] = sha256(text)
                self._state.value = saved_notice(path)
                return
        except (OSError, UnicodeDecodeError) as error:
            fix = "Choose another path."
            self._say("error", f"The script cannot be saved to {path}: {error}. {fix}")
            return
        self._ask(path, text, replaceable=is_as_made(held))

    def _ask(self, path: Path, text: str, *, replaceable: bool) -> None:
        aside = beside(path)
        found = f"{path} was edited or was not written by the workbench, so it is not overwritten."
        if replaceable:
            found = f"{path} contains another script of the workbench."
        self._say("warning", f"{found} Save this script next to it, or under another name.")

        def chosen(do: Callable[[], None]) -> Callable[[Any], None]:
            def click(_: Any) -> None:
                self._question.children = []
                do()

            return click

        save_aside = chosen(lambda: self._save(aside, text))
        replace = chosen(lambda: self._save(path, text, asked=True))
        keep = chosen(lambda: self._say("info", f"{path} was not changed."))
        buttons = [
            button(f"Save as {aside.name}", f"Save next to {path.name}", save_aside),
            button("Keep it", f"Leave {path.name} as it is", keep),
        ]
        if replaceable:
            tip = f"Replace the content of {path.name}"
            buttons.insert(1, button("Replace it", tip, replace, "danger"))
        self._question.children = buttons

    def _say(self, kind: str, message: str) -> None:
        self._state.value = markup.notice(kind, message)
