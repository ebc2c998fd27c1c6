"""The common view of a search: its fields, its progress, a stop button, and its result."""

from __future__ import annotations

import dataclasses
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import ipywidgets as ipw

from workbench import catalog, units
from workbench.config import ConfigError, RunConfig
from workbench.fields import NOT_TRAINED
from workbench.widgets.form.fields import NumberField, UnreadableError
from workbench.widgets.form.form import FormState
from workbench.widgets.form.form_words import sentence
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, set_visible, styled

if TYPE_CHECKING:
    from workbench.devices import Devices
    from workbench.plan import Problem

Progress = TypeVar("Progress")
Found = TypeVar("Found")

OTHERS = "The other search is running. Wait until it ends, or stop it."
CHANGED = (
    "Other fields of the form have changed since the search, so its result may be out of date. "
    "Search again to be sure."
)
OF_NO_ACCOUNT = set(NOT_TRAINED) - {"interpreter"}


@dataclass(frozen=True)
class SearchContext:
    """The parts of the workbench that a search uses."""

    state: Callable[[], FormState]
    """Returns the form's state: its config and its problems."""
    write: Callable[[RunConfig], None]
    """Fills the form with a config."""
    label_of: Callable[[str], str]
    """Returns the form's label of a field."""
    devices: Callable[[], Devices]


class SearchView(ABC, Generic[Progress, Found]):
    """A view that searches in a thread, with the config of the form at the moment of the click.

    The result of a search stays visible until the next search has something to show.
    """

    TITLE: ClassVar[str]
    ABOUT: ClassVar[str]
    FIND: ClassVar[str]
    STOP: ClassVar[str]
    LEFT_OUT: ClassVar[frozenset[str]]
    """The form's fields that the search ignores."""

    def __init__(
        self, context: SearchContext, fields: Sequence[NumberField], uses: Sequence[Any]
    ) -> None:
        self._context, self._fields, self._uses = context, fields, uses
        self._stopping: threading.Event | None = None
        """The event that ends the running search; None if no search runs."""
        self._asked: Mapping[str, Any] = {}
        """The values of the fields for this search."""
        self._config = self._shown_config = RunConfig()
        """The config of the newest search, and the config of the search whose result is visible."""
        self._busy_changed: Callable[[bool], None] = lambda busy: None
        self._find = button(self.FIND, "Search with the form's config", self._on_find)
        self._end = button(self.STOP, "Stop and keep the results so far", self._on_stop)
        self._progress = html(description=f"Progress: {self.TITLE}")
        self._answer = html(description=f"Result: {self.TITLE}")
        self._picture = html(description=f"Curve: {self.TITLE}")
        self._table = html(description=f"Table: {self.TITLE}")
        self.box = self._lay_out()
        self._set_busy(None)
        self._offer(())

    @abstractmethod
    def _search(
        self,
        config: RunConfig,
        on_progress: Callable[[Progress], None],
        stopped: Callable[[], bool],
    ) -> Found:
        """Search with this config and with the values in `_asked`."""

    @abstractmethod
    def _show_progress(self, progress: Progress) -> str:
        """Show the results so far; return the progress (HTML)."""

    @abstractmethod
    def _show_found(self, found: Found) -> str:
        """Show the result, and offer it to the form; return how much was done, as text."""

    def on_busy(self, changed: Callable[[bool], None]) -> None:
        """Call `changed` when a search begins or ends."""
        self._busy_changed = changed

    def allow(self, allowed: bool) -> None:
        """Allow a search to begin; forbid it while another search runs."""
        self._find.disabled = not allowed
        self._find.tooltip = "Search with the form's config" if allowed else OTHERS

    def close(self) -> None:
        """Ask the running search to end."""
        if self._stopping is not None:
            self._stopping.set()

    def _lay_out(self) -> Any:
        about = markup.heading(self.TITLE, 3) + markup.quiet(self.ABOUT)
        fields = styled(ipw.Box, "wb-fields", children=[field.box for field in self._fields])
        return styled(
            ipw.VBox,
            "wb-spaced",
            children=[
                html(about, description="Section"),
                fields,
                row(self._find, self._end, self._progress),
                row(*self._uses, self._answer),
                self._picture,
                self._table,
            ],
        )

    def _on_find(self, _: Any) -> None:
        typed, state = self._typed(), self._context.state()
        if typed is None:
            return
        problems = [each for each in state.problems if each.field not in self.LEFT_OUT]
        if problems:
            self._show_problems(problems)
            return
        self._asked, self._config = typed, state.config
        stopping = threading.Event()
        self._set_busy(stopping)
        self._progress.value = markup.quiet("Starting ...")
        run_in_background(
            lambda: self._search(state.config, self._on_progress, stopping.is_set),
            self._done,
            self._failed,
            stopping.set,
        )

    def _typed(self) -> dict[str, Any] | None:
        """Return the values of the fields.

        Return None if a field cannot be read; that field then shows the problem.
        """
        typed: dict[str, Any] = {}
        for field in self._fields:
            field.show_problems([])
            try:
                typed[field.name] = field.read()
            except UnreadableError as error:
                field.show_problems([f"must be {error.rule}; got {error.got}. {error.fix}"])
        return typed if len(typed) == len(self._fields) else None

    def _on_stop(self, _: Any) -> None:
        if self._stopping is not None:
            self._stopping.set()
            self._end.disabled = True
            self._progress.value = markup.quiet("Stopping ...")

    def _set_busy(self, stopping: threading.Event | None) -> None:
        self._stopping = stopping
        self._find.disabled = stopping is not None
        self._end.disabled = False
        set_visible(self._end, visible=stopping is not None)
        self._busy_changed(stopping is not None)

    def _on_progress(self, progress: Progress) -> None:
        """Show the progress; the search's thread calls this often."""
        shown = self._show_progress(progress)
        if self._stopping is not None and not self._stopping.is_set():
            self._progress.value = shown

    def _done(self, found: Found) -> None:
        summary = self._show_found(found)
        self._progress.value = markup.quiet(f"{summary}: {subject(self._config)}.")
        self._set_busy(None)

    def _failed(self, error: Exception) -> None:
        if isinstance(error, ConfigError):
            self._show_problems(error.problems)
        else:
            self._progress.value = _explained(str(error))
        self._set_busy(None)

    def _show_problems(self, problems: Sequence[Problem]) -> None:
        """Show problems next to the fields of the search, and all other problems as notices."""
        own = {field.name: field for field in self._fields}
        for name, field in own.items():
            mine = [each for each in problems if each.field == name]
            field.show_problems([sentence(each, self._context.label_of) for each in mine])
        others = [str(each) for each in problems if each.field not in own]
        self._progress.value = "".join(markup.notice("error", each) for each in others)

    def _begin_to_show(self) -> None:
        """Remove the answer of an earlier search, because there is a new result."""
        self._shown_config = self._config
        self._answer.value = ""
        self._offer(())

    def _offer(self, shown: Sequence[Any]) -> None:
        """Show only these of the buttons that write into the form."""
        for each in self._uses:
            set_visible(each, visible=each in shown)

    def _use(self, result: str, **values: Any) -> None:
        """Write a result into the form; `result` describes it."""
        asked = self._context.state().config
        self._context.write(dataclasses.replace(asked, **values))
        message = markup.quiet(f"The form has {result} now.")
        if not self._is_alike(asked, self._shown_config):
            message += markup.notice("warning", CHANGED)
        self._progress.value = message

    def _is_alike(self, one: RunConfig, other: RunConfig) -> bool:
        names = {field.name for field in dataclasses.fields(RunConfig)}
        return all(
            getattr(one, name) == getattr(other, name)
            for name in names - self.LEFT_OUT - OF_NO_ACCOUNT
        )


def how_far(activity: str, eta_seconds: float | None) -> str:
    """Return the progress of a search and the time that is left (HTML)."""
    left = "" if eta_seconds is None else f", about {units.duration(eta_seconds)} left"
    return markup.quiet(f"{activity}{left}")


def subject(config: RunConfig) -> str:
    """Return the subject of a search in words, such as `Mirrored, Custom loop, Synthetic`."""
    chosen = (
        (catalog.STRATEGIES, config.strategy),
        (catalog.LOOPS, config.loop),
        (catalog.DATA, config.data),
        (catalog.MODELS, config.model),
    )
    return ", ".join(rows[name].label if name in rows else name for rows, name in chosen if name)


def _explained(message: str) -> str:
    """Return an error as HTML; the log that follows its first line is folded."""
    first_line, _, log = message.partition("\n")
    folded = f"<details><summary>End of the log</summary>{_log(log)}</details>" if log else ""
    return markup.notice("error", first_line) + folded


def _log(text: str) -> str:
    return markup.scrolling("Log", f'<pre class="wb-log">{markup.text(text)}</pre>', "wb-tail")
