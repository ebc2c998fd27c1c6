"""Every strategy in both loops at one seed and one global batch, compared with OneDevice.

A matrix is a comparison of losses and weights instead of speeds: its candidates are the cells.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.plan.plan import DATASET
from workbench.runs.folder.files import runs_root
from workbench.runs.processes.forks import loaded_ahead
from workbench.runs.programs.own_data import inspect_data

from .cells import GLOBAL_BATCH_SIZE, REFERENCE, Cell, cells_of, grid
from .queueing.comparison import Comparison
from .queueing.request import ASKED
from .queueing.start import start_comparison

if TYPE_CHECKING:
    from workbench.devices import Devices
    from workbench.runs.folder.events import Event

STEPS = {"synthetic": 200}
STEPS_OF_IMAGES = 100


@dataclass(frozen=True)
class Matrix:
    """The present state of a matrix."""

    steps: int
    data: str
    cells: list[Cell]
    created: float
    """The time of the request, in seconds since 1970."""
    seconds: float
    """How long its queue has worked."""

    @property
    def passed(self) -> bool:
        """Whether every cell that can be run here has passed."""
        return all(cell.status in ("pass", "unavailable") for cell in self.cells)

    @property
    def counted(self) -> str:
        """How many cells have which result."""
        counts = Counter(cell.result for cell in self.cells)
        return ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"steps": self.steps, "data": self.data, "cells": [asdict(c) for c in self.cells]}


def usual_steps(data: str) -> int:
    """Return how many steps a usual model needs to show its ability: 200 if synthetic, else 100."""
    return STEPS.get(data, STEPS_OF_IMAGES)


def start_matrix(
    steps: int | None = None,
    data: str = "synthetic",
    runs_dir: str | os.PathLike[str] | None = None,
    devices: Devices | None = None,
    interpreter: str | None = None,
    *,
    model: str | None = None,
    strategies: Collection[str] = tuple(catalog.STRATEGIES),
    start: str = RunConfig.start,
) -> Comparison:
    """Start to run every cell that this machine can run, and return while that goes on by itself.

    Each run that agrees with OneDevice's custom loop has its certificate. If a strategy's workers
    are asynchronous, the certificate states that the run trains.

    Args:
        steps: the steps of each run, all in one epoch; None: `usual_steps`.
        data: a data set of the catalogue, or a custom `module:function` or `file.py:function`.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        devices: the devices of this machine; None: they are detected now.
        interpreter: the Python that trains; None: the current one.
        model: a model of the catalogue, or a custom one, given like `data`; None: the data's usual
            model. A given model is run only in float64.
        strategies: names of the catalogue; OneDevice's custom loop is always run.
        start: how the runs' processes start: `auto` or `cold`.

    Raises:
        PlanError: OneDevice's custom loop cannot be planned, for example with 0 steps.
        RunError: the folder of runs cannot be written.
    """
    from workbench.runs.programs.detection import detect_devices

    double = data != "synthetic" or model is not None
    config = RunConfig(
        data=data,
        model=model,
        pipeline="indexed",
        global_batch_size=GLOBAL_BATCH_SIZE,
        epochs=1,
        steps_per_epoch=usual_steps(data) if steps is None else steps,
        last_batch="repeat",  # own data may be smaller than a batch
        precision="float64" if double else "float32",
        interpreter=interpreter,
        start_now=True,
        start=start,
    )
    with loaded_ahead(interpreter, start=start):
        devices = devices or detect_devices(interpreter)
        facts = inspect_data(config)
        if facts is not None and facts.kind == DATASET:
            config = replace(config, pipeline="usual")
        make_plan(replace(config, strategy=REFERENCE[0], loop=REFERENCE[1]), devices, facts)
        cells = grid(config, devices, strategies)
        return start_comparison(cells, devices, runs_dir, repeats=1, agreement=True)


def matrix_of(comparison: Comparison) -> Matrix:
    """Return the present state of a matrix that `start_matrix` started."""
    request, seconds = comparison.request, _seconds(comparison.events)
    config = request.candidates[0].config
    assert config.steps_per_epoch is not None
    cells = cells_of(comparison)
    return Matrix(config.steps_per_epoch, config.data, cells, request.created, seconds)


def newest_matrix(runs_dir: str | os.PathLike[str] | None = None) -> Comparison | None:
    """Return the newest matrix of a folder of runs; None if there is none.

    Raises:
        RunError: its request is damaged.
    """
    found = sorted(runs_root(runs_dir).glob(f"matrix-*/{ASKED}"))
    return Comparison(found[-1].parent) if found else None


def _seconds(events: Iterable[Event]) -> float:
    """Return how long a queue has worked, without the time between a stop and a resume."""
    worked = (
        float(after["time"] - before["time"])
        for before, after in pairwise(events)
        if after.get("state") != "running"
    )
    return sum(worked)
