"""Whether two runs trained the same model: their losses step by step, and their last weights."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runs import Run
from workbench.runs.programs.run import run_program

if TYPE_CHECKING:
    import pandas as pd

ENOUGH_STEPS = 100
"""From this many steps on, a falling loss is distinct from the noise of single batches."""
_TOLERANCE = {"float32": 1e-6, "float64": 1e-12}


def tolerance(precision: str) -> float:
    """Return the largest difference of loss and of weights that rounding alone explains.

    In single precision it holds only for models as small as the MLP. In mixed precision only equal
    numbers agree.
    """
    return _TOLERANCE.get(precision, 0.0)


@dataclass(frozen=True)
class Agreement:
    """The differences between two runs; None if no number is known."""

    steps: int
    precision: str
    max_loss_difference: float | None = None
    max_weight_difference: float | None = None
    reason: str = ""
    """Why the runs are not the same, or cannot be compared; empty if they are the same."""

    @property
    def holds(self) -> bool:
        """Whether the runs are the same except for rounding."""
        return not self.reason


@dataclass(frozen=True)
class Proof:
    """The facts of a certificate."""

    run: Run
    reference: Run | None
    """The run with which it was compared; None: only the run's own records were checked."""
    agreement: Agreement
    """Without differences if workers are asynchronous, or if there is no reference."""
    data_sha256: str
    versions: dict[str, str]
    environment: dict[str, str]

    def certificate(self, float32_loss_difference: float | None) -> dict[str, Any]:
        """Return the certificate: the compared runs, their environment, and the results."""
        plan, found = self.run.plan, self.agreement
        reference = self.reference if plan.synchronous else None
        devices = self.run.devices
        values: dict[str, Any] = {
            "version": 1,
            "created": time.time(),
            "claim": self._claim(),
            "run": self.run.id,
            "standard": reference.id if reference else None,
            "script_sha256": self.run.result()["script_sha256"],
            "versions": {**self.versions, **version_of_keras(self.run)},
            "environment": self.environment,
            "devices": {"replicas": list(plan.replica_devices), "virtual": plan.virtual,
                        "cpu": devices and devices.cpu_model,
                        "gpus": devices and devices.to_json()["gpus"]},
            "tasks": list(plan.tasks),
            "seed": plan.config.seed,
            "data": plan.data,
            "data_sha256": self.data_sha256,
            "steps": found.steps,
            "global_batch_size": plan.global_batch_size,
            "precision": found.precision,
            "tolerance": tolerance(found.precision) if reference else None,
            "max_loss_difference": found.max_loss_difference,
            "max_weight_difference": found.max_weight_difference,
        }  # fmt: skip
        if float32_loss_difference is not None:
            values["float32_max_loss_difference"] = float32_loss_difference
            values["note"] = (
                "With this model, rounding errors in float32 grow from step to step, so a "
                "difference in float32 proves nothing. Agreement is proved in float64."
            )
        return values

    def _claim(self) -> str:
        plan = self.run.plan
        what = f"{plan.strategy_label}, {plan.loop} loop"
        if plan.synchronous and self.reference is not None:
            reference = self.reference.plan
            return f"{what}, trains like {reference.strategy_label}, {reference.loop} loop"
        why = "it was compared with no other run"
        why = why if plan.synchronous else "its workers train asynchronously"
        return f"{what}, {what_is_seen(self.agreement.steps)}; {why}"


def compare(run: Run, reference: Run, precision: str) -> Agreement:
    """Compare the losses of all steps, each the mean over the global batch."""
    return compare_losses(losses_of(run), losses_of(reference), precision)


def losses_of(run: Run) -> pd.DataFrame:
    """Return step and loss of each step of a run; the loss is the mean over the global batch."""
    return run.steps(["step", "loss"])


def compare_losses(one: pd.DataFrame, other: pd.DataFrame, precision: str) -> Agreement:
    """Compare two runs' frames of step and loss."""
    if not np.array_equal(one["step"], other["step"]):
        reason = f"{len(one)} steps recorded, the reference has {len(other)}"
        return Agreement(len(one), precision, reason=reason)
    with np.errstate(invalid="ignore"):
        gaps = np.abs(one["loss"].to_numpy() - other["loss"].to_numpy())
    if not np.isfinite(gaps).all():
        at = one["step"].iloc[int(np.argmin(np.isfinite(gaps)))]
        reason = f"loss is not finite, first at step {at}"
        return Agreement(len(one), precision, reason=reason)
    most = float(gaps.max()) if len(gaps) else 0.0
    reason = ""
    if most > tolerance(precision):
        at = one["step"].iloc[int(np.argmax(gaps > tolerance(precision)))]
        reason = f"loss differs by {most:.1e}, first at step {at}"
    return Agreement(len(one), precision, most, reason=reason)


def certify(reference: Run, runs: Sequence[Run]) -> dict[str, Proof]:
    """Compare data and last weights of runs with the reference, in the reference's interpreter.

    If a run's workers are asynchronous, only its data is compared, because its weights
    necessarily differ.

    Raises:
        RunError: the comparing program fails.
    """
    result = run_program(reference.dir, "certify", *(str(run.dir) for run in runs))
    hashes = {folder: each["data_sha256"] for folder, each in result["runs"].items()}
    proofs = {}
    for run in runs:
        key = str(run.dir)
        if run.plan.synchronous:
            found = _with_weights(
                compare(run, reference, run.config.precision),
                result["runs"][key]["max_weight_difference"],
            )
        else:
            found = Agreement(len(run.steps(["step"])), run.config.precision, reason=trains(run))
        if hashes[key] != hashes[str(reference.dir)]:
            found = replace(found, reason="it was trained on other data")
        proofs[key] = Proof(
            run, reference, found, hashes[key], result["versions"], result["environment"]
        )
    return proofs


def _with_weights(found: Agreement, weights: float | None) -> Agreement:
    reason = found.reason
    if weights is None:
        reason = "its weights cannot be compared: no saved model, or other layers"
    elif not math.isfinite(weights):
        weights, reason = None, "its weights at the end are not finite"
    elif weights > tolerance(found.precision):
        reason = f"weights differ by {weights:.1e} at the end"
    return replace(found, max_weight_difference=weights, reason=reason)


def trains(run: Run) -> str:
    """Return why a run, checked without a reference, does not train as it should; empty if it does.

    Every step must be recorded. The loss must fall if there are enough steps to see it.
    """
    steps = run.steps(["loss"])
    if len(steps) != run.plan.total_steps:
        return f"{len(steps)} steps recorded of {run.plan.total_steps}"
    if len(steps) < ENOUGH_STEPS:
        return ""
    tenth = len(steps) // 10
    first, last = steps["loss"].head(tenth).mean(), steps["loss"].tail(tenth).mean()
    if not last < first:
        return f"loss went from {first:.4f} to {last:.4f}"
    return ""


def what_is_seen(steps: int) -> str:
    """Return the result that `steps` steps show, for a run that passes `trains`."""
    return "trains, every step recorded" if steps >= ENOUGH_STEPS else "every step recorded"


def version_of_keras(run: Run) -> dict[str, str]:
    """Return the version of a run's Keras by the name of its package; empty if it is unknown."""
    if run.devices is None:
        return {}
    package, version = run.devices.keras(legacy=run.plan.legacy_keras)
    return {package: version} if version else {}
