"""A run as a person holds it: what it is, how far it is, and what can be done with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

    from workbench.config import RunConfig
    from workbench.plan import Plan

Status = Literal[
    "queued", "starting", "running", "stopping", "finished", "stopped", "failed", "lost"
]


@dataclass(frozen=True)
class Failure:
    """Why a run failed or was lost: the cause, whose it is, the log's end, what to change."""

    cause: str
    task: str
    log_tail: str
    fix: str


@dataclass(frozen=True)
class Progress:
    """How far a run is. `None` is unknown."""

    step: int
    """Steps done and recorded."""
    total_steps: int
    epoch: int
    """The epoch under way, from 1; the last one where the run is over."""
    epochs: int
    steps_per_second: float | None
    """Over the last seconds of training; None before it can be told and when not running."""
    eta_seconds: float | None
    phase: str
    """queued, starting, tracing, training, testing, saving, stopping, or the final state."""
    note: str = ""
    """One sentence for people: what it waits for, that it stalls, how it was stopped."""


class Run:
    """One run, read from its folder each time it is asked: nothing here is remembered."""

    dir: Path
    id: str
    name: str
    created: float
    """Seconds since 1970."""

    @property
    def status(self) -> Status:
        raise NotImplementedError

    @property
    def alive(self) -> bool:
        """Whether its supervisor or its trainer lives."""
        raise NotImplementedError

    @property
    def config(self) -> RunConfig:
        raise NotImplementedError

    @property
    def plan(self) -> Plan:
        raise NotImplementedError

    @property
    def script(self) -> str:
        raise NotImplementedError

    @property
    def failure(self) -> Failure | None:
        raise NotImplementedError

    @property
    def progress(self) -> Progress:
        raise NotImplementedError

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Ranges (first, last) of steps done but not recorded, both 0-based and included."""
        raise NotImplementedError

    def stop(self) -> None:
        """Ask it to finish its call, save and end. Returns at once; harmless on an ended run."""
        raise NotImplementedError

    def wait(self, timeout_seconds: float | None = None) -> Status:
        """Wait until the run is over and return how; the state it has then if time runs out."""
        raise NotImplementedError

    def resume(self, epochs: int | None = None) -> Run:
        raise NotImplementedError

    def delete(self) -> None:
        raise NotImplementedError

    def replica_steps(self, columns: list[str] | None = None) -> pd.DataFrame:
        raise NotImplementedError

    def steps(self) -> pd.DataFrame:
        raise NotImplementedError

    def epochs(self) -> pd.DataFrame:
        raise NotImplementedError

    def events(self) -> list[dict[str, Any]]:
        """Events of the supervisor and the tasks in order of time; "task" names the writer."""
        raise NotImplementedError

    def log(self, lines: int = 50) -> str:
        raise NotImplementedError

    def result(self) -> dict[str, Any]:
        raise NotImplementedError

    def evaluate(self) -> dict[str, Any]:
        raise NotImplementedError

    def load_model(self) -> Any:
        raise NotImplementedError


def open_run(run: str | os.PathLike[str], runs_dir: str | os.PathLike[str] | None = None) -> Run:
    """Open a run by id or folder."""
    raise NotImplementedError


def list_runs(runs_dir: str | os.PathLike[str] | None = None) -> list[Run]:
    """Return all runs of a folder, newest first."""
    raise NotImplementedError
