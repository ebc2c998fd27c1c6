"""One field of the form: a labelled control, its help, and the problems found in it."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as ipw

from workbench.catalog import CHOICES, Choice
from workbench.config import USUAL as DEFAULTS
from workbench.config import field_types
from workbench.fields import FIELDS
from workbench.widgets.kernel.jupyter_server import own_server
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import ANY_WIDTH, html, set_visible, styled

Changed = Callable[[], None]
USUAL = ""
PLAIN = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?P<by>[,_ ])\d{3}(?:(?P=by)\d{3})*", re.ASCII)
"""Whole numbers with separated thousands, such as 10,000."""


class UnreadableError(ValueError):
    """Content of a control that is no value of the field: the rule, the content and the fix."""

    def __init__(self, rule: str, got: str, fix: str) -> None:
        super().__init__(f"{rule}; got {got}. {fix}")
        self.rule, self.got, self.fix = rule, got, fix


class Field(ABC):
    """A control for one field of the config. Subclasses define how to read and write it."""

    def __init__(self, name: str, label: str, control: Any, help_text: str | None = None) -> None:
        self.name = name
        self.label = label
        self.control = control
        self._changed: Changed = lambda: None
        self._help = help_mark(label, help_of(name) if help_text is None else help_text)
        self._parts = [control, self._help]
        self._problems: Any = None
        """The line of problems, made at the first problem."""
        self._visible = True
        self._box: Any = None
        control.observe(self._on_value, "value")

    @property
    def box(self) -> Any:
        """The control, its help and below them its problems; made when it gets its place."""
        if self._box is None:
            self._box = styled(ipw.VBox, "wb-field", children=self._parts, visible=self._visible)
        return self._box

    @abstractmethod
    def read(self) -> Any:
        """Return the field's value for the config.

        Raises:
            UnreadableError: the content of the control is no value of the field.
        """

    @abstractmethod
    def write(self, value: Any) -> None:
        """Show a value of the config."""

    def on_change(self, changed: Changed) -> None:
        """Call `changed` whenever the person changes the control."""
        self._changed = changed

    def show_help(self, help_text: str) -> None:
        self._help.value = _help_html(self.label, help_text)

    def show_problems(self, messages: Sequence[str], warning: str = "") -> None:
        """Show the problems of the field and a warning, or nothing if there are none."""
        more = _errors_link(self.name) if messages else ""
        problems = "".join(
            f'<div class="wb-problem"><b>Problem:</b> {markup.text(message)} {more}</div>'
            for message in messages
        )
        text = problems + (markup.notice("warning", warning) if warning else "")
        if text and self._problems is None:
            self._problems = html(text, description=f"Problems in {self.label}")
            self.box.children = [*self._parts, self._problems]
        elif self._problems is not None:
            self._problems.value = text

    @property
    def problems(self) -> str:
        """The shown problems and the warning (HTML); empty if there are none."""
        return "" if self._problems is None else str(self._problems.value)

    def show(self, visible: bool) -> None:
        """Show the field, or hide it if it has no meaning."""
        if visible != self._visible:
            self._visible = visible
            if self._box is not None:
                set_visible(self._box, visible=visible)

    @property
    def visible(self) -> bool:
        """Whether the field has a meaning, and so is shown."""
        return self._visible

    def hint(self, chosen: str) -> None:
        """Show in an empty field the value that is chosen for it."""
        if self.control.has_trait("placeholder"):
            self.control.placeholder = chosen

    def _on_value(self, _: object) -> None:
        self._changed()


def help_of(name: str) -> str:
    """Return the help of a config's field; it is empty for other fields."""
    return FIELDS[name].help if name in FIELDS else ""


def help_mark(label: str, help_text: str) -> Any:
    """Return an "i" that shows a control's help under the pointer, with focus or at a touch."""
    return styled(
        ipw.HTML, "wb-help", value=_help_html(label, help_text), description=f"Help for {label}",
    )  # fmt: skip


def _errors_link(name: str) -> str:
    """Return a link to all errors of a field, which shows where the page's server has them."""
    server = own_server() if name in field_types() else None
    if server is None or server.classic:
        return ""
    href = f'href="{markup.text(server.errors_url(name))}"'
    title = f'title="All errors of {markup.text(name)}, with what to do"'
    opens = f'{href} {title} target="_blank" rel="noopener"'
    return f'<a class="wb-link wb-errors" {opens}>More about this error</a>'


def _help_html(label: str, help_text: str) -> str:
    if not help_text:
        return ""
    button = f'<button type="button" aria-label="About {markup.text(label)}">i</button>'
    return f'{button}<span role="tooltip">{markup.text(help_text)}</span>'


def text_box(label: str, **traits: Any) -> Any:
    """Return a one-line text box. The style sheet puts its label above it."""
    return styled(ipw.Text, description=label, style=ANY_WIDTH, **traits)


def name_box(label: str, **traits: Any) -> Any:
    """Return a one-line text box for names and paths, read when the person leaves it."""
    return text_box(label, continuous_update=False, **traits)


class TextField(Field):
    """Free text. No text means `empty`. With `whole`, text is read only when typed completely.

    Names and paths are read in this way.
    """

    def __init__(
        self,
        name: str,
        label: str,
        empty: str | None = None,
        *,
        whole: bool = False,
        hint: str = "",
    ) -> None:
        control = (name_box if whole else text_box)(label, placeholder=hint)
        super().__init__(name, label, control)
        self._empty = empty

    def read(self) -> str | None:
        return self.control.value.strip() or self._empty

    def write(self, value: str | None) -> None:
        self.control.value = "" if value in (None, self._empty) else value


class NumberField(Field):
    """A whole number or a decimal number. If `optional`, no text means: the plan chooses.

    It is a text box on purpose. A browser's number box silently drops text that it cannot read,
    and silently limits numbers that are out of range.
    """

    def __init__(
        self, name: str, label: str, *, whole: bool, optional: bool = False, hint: str = ""
    ) -> None:
        super().__init__(name, label, text_box(label, placeholder=hint))
        self._whole, self._optional = whole, optional

    def read(self) -> float | None:
        typed = self.control.value.strip()
        if not typed and self._optional:
            return None
        return parse_number(typed, whole=self._whole)

    def read_or_say(self) -> float | None:
        """Return the number. Return None if there is none; an error is shown next to the field."""
        self.show_problems([])
        try:
            return self.read()
        except UnreadableError as error:
            self.show_problems([f"must be {error.rule}; got {error.got}. {error.fix}"])
            return None

    def write(self, value: float | None) -> None:
        self.control.value = "" if value is None else self._text(value)

    def _text(self, value: float) -> str:
        if self._whole:
            return f"{value:,}"
        short = f"{value:g}"
        return short if float(short) == value else repr(value)


def parse_number(typed: str, *, whole: bool) -> float:
    """Read a typed number. A comma, blank or underscore separates thousands of whole numbers only.

    Raises:
        UnreadableError: the text is not a number of this kind.
    """
    plain = re.sub("[,_ ]", "", typed) if whole and GROUPED.fullmatch(typed) else typed
    value = float(plain) if PLAIN.fullmatch(plain) else math.nan
    kind = "a whole number" if whole else "a finite number"
    if not math.isfinite(value) or (whole and value != int(value)):
        raise UnreadableError(kind, typed or "nothing", _number_fix(typed, whole=whole))
    return int(value) if whole else value


def _number_fix(typed: str, *, whole: bool) -> str:
    if whole:
        return "Type digits, as in 64 or 10,000."
    if typed.count(",") == 1 and PLAIN.fullmatch(pointed := typed.replace(",", ".")):
        return f"Type a point for decimals: {pointed}."
    return "Type digits, as in 0.001."


class TableField(Field):
    """A choice of one row of a table, with the row's help. The widget `kind` offers the rows."""

    def __init__(
        self,
        name: str,
        label: str,
        rows: Mapping[str, Choice],
        kind: Any,
        field_help: str = "",
        usual: str | None = None,
    ) -> None:
        """`field_help` is the help if no row is chosen; `usual` the label of an option for that."""
        self.rows = rows
        self._field_help = field_help
        options = [] if usual is None else [(usual, USUAL)]
        options += [(row.label, key) for key, row in rows.items()]
        control = styled(kind, options=options, description=label, style=ANY_WIDTH)
        super().__init__(name, label, control, self._help_of(control.value))

    def read(self) -> Any:
        return str(self.control.value) or None

    def write(self, value: str | None) -> None:
        """Show a value. A value that is not in the table (set in a script) becomes an option."""
        keys = [key for _, key in self.control.options]
        shown = value or USUAL
        if shown not in keys:
            self.control.options = [*self.control.options, (shown, shown)]
        self.control.value = shown

    def _on_value(self, change: object) -> None:
        self._explain()
        super()._on_value(change)

    def _explain(self) -> None:
        """Show the help of the chosen row."""
        self.show_help(self._help_of(self.control.value))

    def _help_of(self, value: str) -> str:
        row = self.rows.get(value)
        return row.help if row else self._field_help


class ChoiceField(TableField):
    """A choice of one row in a drop-down list. `usual` is the label of an option for no row."""

    def __init__(
        self,
        name: str,
        label: str,
        rows: Mapping[str, Choice],
        help_text: str | None = None,
        usual: str | None = None,
    ) -> None:
        field_help = help_of(name) if help_text is None else help_text
        super().__init__(name, label, rows, ipw.Dropdown, field_help, usual)


class RadioField(TableField):
    """A choice of one of a table's rows, with all rows in sight."""

    def __init__(self, name: str, label: str, rows: Mapping[str, Choice]) -> None:
        super().__init__(name, label, rows, ipw.RadioButtons, help_of(name))

    def _help_of(self, value: str) -> str:
        row = self.rows.get(value)
        return f"{row.label}: {row.help}" if row else self._field_help


def check_box(label: str, *, ticked: bool = False) -> Any:
    """Return a check box."""
    return styled(ipw.Checkbox, value=ticked, description=label, indent=False)


class CheckField(Field):
    """A check box for yes or no."""

    def __init__(self, name: str, label: str) -> None:
        super().__init__(name, label, check_box(label))

    def read(self) -> bool:
        return bool(self.control.value)

    def write(self, value: bool) -> None:
        self.control.value = value


def field_of(name: str) -> Field:
    """Return the control of a config's field, as its choices or its type ask for it."""
    row, kinds, default = FIELDS[name], field_types()[name], getattr(DEFAULTS, name)
    optional = default is None
    if name in CHOICES:
        return ChoiceField(name, row.label, CHOICES[name], usual=row.hint if optional else None)
    if bool in kinds:
        return CheckField(name, row.label)
    if str in kinds:
        return TextField(name, row.label, default, whole=True, hint=row.hint)
    return NumberField(name, row.label, whole=int in kinds, optional=optional, hint=row.hint)
