"""The comparison of the shown script with the form's, a run's, a file's or an opened script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ipywidgets as ipw

from workbench.runs import RunError, open_run
from workbench.runs.folder.files import expanded
from workbench.widgets.form.fields import name_box
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import ANY_WIDTH, set_visible, styled

from .difference import difference

NOTHING, OTHER = "", "other"


class ScriptComparing:
    """A choice of the other script; the view shows the difference in place of the text."""

    def __init__(self, runs_dir: str | Path | None) -> None:
        self._runs_dir = runs_dir
        self._texts: dict[str, Callable[[], str | None]] = {}
        self._changed: Callable[[], None] = lambda: None
        self._with = styled(
            ipw.Dropdown, options=[("Nothing", NOTHING)], description="Compare with",
            style=ANY_WIDTH,
        )  # fmt: skip
        self._other = name_box("Run or file", placeholder="a run's id, or the path of a script")
        with_box = styled(ipw.VBox, "wb-field", children=[self._with])
        self._other_box = styled(ipw.VBox, "wb-field", children=[self._other], visible=False)
        self.box = styled(ipw.Box, "wb-save", children=[with_box, self._other_box])
        self._offer()
        self._with.observe(lambda _: self._on_choice(), "value")
        self._other.observe(lambda _: self._changed(), "value")

    def on_change(self, changed: Callable[[], None]) -> None:
        """Call `changed` each time the view must show another comparison."""
        self._changed = changed

    def offer(self, name: str, text: Callable[[], str | None] | None) -> None:
        """Offer a text under a name; None withdraws the offer of that name."""
        if text is None:
            self._texts.pop(name, None)
        else:
            self._texts[name] = text
        self._offer()

    def choose(self, name: str) -> None:
        """Compare with the text that is offered under a name."""
        self._with.value = name

    def shown(self, name: str, script: str) -> str | None:
        """Return the difference to a script as HTML; None if nothing is compared."""
        chosen = self._with.value
        if chosen == NOTHING:
            return None
        try:
            other_name, other = self._chosen(chosen)
        except (OSError, UnicodeDecodeError, RunError) as error:
            return markup.notice("error", str(error))
        if other is None:
            return markup.notice("info", "Type a run's id or the path of a script.")
        return difference(other, script, other_name, f"the {name}")

    def _chosen(self, chosen: str) -> tuple[str, str | None]:
        if chosen != OTHER:
            return f"the {chosen}", self._texts[chosen]()
        typed = self._other.value.strip()
        if not typed:
            return "", None
        path = expanded(typed)
        if path.is_file():
            return path.name, path.read_text(encoding="utf-8")
        run = open_run(typed, self._runs_dir)
        return f"run {run.id}", run.script

    def _on_choice(self) -> None:
        set_visible(self._other_box, visible=self._with.value == OTHER)
        self._changed()

    def _offer(self) -> None:
        chosen = self._with.value
        names = list(self._texts)  # a copy, because another thread may offer a script now
        options = [("Nothing", NOTHING), *((f"The {name}", name) for name in names)]
        options.append(("Another run or a file ...", OTHER))
        self._with.options = options
        self._with.value = chosen if chosen in dict(options).values() else NOTHING
        set_visible(self._other_box, visible=self._with.value == OTHER)
