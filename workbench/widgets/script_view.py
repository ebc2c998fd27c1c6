"""The script that will run, or that ran, and saving it."""

from __future__ import annotations

import functools
import hashlib
import html
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.codegen import render_notebook, render_script

from . import markup
from .fields import name_box

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.runs import Run

FORM, RUN = "form", "run"


class ScriptView:
    """Shows one text and saves it; a file that holds something else is replaced only when asked."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._run: Run | None = None
        self._saved: dict[Path, str] = {}
        self._which = ipw.ToggleButtons(
            options=[("As the form stands", FORM), ("Of the opened run", RUN)],
            description="Which script", style={"description_width": "0px"},
        )  # fmt: skip
        self._code = ipw.HTML(description="Script")
        self._path = name_box("Save as", "train.py")
        self._path.value = "train.py"
        path_box = ipw.VBox([self._path])
        path_box.add_class("wb-field")
        buttons = [
            _button("Save .py", "Save the script", self._saver(".py")),
            _button("Save .ipynb", "Save the same functions as a notebook", self._saver(".ipynb")),
        ]
        self._state = ipw.HTML(description="State of saving")
        self._question = ipw.HBox([])
        self._question.add_class("wb-row")
        row = ipw.Box([path_box, *buttons])
        row.add_class("wb-save")
        self._which.add_class("wb-nolabel")
        title = ipw.HTML(markup.heading("Script"), description="Section")
        self._which.observe(lambda _: self._show(), "value")
        self._which.layout.display = "none"
        parts = [title, self._which, self._code, row, self._state, self._question]
        self.box = ipw.VBox(parts)
        self.box.add_class("wb-section")

    def show_plan(self, plan: Plan | None) -> None:
        """Follow the form; None where it has problems."""
        self._plan = plan
        if self._which.value == FORM:
            self._show()

    def show_run(self, run: Run | None) -> None:
        """Offer the text that the opened run was made from."""
        self._run = run
        self._which.layout.display = None if run else "none"
        if run is None:
            self._which.value = FORM
        if self._which.value == RUN:
            self._show()

    def _show(self) -> None:
        if self._which.value == RUN and self._run is not None:
            self._code.value = highlighted(self._run.script)
        elif self._plan is None:
            self._code.value = markup.notice("info", "No script while there are problems.")
        else:
            self._code.value = highlighted(render_script(self._plan))

    def _text(self, suffix: str) -> str | None:
        run = self._run if self._which.value == RUN else None
        plan = run.plan if run else self._plan
        if plan is None:
            return None
        if suffix == ".ipynb":
            return render_notebook(plan)
        return run.script if run else render_script(plan)

    def _saver(self, suffix: str) -> Callable[[Any], None]:
        def save(_: Any) -> None:
            self._question.children = []
            text = self._text(suffix)
            if text is None:
                self._say("error", "There is no script while the form has problems; mend them.")
                return
            path = Path(self._path.value.strip() or "train.py").expanduser()
            self._save(path.with_suffix(suffix), text, asked=False)

        return save

    def _save(self, path: Path, text: str, *, asked: bool) -> None:
        """Write the file, unless it holds what this view did not write there."""
        try:
            held = path.read_text(encoding="utf-8") if path.exists() else None
            if held is None or asked or held == text or self._saved.get(path) == _digest(held):
                path.write_text(text, encoding="utf-8")
                self._saved[path] = _digest(text)
                self._say("info", f"Saved {path.resolve()}")
                return
        except (OSError, UnicodeDecodeError) as error:
            fix = "Choose another path."
            self._say("error", f"A script is saved to a writable file; {path}: {error}. {fix}")
            return
        self._ask(path, text)

    def _ask(self, path: Path, text: str) -> None:
        self._say("warning", f"{path} holds something else than what was saved from here.")

        def replace(_: Any) -> None:
            self._question.children = []
            self._save(path, text, asked=True)

        def keep(_: Any) -> None:
            self._question.children = []
            self._say("info", f"{path} is as it was.")

        self._question.children = [
            _button("Replace it", f"Replace what {path.name} holds", replace, "danger"),
            _button("Keep it", f"Leave {path.name} as it is", keep),
        ]

    def _say(self, kind: str, message: str) -> None:
        self._state.value = markup.notice(kind, message)


def highlighted(script: str) -> str:
    """Return Python as HTML; only what gets a colour of the style sheet is marked."""
    lexers: Any = importlib.import_module("pygments.lexers")
    parts = []
    for kind, piece in lexers.PythonLexer(ensurenl=False, stripnl=False).get_tokens(script):
        css_class = next((name for root, name in _colored() if kind in root), "")
        plain = html.escape(piece, quote=False)
        parts.append(f'<span class="{css_class}">{plain}</span>' if css_class else plain)
    return markup.scrolling("Script", f"<pre>{''.join(parts)}</pre>", "wb-code")


@functools.cache
def _colored() -> tuple[tuple[Any, str], ...]:
    token: Any = importlib.import_module("pygments.token")
    return (
        (token.Keyword, "wb-k"),
        (token.Operator.Word, "wb-k"),
        (token.String, "wb-s"),
        (token.Comment, "wb-c"),
        (token.Number, "wb-n"),
        (token.Name.Function, "wb-d"),
        (token.Name.Class, "wb-d"),
    )  # fmt: skip


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _button(label: str, tip: str, clicked: Callable[[Any], None], style: str = "") -> Any:
    button = ipw.Button(description=label, tooltip=tip, button_style=style)
    button.on_click(clicked)
    return button
