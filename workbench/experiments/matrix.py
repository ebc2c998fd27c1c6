"""Every strategy in both loops at one seed and one global batch, compared with OneDevice."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.config import RunConfig
from workbench.plan import PlanError, make_plan
from workbench.plan.keras import needs_legacy_keras
from workbench.plan.plan import DATASET
from workbench.runs import Run, RunError, start_run
from workbench.runs.folder.files import json_text, runs_root, unwritable, write_text
from workbench.runs.folder.state import LIVE
from workbench.runs.processes.forks import loaded_ahead
from workbench.runs.programs.own_data import inspect_data

from .agreement import Agreement, Proof, certify, compare, trains, what_is_seen
from .cells import GLOBAL_BATCH_SIZE, REFERENCE, Cell, cells_of, config_of

if TYPE_CHECKING:
    from workbench.devices import Devices

STEPS = {"synthetic": 200}
STEPS_OF_IMAGES = 100
POLL_SECONDS = 0.2


@dataclass
class Matrix:
    """All cells in order; it changes while they run."""

    folder: Path
    steps: int
    data: str
    cells: list[Cell]
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """The number of cells that have ended."""
        return sum(cell.status not in ("waiting", "running") for cell in self.cells)

    @property
    def running(self) -> Cell | None:
        """The cell that starts or trains; an earlier one may still run its last test."""
        return next((cell for cell in reversed(self.cells) if cell.status == "running"), None)

    @property
    def eta_seconds(self) -> float | None:
        """Seconds left, estimated from the cells so far; None before the first is done."""
        ran = sum(cell.status in ("pass", "fail") for cell in self.cells)
        left = sum(cell.status in ("waiting", "running") for cell in self.cells)
        return self.seconds / ran * left if ran else None

    @property
    def failed(self) -> bool:
        """Whether a cell has failed."""
        return any(cell.status == "fail" for cell in self.cells)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"steps": self.steps, "data": self.data, "cells": [asdict(c) for c in self.cells]}


def usual_steps(data: str) -> int:
    """Return how many steps a usual model needs to show its ability: 200 if synthetic, else 100."""
    return STEPS.get(data, STEPS_OF_IMAGES)


def run_matrix(
    steps: int | None = None,
    data: str = "synthetic",
    runs_dir: str | Path | None = None,
    devices: Devices | None = None,
    interpreter: str | None = None,
    on_progress: Callable[[Matrix], None] = lambda matrix: None,
    stopped: Callable[[], bool] = lambda: False,
    model: str | None = None,
    strategies: Collection[str] = tuple(catalog.STRATEGIES),
    start: str = RunConfig.start,
) -> Matrix:
    """Run every cell that this machine can run and compare each with OneDevice's custom loop.

    Images are run in float64 in addition to float32, because in float32 rounding alone drives such
    a model's runs apart. The runs lie in a new folder under `runs_dir`. Each run that passes has
    its certificate. If a strategy's workers are asynchronous, the certificate states that the
    run trains.

    Args:
        steps: the steps of each run, all in one epoch; None: `usual_steps`.
        data: a data set of the catalogue, or a custom `module:function` or `file.py:function`.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        devices: the devices of this machine; None: they are detected now.
        interpreter: the Python that trains; None: the current one.
        on_progress: called whenever a cell has changed, and some times a second during a run.
        stopped: asked now and then; true ends the current cell and leaves out the others.
        model: a model of the catalogue, or a custom one, given like `data`; None: the data's usual
            model. A given model is run only in float64.
        strategies: names of the catalogue; OneDevice's custom loop is always run.
        start: how the runs' processes start: `auto` or `cold`.

    Raises:
        PlanError: OneDevice's custom loop cannot be planned, for example with 0 steps.
        RunError: the folder of runs cannot be written.
    """
    from workbench.runs.programs.detection import detect_devices

    steps = usual_steps(data) if steps is None else steps
    config = replace(_config(steps, data, model, interpreter), start=start)
    with ExitStack() as loaded:
        for legacy in _kinds_of_keras(config, strategies):  # at once: each import uses one core
            ahead = loaded_ahead(config.interpreter, legacy=legacy, start=config.start)
            loaded.enter_context(ahead)
        devices = devices or detect_devices(interpreter)
        facts = inspect_data(config)
        if facts is not None and facts.kind == DATASET:
            config = replace(config, pipeline="usual")
        make_plan(replace(config, strategy=REFERENCE[0], loop=REFERENCE[1]), devices, facts)
        folder = _new_folder(runs_dir)
        matrix = Matrix(folder, steps, data, cells_of(config, devices, strategies))
        _Runner(matrix, config, devices, on_progress, stopped).run()
    return matrix


def _kinds_of_keras(config: RunConfig, strategies: Collection[str]) -> list[bool]:
    """Return False for Keras 3, which the reference needs, and True if a cell needs tf-keras."""
    configs = [
        replace(config, strategy=strategy, loop=loop)
        for strategy in strategies
        for loop in catalog.LOOPS
    ]
    return [False, True] if any(map(needs_legacy_keras, configs)) else [False]


def _new_folder(runs_dir: str | Path | None) -> Path:
    """Make the folder of a matrix and return it.

    Raises:
        RunError: the folder of runs cannot be written.
    """
    folder = runs_root(runs_dir) / time.strftime(f"matrix-%Y%m%d-%H%M%S-{secrets.token_hex(2)}")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder


def _config(steps: int, data: str, model: str | None, interpreter: str | None) -> RunConfig:
    double = data != "synthetic" or model is not None
    return RunConfig(
        data=data,
        model=model,
        pipeline="indexed",
        global_batch_size=GLOBAL_BATCH_SIZE,
        epochs=1,
        steps_per_epoch=steps,
        last_batch="repeat",  # own data may be smaller than a batch
        precision="float64" if double else "float32",
        interpreter=interpreter,
        start_now=True,
    )


class _Runner:
    """Trains the cells one after another, so that each has the machine to itself for its steps.

    A cell's last test, its end and its judgement go on while the next cell starts. On GPUs and TPUs
    they do not, because two processes cannot hold one of them.
    """

    def __init__(
        self,
        matrix: Matrix,
        config: RunConfig,
        devices: Devices,
        on_progress: Callable[[Matrix], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._matrix, self._config, self._devices = matrix, config, devices
        self._on_progress, self._stopped = on_progress, stopped
        self._runs: dict[tuple[str, str], dict[str, Run]] = {}
        self._last: tuple[int, dict[str, Run]] | None = None
        """The index and the runs of the cell that is trained and not judged yet."""

    def run(self) -> None:
        """Run all cells, then compare all weights together, so that TensorFlow loads only once."""
        began = time.monotonic()
        for at, cell in enumerate(self._matrix.cells):
            if cell.status == "waiting" and self._stopped():
                self._put(at, replace(cell, status="stopped"))
            elif cell.status == "waiting":
                self._train_cell(at, cell)
            self._matrix.seconds = time.monotonic() - began
            self._on_progress(self._matrix)
        self._judge_last()
        self._matrix.seconds = time.monotonic() - began
        self._certify()
        self._keep()

    def _keep(self) -> None:
        """Write the results so far, because this process may end before the last cell."""
        write_text(self._matrix.folder / "matrix.json", json_text(self._matrix.to_json()))

    def _put(self, at: int, cell: Cell) -> None:
        self._matrix.cells[at] = cell
        self._on_progress(self._matrix)

    def _train_cell(self, at: int, cell: Cell) -> None:
        self._put(at, replace(cell, status="running"))
        synchronous = catalog.STRATEGIES[cell.strategy].synchronous
        kinds = [cell.precision]
        if cell.precision == "float64" and synchronous and self._config.model is None:
            kinds.append("float32")
        runs: dict[str, Run] = {}
        try:
            for precision in kinds:
                runs[precision] = self._train(cell, precision)
            self._last = at, runs
        except (PlanError, RunError) as error:
            self._fail(at, runs, error)

    def _judge_last(self) -> None:
        """Judge the last cell, once its runs have ended."""
        if self._last is None:
            return
        (at, runs), self._last = self._last, None
        try:
            for run in runs.values():
                while run.wait(POLL_SECONDS) in LIVE:
                    self._go_on(run)
            self._put(at, self._seen(self._matrix.cells[at], runs))
        except RunError as error:
            self._fail(at, runs, error)
        self._keep()

    def _fail(self, at: int, runs: Mapping[str, Run], error: Exception) -> None:
        cell = self._matrix.cells[at]
        self._runs.pop((cell.strategy, cell.loop), None)
        folder = str(runs[cell.precision].dir) if cell.precision in runs else None
        self._put(at, replace(cell, run=folder, status="fail", reason=str(error)))
        self._keep()

    def _seen(self, cell: Cell, runs: dict[str, Run]) -> Cell:
        """Return a cell with the results of its runs."""
        run = runs[cell.precision]
        cell = replace(cell, run=str(run.dir), status="pass")
        for each in runs.values():
            if each.status == "stopped":
                return replace(cell, status="stopped")
            if failure := each.failure:
                return replace(cell, status="fail", reason=f"{failure.task}: {failure.cause}")
        self._runs[cell.strategy, cell.loop] = runs
        rate = run.result()["examples_per_second"]
        per_step = run.plan.examples_per_step
        cell = replace(cell, steps_per_second=rate and rate / per_step)
        return self._compared(cell, runs) if run.plan.synchronous else _asynchronous(cell, run)

    def _train(self, cell: Cell, precision: str) -> Run:
        config = config_of(self._config, self._devices, cell.strategy, cell.loop)
        config = replace(config, precision=precision)
        run = start_run(config, self._matrix.folder, self._devices, rehearse=False)
        self._judge_last()
        while run.wait(POLL_SECONDS) in LIVE and not self._leaves_the_machine(run):
            self._go_on(run)
        return run

    def _leaves_the_machine(self, run: Run) -> bool:
        """Return whether a run has done its steps, on devices that it can share."""
        shared = not (self._devices.gpus or self._devices.tpu_chips)
        return shared and run.progress.step >= run.progress.total_steps

    def _go_on(self, run: Run) -> None:
        self._on_progress(self._matrix)
        if self._stopped():
            run.stop()

    def _compared(self, cell: Cell, runs: Mapping[str, Run]) -> Cell:
        reference = self._runs.get(REFERENCE)
        if reference is None:
            named = [(each.strategy, each.loop) for each in self._matrix.cells]
            first = self._matrix.cells[named.index(REFERENCE)]
            reason = f"OneDevice, the reference, did not train: {first.reason or first.status}"
            return replace(cell, status="fail", reason=reason)
        found = compare(runs[cell.precision], reference[cell.precision], cell.precision)
        other = None
        if "float32" in runs and cell.precision != "float32":
            other = compare(runs["float32"], reference["float32"], "float32").max_loss_difference
        return _judged(
            replace(
                cell,
                max_loss_difference=found.max_loss_difference,
                float32_loss_difference=other,
            ),
            found,
        )

    def _certify(self) -> None:
        """Compare the saved weights and write the certificate of each run that passes."""
        compared = [
            (at, self._runs[cell.strategy, cell.loop][cell.precision])
            for at, cell in enumerate(self._matrix.cells)
            if cell.status == "pass" or cell.max_loss_difference is not None
        ]
        if not compared or REFERENCE not in self._runs:
            return
        reference = self._runs[REFERENCE][self._config.precision]
        try:
            proofs = certify(reference, [run for _, run in compared])
            self._write_certificates(compared, proofs)
        except (RunError, OSError) as error:
            for at, _ in compared:
                cell = self._matrix.cells[at]
                self._put(at, replace(cell, status="fail", reason=f"not certified: {error}"))

    def _write_certificates(
        self, compared: Sequence[tuple[int, Run]], proofs: Mapping[str, Proof]
    ) -> None:
        for at, run in compared:
            found = proofs[str(run.dir)]
            weights = found.agreement.max_weight_difference
            cell = replace(self._matrix.cells[at], max_weight_difference=weights)
            self._put(at, _judged(cell, found.agreement) if cell.status == "pass" else cell)
            if self._matrix.cells[at].status == "pass":
                text = found.certificate(self._matrix.cells[at].float32_loss_difference)
                write_text(run.dir / "certificate.json", json_text(text))


def _judged(cell: Cell, found: Agreement) -> Cell:
    return cell if found.holds else replace(cell, status="fail", reason=found.reason)


def _asynchronous(cell: Cell, run: Run) -> Cell:
    """Judge a run of asynchronous workers: it must train and record every step."""
    reason = trains(run)
    if reason:
        return replace(cell, status="fail", reason=reason)
    seen = what_is_seen(run.plan.total_steps)
    return replace(cell, reason=f"asynchronous: {seen}; it cannot agree with OneDevice")


def read_matrix(folder: Path) -> dict[str, Any]:
    """Return the values that `run_matrix` wrote.

    Raises:
        OSError: there is no such file.
    """
    values: dict[str, Any] = json.loads((folder / "matrix.json").read_text(encoding="utf-8"))
    return values
