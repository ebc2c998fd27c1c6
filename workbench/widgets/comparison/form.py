"""The form of a comparison: the settings that vary, the repeats and the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as ipw

from workbench import catalog
from workbench.catalog import SIMPLEST_FIRST, Choice
from workbench.config import RunConfig
from workbench.experiments.queueing.grid import BatchSize
from workbench.experiments.queueing.tournament import to_be_compared
from workbench.widgets.form.fields import (
    ChoiceField,
    NumberField,
    TextField,
    UnreadableError,
    check_box,
    help_mark,
    parse_number,
)
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html, styled

SIZES = {
    "global_batch_size": Choice(
        "Global",
        "Every candidate has this global batch size; each replica takes its share.",
    ),
    "per_replica_batch_size": Choice(
        "Per replica", "With more replicas, a step takes more examples."
    ),
}

PRECISIONS = {name: each for name, each in catalog.PRECISIONS.items() if name != "float64"}
XLA = {
    "off": Choice("Off", "TensorFlow runs the operations of the step one by one."),
    "on": Choice("On", "XLA compiles each replica's step."),
}
AS_IN_FORM = "If none is ticked, the setting of the form applies."


@dataclass(frozen=True)
class Asked:
    """A requested comparison."""

    config: RunConfig
    axes: Mapping[str, Sequence[Any]]
    repeats: int
    budget_seconds: float | None
    target_accuracy: float | None
    shared: BatchSize
    """The batch size that all candidates have, unless it varies."""


class Ticks:
    """A check box for each row of a table. Any number of boxes may be ticked."""

    def __init__(
        self, label: str, rows: Mapping[str, Choice], ticked: Sequence[str] = (), hint: str = ""
    ) -> None:
        self._boxes = {
            name: check_box(row.label, ticked=name in ticked) for name, row in rows.items()
        }
        title = html(f"<div><b>{markup.text(label)}</b></div>", description=label)
        about = help_mark(label, hint)
        self.box = styled(
            ipw.VBox,
            "wb-field",
            children=[title, *self._boxes.values(), *([about] if hint else [])],
        )

    def read(self) -> list[str]:
        """Return the names of the ticked rows."""
        return [name for name, box in self._boxes.items() if box.value]

    def write(self, names: Sequence[str]) -> None:
        """Tick these rows and no others."""
        for name, box in self._boxes.items():
            box.value = name in names


class ComparisonForm:
    """The fields of a comparison. Settings that do not vary come from the form above it."""

    def __init__(self) -> None:
        able = [name for name, each in catalog.STRATEGIES.items() if not each.tpu]
        self.strategies = Ticks("Strategies", catalog.STRATEGIES, able)
        self.loops = Ticks("Loops", catalog.LOOPS, ["custom"])
        self.precisions = Ticks("Precision", PRECISIONS, hint=AS_IN_FORM)
        self.xla = Ticks("XLA", XLA, hint=AS_IN_FORM)
        self.replicas = TextField("compared_replicas", "Replica counts", hint="automatic")
        self.replicas.show_help("List several to compare them, such as 1, 2, 4.")
        self.workers = TextField("compared_workers", "Worker counts", hint="automatic")
        self.workers.show_help(
            "For the strategies with several workers. List several to compare them, such as 2, 4."
        )
        self.sizes = TextField("compared_sizes", "Batch sizes", hint="as in the form")
        self.sizes.show_help(
            "List several to compare them, such as 64, 256. Empty: the batch size of the form, "
            "for its own strategy and replicas."
        )
        self.equal = ChoiceField("compared_equal", "Batch sizes are", SIZES)
        self.steps = NumberField("compared_steps", "Steps per run", whole=True, optional=True)
        self.steps.hint("automatic")
        self.steps.show_help(
            "All steps are in one epoch; with a target accuracy, in as many epochs as the form "
            "says. Empty: enough steps to measure the throughput."
        )
        self.repeats = NumberField("compared_repeats", "Runs per candidate", whole=True)
        self.repeats.write(3)
        self.repeats.show_help("Confidence intervals need at least three runs.")
        self.budget = NumberField(
            "budget_seconds", "Time budget in seconds", whole=False, optional=True
        )
        self.budget.hint("no limit")
        self.budget.show_help("The limit applies to all runs together. Empty: no limit.")
        self.target = NumberField("target_accuracy", "Target accuracy", whole=False, optional=True)
        self.target.hint("none")
        self.target.show_help(
            "For example 0.9. The table then shows the time until a run reaches it at the end of "
            "an epoch."
        )
        self._fields = (
            *(self.replicas, self.workers, self.sizes, self.equal, self.steps),
            *(self.repeats, self.budget, self.target),
        )
        ticks = (self.strategies, self.loops, self.precisions, self.xla)
        boxes = [*(each.box for each in ticks), *(field.box for field in self._fields)]
        self.box = styled(ipw.Box, "wb-fields", children=boxes)

    def read(self, config: RunConfig) -> Asked | None:
        """Return the requested comparison. If a field cannot be read, show that and return None."""
        values: dict[str, Any] = {}
        for field, read in (
            (self.replicas, lambda: _numbers(self.replicas.read())),
            (self.workers, lambda: _numbers(self.workers.read())),
            (self.sizes, lambda: _numbers(self.sizes.read())),
            (self.steps, self.steps.read),
            (self.repeats, self.repeats.read),
            (self.budget, self.budget.read),
            (self.target, self.target.read),
        ):
            field.show_problems([])
            try:
                values[field.name] = read()
            except UnreadableError as error:
                field.show_problems([f"must be {error.rule}; got {error.got}. {error.fix}"])
        if len(values) < len(self._fields) - 1:
            return None
        axes: dict[str, Sequence[Any]] = {
            "strategy": sorted(self.strategies.read(), key=SIMPLEST_FIRST.index),
            "loop": self.loops.read(),
        }
        if values["compared_replicas"]:
            axes["replicas"] = values["compared_replicas"]
        if values["compared_workers"]:
            axes["workers"] = values["compared_workers"]
        if values["compared_sizes"]:
            axes[self.equal.read()] = values["compared_sizes"]
        if precisions := self.precisions.read():
            axes["precision"] = precisions
        if xla := self.xla.read():
            axes["xla"] = [name == "on" for name in xla]
        target = values["target_accuracy"]
        return Asked(
            to_be_compared(config, target, values["compared_steps"]),
            axes,
            int(values["compared_repeats"]),
            values["budget_seconds"],
            target,
            self.equal.read(),
        )


def _numbers(typed: str | None) -> list[int]:
    """Return the whole numbers in a text that separates them by commas or blanks."""
    return [int(parse_number(each, whole=True)) for each in (typed or "").replace(",", " ").split()]
