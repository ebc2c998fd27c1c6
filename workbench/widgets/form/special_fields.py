"""Fields with several controls: linked batch sizes, devices, GPU memory, steps per call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as ipw

from workbench.catalog import STRATEGIES, Choice
from workbench.fields import BATCH_SIZES, FIELDS
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import column, html, set_visible, styled

from .fields import (
    Changed,
    ChoiceField,
    Field,
    TextField,
    UnreadableError,
    check_box,
    parse_number,
    text_box,
)

LATER = "The steps per epoch appear here once the problems are fixed."


class BatchFields:
    """Per-replica and global batch size: the size typed last leads, and the other size follows.

    A size that the person empties stays empty: the size of the plan is shown as its placeholder.

    If the workers are not synchronous, there is no global batch size. Then a typed global batch
    size is kept until the strategy is synchronous again. Meanwhile the per-replica batch size that
    resulted from it leads.
    """

    def __init__(self) -> None:
        self.fields = [TextField(name, FIELDS[name].label) for name in BATCH_SIZES]
        self._leader: int | None = None
        self._emptied: int | None = None
        """The size that the person emptied while the other one leads."""
        self._replicas: int | None = None
        self._synchronous = True
        self._aside: str | None = None
        self._writing = False
        self._changed: Changed = lambda: None
        self._times = html(description="Batch arithmetic")
        for at, field in enumerate(self.fields):
            field.on_change(self._typed(at))
        pair = styled(
            ipw.Box, "wb-pair", children=[self.fields[0].box, self._times, self.fields[1].box]
        )
        self._sum = html(description="Result of the batch sizes")
        self.box = styled(ipw.VBox, "wb-field", "wb-span", children=[pair, self._sum])

    def read(self) -> dict[str, int | None]:
        """Return both sizes for the config; only the leading one is set.

        Raises:
            UnreadableError: the size typed last is not a whole number.
        """
        sizes: dict[str, int | None] = dict.fromkeys(BATCH_SIZES)
        if self._leader is not None:
            sizes[BATCH_SIZES[self._leader]] = self._number(self._leader)
        return sizes

    @property
    def leader(self) -> str:
        """The config field that was typed last."""
        return BATCH_SIZES[self._leader or 0]

    def write(
        self, per_replica: int | None, joined: int | None, *, synchronous: bool = True
    ) -> None:
        """Show the batch sizes of a config. If it has neither size, the plan fills in both."""
        self._synchronous, self._aside = synchronous, None
        self._leader = 0 if per_replica is not None else 1 if joined is not None else None
        self._emptied = None
        for at, value in enumerate((per_replica, joined)):
            self._set(at, "" if value is None else f"{value:,}")
        self._show_pair()

    def follow(self, *, synchronous: bool) -> None:
        """Follow the person's choice of a strategy, which may be synchronous or not."""
        if synchronous == self._synchronous:
            return
        self._synchronous, self._replicas = synchronous, None
        each, joined = (field.control.value.strip() for field in self.fields)
        if self._emptied == 0:
            each = self.fields[0].control.placeholder
            self._set(0, each)
        if not synchronous and self._leader == 1:
            self._aside, self._leader = joined, 0 if each else None
            self._set(1, "")
        elif synchronous and self._aside is not None:
            self._set(1, self._aside)
            self._aside, self._leader = None, 1
        self._show_pair()

    def on_change(self, changed: Changed) -> None:
        self._changed = changed

    def show_plan(
        self, per_replica: int, joined: int | None, replicas: int, arithmetic: str
    ) -> None:
        """Show the batch sizes of a valid plan, and its arithmetic."""
        self._replicas = replicas
        for at, value in enumerate((per_replica, joined)):
            if at != self._leader:
                self._follow_leader(at, "" if value is None else f"{value:,}")
        self._show(arithmetic)

    def show_no_plan(self) -> None:
        """Show the batch sizes that are known although another field has a problem."""
        if self._leader is None:
            for field in self.fields:
                field.hint("")
        if self._leader is None or self._replicas is None or not self._synchronous:
            self._show(LATER)
            return
        try:
            size = self._number(self._leader)
        except UnreadableError:
            size = None
        other = 1 - self._leader
        self._follow_leader(other, self._other(size, self._replicas))
        self._show(LATER)

    def _other(self, size: int | None, replicas: int) -> str:
        if size is None:
            return ""
        if self._leader == 0:
            return f"{size * replicas:,}"
        return "" if size % replicas else f"{size // replicas:,}"

    def _show_pair(self) -> None:
        """Show the global batch size if there is one, or if the config asks for it in error."""
        self.fields[1].show(self._synchronous or self._leader == 1)
        text = f"&times; {self._replicas or ''} replica{'s' * (self._replicas != 1)} ="
        times = f'<div class="wb-times wb-by">{text}</div>'
        alone = '<div class="wb-times">each worker\'s batch; there is no global batch</div>'
        self._times.value = times if self._synchronous else alone

    def _show(self, arithmetic: str) -> None:
        self._show_pair()
        self._sum.value = markup.quiet(arithmetic)

    def _number(self, at: int) -> int | None:
        typed = self.fields[at].control.value.strip()
        return int(parse_number(typed, whole=True)) if typed else None

    def _follow_leader(self, at: int, size: str) -> None:
        """Show a size that was not typed: as a placeholder if nobody typed one."""
        self._set(at, "" if self._leader is None or at == self._emptied else size)
        self.fields[at].hint(size)

    def _set(self, at: int, text: str) -> None:
        self._writing = True
        try:
            self.fields[at].control.value = text
        finally:
            self._writing = False

    def _typed(self, at: int) -> Callable[[], None]:
        def typed() -> None:
            if self._writing:
                return
            typed_in = bool(self.fields[at].control.value.strip())
            follower = self._leader is not None and at != self._leader
            if typed_in or not follower:
                self._leader = at if typed_in else None
            self._emptied = at if follower and not typed_in else None
            self._aside = None
            self._changed()

        return typed


class StrategyField(ChoiceField):
    """The choice of a strategy. If the strategy has a warning, it is shown below as a notice."""

    def __init__(self) -> None:
        self._warning = html(description="Notice on Strategy")
        super().__init__("strategy", FIELDS["strategy"].label, STRATEGIES)
        self._parts = [self.control, self._help, self._warning]

    def remark(self, remarks: Mapping[str, str]) -> None:
        """Add remarks to the labels of rows, in parentheses; `remarks` maps rows to remarks."""
        chosen = self.control.value
        options = [(_remarked(r.label, remarks.get(key)), key) for key, r in self.rows.items()]
        if chosen not in [key for _, key in options]:
            options.append((chosen, chosen))
        if options != list(self.control.options):
            self.control.options = options
            self.control.value = chosen

    def _explain(self) -> None:
        super()._explain()
        row = self.rows.get(self.control.value)
        self._warning.value = markup.notice("warning", row.warning) if row and row.warning else ""


def _remarked(label: str, remark: str | None) -> str:
    return f"{label} ({remark})" if remark else label


class DevicesField(Field):
    """A check box for each device. If none is ticked, the plan chooses the devices."""

    def __init__(self, names: Sequence[str]) -> None:
        self._row = column()
        self._checks: dict[str, Any] = {}
        self._label = html("<div><b>Devices</b></div>", description="Devices")
        about = "If none is ticked, all GPUs are used; without a GPU, the CPU."
        super().__init__("devices", FIELDS["devices"].label, self._row, about)
        self._parts = [self._label, self._row, self._help]
        self.offer(names)

    def offer(self, names: Sequence[str]) -> None:
        """Offer these devices. Missing devices that are ticked stay, so the plan reports them."""
        ticked = [name for name, check in self._checks.items() if check.value]
        wanted = [*names, *(name for name in ticked if name not in names)]
        if list(self._checks) == wanted:
            return
        self._checks = {name: self._check(name, name in ticked) for name in wanted}
        self._row.children = list(self._checks.values())

    def read(self) -> tuple[str, ...] | None:
        return tuple(name for name, check in self._checks.items() if check.value) or None

    def write(self, value: tuple[str, ...] | None) -> None:
        self.offer([*self._checks, *(n for n in value or () if n not in self._checks)])
        for name, check in self._checks.items():
            check.value = name in (value or ())

    def _check(self, name: str, ticked: bool) -> Any:
        check = check_box(name, ticked=ticked)
        check.observe(self._on_value, "value")
        return check


class OrNumberField(ChoiceField):
    """A choice of one of a table's rows. One row means a whole number that is typed below it."""

    def __init__(
        self, name: str, label: str, rows: Mapping[str, Choice], row: str, typed: str, usual: int
    ) -> None:
        super().__init__(name, label, rows, "")
        self._row = row
        self._number = text_box(typed, value=f"{usual}", visible=False)
        self._parts = [self.control, self._help, self._number]
        self._number.observe(self._on_value, "value")

    def read(self) -> Any:
        if self.control.value != self._row:
            return self.control.value or None
        return int(parse_number(self._number.value.strip(), whole=True))

    def write(self, value: Any) -> None:
        if isinstance(value, int):
            self._number.value = f"{value}"
            value = self._row
        super().write(value or "")

    def _on_value(self, change: object) -> None:
        set_visible(self._number, visible=self.control.value == self._row)
        super()._on_value(change)


def gpu_memory_field() -> OrNumberField:
    """Return the field of GPU memory: as needed, all at the start, or a limit in MiB a replica."""
    rows = {
        "growth": Choice("As needed", "Allocates memory as it is needed (memory growth)."),
        "all": Choice(
            "All at the start", "Allocates all memory at the start: TensorFlow's default."
        ),
        "limit": Choice("A limit", "Allocates at most this many MiB per replica."),
    }
    label = FIELDS["gpu_memory"].label
    return OrNumberField("gpu_memory", label, rows, "limit", "MiB per replica", 4096)


def steps_per_call_field() -> OrNumberField:
    """Return the field of steps per graph call: by estimate, a number, or an epoch."""
    rows = {
        "": Choice(
            "Automatic", "About 0.2 s; 20 steps with a model of your own or with ParameterServer."
        ),
        "number": Choice(
            "A number of steps", "1 makes a call for each step, which helps with debugging."
        ),
        "epoch": Choice(
            "A whole epoch",
            "One call per epoch: it can stop only at the end of the epoch.",
        ),
    }
    label = FIELDS["steps_per_call"].label
    return OrNumberField("steps_per_call", label, rows, "number", "Steps per call", 1)
