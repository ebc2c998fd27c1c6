"""The view of the form's or the run's script, with parts that open, compare and save scripts."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.codegen import render_notebook, render_script
from workbench.widgets.parts import markup
from workbench.widgets.parts.copy_button import COPIED, CopyButton
from workbench.widgets.parts.page_parts import NO_WIDTH, column, html, set_visible, styled

from .comparing import ScriptComparing
from .opening import OpeningContext, ScriptOpening
from .saving import ScriptSaving

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.runs import Run

FORM, RUN = "form", "run"
FORMS, RUNS, OPENED = "form's script", "opened run's script", "opened file"


class ScriptView:
    """A view that shows one script, alone or next to another, and saves it."""

    def __init__(self, context: OpeningContext, runs_dir: str | Path | None = None) -> None:
        self._plan: Plan | None = None
        self._run: Run | None = None
        self._opened = ""
        self._which = styled(
            ipw.ToggleButtons, "wb-nolabel", style=NO_WIDTH, visible=False,
            options=[("The form's script", FORM), ("The opened run's script", RUN)],
            description="Which script",
        )  # fmt: skip
        self._copy = column(CopyButton())
        self._code = html(description="Script")
        self._saving = ScriptSaving(self._text)
        self._opening = ScriptOpening(context, runs_dir)
        self._comparing = ScriptComparing(runs_dir)
        self._comparing.offer(FORMS, self._form_text)
        title = html(markup.heading("Script"), description="Section")
        self._which.observe(lambda _: self._show(), "value")
        self._comparing.on_change(self._show)
        self._opening.on_opened(self._on_opened)
        views = (self._opening, self._comparing)
        head = styled(ipw.Box, "wb-row", children=[self._which, self._copy])
        shown = styled(ipw.VBox, COPIED, children=[head, self._code])
        parts = [title, *(view.box for view in views), shown, self._saving.box]
        self.box = styled(ipw.VBox, "wb-section", children=parts)

    def on_note(self, noted: Callable[[str], None]) -> None:
        """Call `noted` with a note on edits that the form's script lacks; empty without such."""
        self._opening.on_note(noted)

    def show_plan(self, plan: Plan | None) -> None:
        """Show the script of the form's plan; None means that the form has problems."""
        self._plan = plan
        self._show()

    def show_run(self, run: Run | None) -> None:
        """Offer the script of the opened run; None means that no run is open."""
        self._run = run
        set_visible(self._which, visible=run is not None)
        self._comparing.offer(RUNS, (lambda: run.script) if run else None)
        if run is None:
            self._which.value = FORM
        self._show()

    def _on_opened(self, text: str) -> None:
        """Show how the form's script differs from the opened one."""
        self._opened = text
        self._comparing.offer(OPENED, lambda: self._opened)
        self._which.value = FORM
        if self._form_text() != text:
            self._comparing.choose(OPENED)
        self._show()

    def _show(self) -> None:
        text, name = self._shown_text()
        compared = None if text is None else self._comparing.shown(name, text)
        set_visible(self._copy, visible=text is not None and compared is None)
        if text is None:
            self._code.value = markup.notice("info", "No script while the form has problems.")
            return
        self._code.value = highlighted(text) if compared is None else compared

    def _shown_text(self) -> tuple[str | None, str]:
        if self._which.value == RUN and self._run is not None:
            return self._run.script, RUNS
        return self._form_text(), FORMS

    def _form_text(self) -> str | None:
        return render_script(self._plan) if self._plan else None

    def _text(self, suffix: str) -> str | None:
        run = self._run if self._which.value == RUN else None
        plan = run.plan if run else self._plan
        if plan is None:
            return None
        if suffix != ".ipynb":
            return run.script if run else self._form_text()
        return render_notebook(plan)


def highlighted(script: str) -> str:
    """Return Python as HTML; only text with a colour in the style sheet is marked."""
    lexers: Any = importlib.import_module("pygments.lexers")
    parts = []
    for kind, piece in lexers.PythonLexer(ensurenl=False, stripnl=False).get_tokens(script):
        css_class = next((name for root, name in _colored() if kind in root), "")
        plain = escape(piece, quote=False)
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
