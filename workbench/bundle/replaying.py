"""Whether a replay came out as the bundle's run did."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.experiments.agreement import TOLERANCE, Agreement, compare_losses, trains
from workbench.runs import RunError
from workbench.runs.folder.files import sha256

from .contents import LOSSES, Bundle, Facts
from .facts import facts_of

if TYPE_CHECKING:
    from workbench.runs import Run


@dataclass(frozen=True)
class Difference:
    """One value there and here; None where it was not set or is not known."""

    name: str
    there: str | None
    here: str | None


@dataclass(frozen=True)
class Replay:
    """How a replay compares with the run that a bundle was made of."""

    run: str
    of: str
    same_script: bool
    same_data: bool
    versions: tuple[Difference, ...]
    """All of them, the same ones too."""
    environment: tuple[Difference, ...]
    """Variables that change how numbers are computed, where they differ."""
    agreement: Agreement
    tolerance: float | None
    """The largest difference that rounding explains; None where no steps can be compared."""

    @property
    def holds(self) -> bool:
        """Whether the replay trained the same, but for rounding."""
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
        bundle: what it was a replay of.
        run: the replay.
        facts: what it depended on; None asks its interpreter, which loads TensorFlow for seconds.

    Raises:
        RunError: the replay is not finished, the bundle's losses cannot be read, or the run's
            interpreter cannot tell what it trained on.
    """
    if run.status != "finished":
        raise RunError(
            f"A replay is compared when it is finished; {run.id} is {run.status}. Wait for it, or "
            "resume it first."
        )
    told, facts = bundle.manifest, facts or facts_of(run)
    return Replay(
        run=run.id,
        of=told.run,
        same_script=sha256(run.script) == bundle.script_sha256,
        same_data=facts.data_sha256 == told.data_sha256,
        versions=_differences(told.versions, facts.versions),
        environment=tuple(
            each
            for each in _differences(told.environment, facts.environment)
            if each.there != each.here
        ),
        agreement=_agreement(bundle, run),
        tolerance=TOLERANCE.get(told.precision, 0.0) if told.together else None,
    )


def _agreement(bundle: Bundle, run: Run) -> Agreement:
    told = bundle.manifest
    if told.together and run.plan.synchronous:
        return compare_losses(run.steps()[["step", "loss"]], _losses(bundle), told.precision)
    return Agreement(len(run.steps()), told.precision, reason=trains(run))


def _losses(bundle: Bundle) -> pd.DataFrame:
    head, _, lines = bundle.losses.partition("\n")
    try:
        if head != "step,loss" or not lines:
            raise ValueError(f"it begins with {head[:40]!r}")
        steps, losses = np.loadtxt(io.StringIO(lines), delimiter=",", ndmin=2, unpack=True)
        return pd.DataFrame({"step": steps.astype(np.int64), "loss": losses})
    except ValueError as error:
        raise RunError(
            f"{LOSSES} of a bundle has a number of a step and its loss in each line; that of "
            f"{bundle.manifest.run}: {error}. Take an undamaged copy of the bundle."
        ) from error


def _differences(there: dict[str, str], here: dict[str, str]) -> tuple[Difference, ...]:
    names = sorted(there.keys() | here.keys())
    return tuple(Difference(name, there.get(name), here.get(name)) for name in names)
