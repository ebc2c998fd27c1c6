"""The comparison of a replay with the run of its bundle."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.experiments.agreement import Agreement, compare_losses, tolerance, trains
from workbench.runs import RunError
from workbench.runs.folder.files import FIRST_STEP, sha256

from .certificate import facts_of
from .contents import FIRST_STEP_IN, LOSSES, Bundle, Facts

if TYPE_CHECKING:
    from workbench.runs import Run


@dataclass(frozen=True)
class Difference:
    """One value in the bundle's run and in the replay; None if it was not set or is unknown."""

    name: str
    there: str | None
    here: str | None


@dataclass(frozen=True)
class Replay:
    """The comparison of a replay with the run from which a bundle was made."""

    run: str
    of: str
    same_script: bool
    same_data: bool
    versions: tuple[Difference, ...]
    """All versions, including equal ones."""
    environment: tuple[Difference, ...]
    """The variables that differ and that change how numbers are computed."""
    agreement: Agreement
    tolerance: float | None
    """The largest difference that rounding explains; None if no steps can be compared."""

    @property
    def holds(self) -> bool:
        """Whether the replay trained on the same data with the same losses, except for rounding."""
        return self.same_data and self.agreement.holds

    @property
    def changed(self) -> tuple[Difference, ...]:
        """The versions that differ."""
        return tuple(each for each in self.versions if each.there != each.here)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "agrees": self.holds}


def check_replay(bundle: Bundle, run: Run, facts: Facts | None = None) -> Replay:
    """Compare a finished replay with its bundle.

    Args:
        bundle: the bundle that was replayed.
        run: the replay.
        facts: the facts of the replay; None asks its interpreter, which loads TensorFlow for
            seconds.

    Raises:
        RunError: the replay is not finished, the bundle's losses cannot be read, or the run's
            interpreter cannot find the facts.
    """
    if run.status != "finished":
        raise RunError(
            f"The replay {run.id} is {run.status}, so it cannot be compared yet. Wait for it, or "
            "resume it first."
        )
    manifest, facts = bundle.manifest, facts or facts_of(run)
    return Replay(
        run=run.id,
        of=manifest.run,
        same_script=sha256(run.script) == bundle.script_sha256,
        same_data=facts.data_sha256 == manifest.data_sha256,
        versions=_differences(manifest.versions, facts.versions),
        environment=tuple(
            each
            for each in _differences(manifest.environment, facts.environment)
            if each.there != each.here
        ),
        agreement=_agreement(bundle, run),
        tolerance=tolerance(manifest.precision) if manifest.together else None,
    )


def _agreement(bundle: Bundle, run: Run) -> Agreement:
    manifest = bundle.manifest
    if manifest.together and run.plan.synchronous:
        return compare_losses(run.steps(["step", "loss"]), _losses(bundle), manifest.precision)
    return Agreement(len(run.steps(["step"])), manifest.precision, reason=trains(run))


def _losses(bundle: Bundle) -> pd.DataFrame:
    head, _, lines = bundle.losses.partition("\n")
    try:
        if head != "step,loss" or not lines:
            raise ValueError(f"it begins with {head[:40]!r}")
        steps, losses = np.loadtxt(io.StringIO(lines), delimiter=",", ndmin=2, unpack=True)
        later = FIRST_STEP - FIRST_STEP_IN[bundle.manifest.version]
        return pd.DataFrame({"step": steps.astype(np.int64) + later, "loss": losses})
    except ValueError as error:
        raise RunError(
            f"{LOSSES} in the bundle of {bundle.manifest.run} cannot be read: "
            f"{str(error).rstrip('.')}. Take an undamaged copy of the bundle."
        ) from error


def _differences(there: dict[str, str], here: dict[str, str]) -> tuple[Difference, ...]:
    names = sorted(there.keys() | here.keys())
    return tuple(Difference(name, there.get(name), here.get(name)) for name in names)
