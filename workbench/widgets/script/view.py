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
from workbench.scripts import Merged, ScriptError
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
KEPT = (
    "Train starts {name} with these settings and your edits. Rehearse workers starts the form's "
    "script without your edits."
)
LEFT_OUT = (
    "Train starts {name} with these settings, but leaves out {count} of your edited lines, "
    "because the settings change them. The tab Script lists them."
)
FORMS, RUNS, OPENED = "form's script", "opened run's script", "opened file"


class ScriptView:
    """A view that shows one script, alone or next to another, and saves it."""

    def __init__(self, context: OpeningContext, runs_dir: str | Path | None = None) -> None:
        self._plan: Plan | None = None
        self._run: Run | None = None
        self._opened = ""
        self._left_out: tuple[str, ...] = ()
        self._noted: Callable[[str, str], None] = lambda kind, text: None
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
        self._opening.on_chosen(self._show)
        views = (self._opening, self._comparing)
        head = styled(ipw.Box, "wb-row", children=[self._which, self._copy])
        shown = styled(ipw.VBox, COPIED, children=[head, self._code])
        parts = [title, *(view.box for view in views), shown, self._saving.box]
        self.box = styled(ipw.VBox, "wb-section", children=parts)

    def on_note(self, noted: Callable[[str, str], None]) -> None:
        """Call `noted` with the kind and the text of a note on the edits in the form's script.

        The text is empty if the form's script has no edits.
        """
        self._noted = noted

    def edited(self, plan: Plan) -> str | None:
        """Return the script of a plan with the edits of the opened script; None without edits."""
        script = render_script(plan)
        text = self._opening.with_edits(script).text
        return None if text == script else text

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

    def _on_opened(self, name: str, text: str) -> None:
        """Show how the form's script differs from the opened one."""
        self._opened = text
        self._comparing.offer(OPENED, lambda: self._opened)
        self._which.value = FORM
        if self._form_text() != text:
            self._comparing.choose(OPENED)
        self._show()

    def _show(self) -> None:
        self._show_edits()
        text, name = self._shown_text()
        compared = None if text is None else self._comparing.shown(name, text)
        set_visible(self._copy, visible=text is not None and compared is None)
        if text is None:
            self._code.value = markup.notice("info", "No script while the form has problems.")
            return
        self._code.value = highlighted(text) if compared is None else compared

    def _show_edits(self) -> None:
        """Name the edits that the form's script cannot have, and show both scripts."""
        merged = self._form_script()
        left_out = merged.left_out if merged else ()
        name = self._opening.edited
        self._opening.tell(left_out)
        before, self._left_out = self._left_out, left_out
        if left_out and not before:
            self._comparing.choose(OPENED)
        if not name or merged is None:
            self._noted("info", "")
        elif left_out:
            self._noted("warning", LEFT_OUT.format(name=name, count=len(left_out)))
        else:
            self._noted("info", KEPT.format(name=name))

    def _shown_text(self) -> tuple[str | None, str]:
        if self._which.value == RUN and self._run is not None:
            return self._run.script, RUNS
        return self._form_text(), FORMS

    def _form_text(self) -> str | None:
        merged = self._form_script()
        return merged.text if merged else None

    def _form_script(self) -> Merged | None:
        return self._opening.with_edits(render_script(self._plan)) if self._plan else None

    def _text(self, suffix: str) -> str | None:
        run = self._run if self._which.value == RUN else None
        plan = run.plan if run else self._plan
        if plan is None:
            return None
        if suffix != ".ipynb":
            return run.script if run else self._form_text()
        if run is None and self.edited(plan) is not None:
            raise ScriptError(
                "without edits to be saved as a notebook",
                f"the edits of {self._opening.edited}",
                "Save .py, or leave the edits out of the form's script.",
            )
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
