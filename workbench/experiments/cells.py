"""The cells of a matrix: each strategy in each loop, candidates of a comparison, with results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from workbench import catalog
from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.plan import PlanError, make_plan
from workbench.plan.keras import needs_legacy_keras
from workbench.runs.folder.files import read_json
from workbench.runs.programs.own_data import inspect_data

from .queueing.comparison import DEVICES, Comparison
from .queueing.grid import Candidate

if TYPE_CHECKING:
    from workbench.plan.plan import DataFacts

GLOBAL_BATCH_SIZE = 64
REFERENCE = ("one_device", "custom")
"""The strategy and the loop of the cell with which all others are compared; it is the first."""
JUDGED, CERTIFIED = "judged", "certified"
"""The queue's events with a cell's result: of its steps, and of its weights at the end."""
HEAD = ("Strategy", "Loop", "Result", "Loss difference", "Weight difference", "Steps/s", "Reason")
Status = Literal["waiting", "running", "pass", "fail", "unavailable", "stopped"]


@dataclass(frozen=True)
class Cell:
    """One strategy in one loop, and its result. None is unknown."""

    strategy: str
    loop: str
    status: Status = "waiting"
    reason: str = ""
    keras: str | None = None
    precision: str = "float32"
    max_loss_difference: float | None = None
    max_weight_difference: float | None = None
    float32_loss_difference: float | None = None
    """Of a run in single precision, in which rounding grows each step, besides one in double."""
    steps_per_second: float | None = None
    run: str | None = None
    """The run's folder."""

    @property
    def result(self) -> str:
        """The status as a word for people."""
        return "not done" if self.status == "stopped" else self.status

    def texts(self) -> list[str]:
        """Return the values of a row below `HEAD`; a text is empty if nothing was measured."""
        rate, loss = self.steps_per_second, _difference(self.max_loss_difference)
        if self.float32_loss_difference is not None:
            loss = f"{loss} (float32: {_difference(self.float32_loss_difference)})"
        notes = [self.reason] if self.reason else []
        if self.status == "pass" and rate is None:  # the first call, which may trace, has no rate
            notes.append("too few steps for a speed")
        if self.keras and self.keras.startswith("tf-keras"):
            notes.append(f"with {self.keras}")
        return [
            catalog.STRATEGIES[self.strategy].label,
            self.loop,
            self.result,
            loss,
            _difference(self.max_weight_difference),
            f"{rate:,.0f}" if rate else "",
            "; ".join(notes),
        ]


def _difference(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.1e}"


def grid(
    config: RunConfig, devices: Devices, strategies: Collection[str] = tuple(catalog.STRATEGIES)
) -> list[Candidate]:
    """Return the candidates of all cells, OneDevice's custom loop first.

    Images are trained in float64. A candidate in float32 follows, because in float32 rounding alone
    drives such a model's runs apart.
    """
    facts = inspect_data(config)
    names = sorted(product(catalog.STRATEGIES, catalog.LOOPS), key=lambda cell: cell != REFERENCE)
    found = []
    for strategy, loop in names:
        if strategy not in strategies and (strategy, loop) != REFERENCE:
            continue
        row = catalog.STRATEGIES[strategy]
        chosen = config_of(config, devices, strategy, loop)
        main = Candidate(
            f"{row.label}, {catalog.LOOPS[loop].label}", chosen, _why_not(chosen, devices, facts)
        )
        found.append(main)
        double = config.precision == "float64" and config.model is None
        if double and row.synchronous and not main.reason:
            found.append(Candidate(f"{main.label}, float32", replace(chosen, precision="float32")))
    return found


def config_of(config: RunConfig, devices: Devices, strategy: str, loop: str) -> RunConfig:
    """Return the config of a cell.

    A strategy that mirrors has two virtual replicas on a single GPU: one would have nothing to sum.
    On GPUs the operations are deterministic, because the others round differently each time, so
    that two runs of one script differ too. Without a common step, a worker takes half the global
    batch.
    """
    row = catalog.STRATEGIES[strategy]
    chosen = replace(config, strategy=strategy, loop=loop)
    if row.mirrors and len(devices.gpus) == 1:
        chosen = replace(chosen, replicas=2)
    if row.synchronous:
        return replace(chosen, deterministic=bool(devices.gpus))
    size = GLOBAL_BATCH_SIZE // 2
    return replace(chosen, global_batch_size=None, per_replica_batch_size=size)


def _why_not(config: RunConfig, devices: Devices, facts: DataFacts | None) -> str:
    """Return why a cell cannot be run here; empty if it can."""
    try:
        make_plan(config, devices, facts)
    except PlanError as error:
        if catalog.STRATEGIES[config.strategy].tpu and not devices.tpu_chips:
            return "no TPU here"
        return str(error.problems[0])
    return ""


def numbers_of(candidates: Sequence[Candidate], number: int) -> list[int]:
    """Return the numbers of all candidates of a cell, first of the one that must agree."""
    cells = [(each.config.strategy, each.config.loop) for each in candidates]
    return [at for at, cell in enumerate(cells) if cell == cells[number]]


def cells_of(comparison: Comparison) -> list[Cell]:
    """Return the cells of a matrix in their present state."""
    asked, out, alive = comparison.request.candidates, comparison.left_out, comparison.alive
    devices = Devices.from_json(read_json(comparison.folder / DEVICES))
    trials = {trial.candidate: trial for trial in comparison.trials}
    judged = results(comparison, JUDGED)
    certified = results(comparison, CERTIFIED)
    cells = []
    for number, each in enumerate(asked):
        first, *others = numbers_of(asked, number)
        if first != number:
            continue
        cell = Cell(each.config.strategy, each.config.loop, precision=each.config.precision)
        if each.reason:
            cells.append(replace(cell, status="unavailable", reason=each.reason))
            continue
        run = str(comparison.run_folder(trials[number])) if number in trials else None
        cell = replace(cell, keras=_keras(each.config, devices), run=run)
        if failed := [out[at] for at in (first, *others) if at in out]:
            cell = replace(cell, status="fail", reason=failed[0])
        elif number in judged:
            cell = _with_results(cell, judged[number], certified.get(number), alive=alive)
        else:
            begun: Status = "running" if number in trials else "waiting"
            cell = replace(cell, status=begun if alive else "stopped")
        cells.append(cell)
    return cells


def _with_results(
    cell: Cell, judged: Mapping[str, Any], certified: Mapping[str, Any] | None, *, alive: bool
) -> Cell:
    cell = replace(cell, **judged)
    if certified is not None:
        cell = replace(cell, max_weight_difference=certified["max_weight_difference"])
        if cell.status == "pass" and certified["reason"]:
            return replace(cell, status="fail", reason=certified["reason"])
    elif cell.status == "pass" and catalog.STRATEGIES[cell.strategy].synchronous and not alive:
        return replace(cell, status="stopped", reason="its weights were not compared")
    return cell


def results(comparison: Comparison, kind: str) -> dict[int, dict[str, Any]]:
    """Return the last results of one kind by the number of the candidate."""
    found: dict[int, dict[str, Any]] = {}
    for event in comparison.events:
        if event["event"] == kind:
            found[event["candidate"]] = _values(event)
    return found


def _values(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in event if name not in ("time", "event", "candidate")}


def _keras(config: RunConfig, devices: Devices) -> str | None:
    package, version = devices.keras(legacy=needs_legacy_keras(config))
    return version if package == "keras" else f"{package} {version}"
