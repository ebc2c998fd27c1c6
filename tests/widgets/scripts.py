"""A view of scripts and a real form, connected as in the workbench."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as ipw

from tests.machines import LAPTOP
from tests.waiting import until
from workbench.config import RunConfig
from workbench.plan import Plan
from workbench.runs import Run
from workbench.widgets.form.form import Form
from workbench.widgets.script.opening import OpeningContext
from workbench.widgets.script.view import ScriptView


class Page:
    """The form and the script view, with methods for clicks and for reading."""

    def __init__(self, runs_dir: Path, config: RunConfig | None = None) -> None:
        self.form = Form(config or RunConfig(), LAPTOP)
        self.started: list[Run] = []
        context = OpeningContext(
            lambda: self.form.state.config, self.form.write, lambda: LAPTOP, self.started.append
        )
        self.view = ScriptView(context, runs_dir)
        self.note = ""
        self.view.on_note(self._on_note)
        self.form.on_change(lambda state: self.view.show_plan(state.plan))
        self.view.show_plan(self.form.state.plan)

    @property
    def config(self) -> RunConfig:
        return self.form.state.config

    @property
    def plan(self) -> Plan:
        plan = self.form.state.plan
        assert plan is not None
        return plan

    def _on_note(self, text: str) -> None:
        self.note = text

    def set(self, **fields: Any) -> None:
        """Change fields of the form."""
        self.form.write(replace(self.config, **fields))

    def open(self, path: Path) -> None:
        self.fill("Open a script", str(path))
        self.click("Open")
        until(lambda: "Reading " not in self.text)

    def fill(self, label: str, value: str | bool) -> None:
        (control,) = (each for each in self.parts() if getattr(each, "description", "") == label)
        control.value = value

    def click(self, label: str) -> None:
        (button,) = (each for each in self.buttons() if each.description == label)
        button.click()

    def shows(self, label: str) -> bool:
        """Return whether a button or a box is visible."""
        found = [each for each in self.parts() if getattr(each, "description", "") == label]
        return bool(found) and found[0].layout.display != "none"

    def buttons(self) -> list[ipw.Button]:
        return [each for each in self.parts() if isinstance(each, ipw.Button)]

    @property
    def text(self) -> str:
        """All text of the script view, as HTML."""
        return "\n".join(each.value for each in self.parts() if isinstance(each, ipw.HTML))

    def parts(self, box: Any = None) -> list[Any]:
        """Return all widgets in a box, from top to bottom."""
        found = []
        for child in (self.view.box if box is None else box).children:
            found += [child, *(self.parts(child) if hasattr(child, "children") else [])]
        return found
