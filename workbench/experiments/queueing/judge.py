"""Whether the runs of a matrix agree: their losses and weights compared with the reference's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.experiments.agreement import certify, compare, trains, what_is_seen
from workbench.experiments.cells import CERTIFIED, JUDGED, numbers_of, results
from workbench.runs import Run, RunError
from workbench.runs.folder.files import CERTIFICATE, json_text, write_text

from .comparison import Comparison


def judge(comparison: Comparison, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the event with the result of a candidate's cell, once all runs of the cell are over.

    Raises:
        RunError: the records of a run cannot be read.
    """
    candidates, runs = comparison.request.candidates, _trained(comparison)
    own = numbers_of(candidates, number)
    if not runs.keys() >= set(own):
        return
    run = runs[own[0]]
    rate = run.result()["examples_per_second"]
    loss = single_loss = None
    reference, out = numbers_of(candidates, 0), comparison.left_out
    missing = [out.get(at, "its run is not finished") for at in reference if at not in runs]
    if not run.plan.synchronous:
        failure = trains(run)
        seen = what_is_seen(run.plan.total_steps)
        reason = failure or f"asynchronous: {seen}; it cannot agree with OneDevice"
    elif missing:
        failure = reason = f"OneDevice, the reference, did not train: {missing[0]}"
    else:
        found, *others = (
            compare(runs[at], runs[standard], runs[at].config.precision)
            for at, standard in zip(own, reference, strict=True)
        )
        failure = reason = found.reason
        loss = found.max_loss_difference
        single_loss = next((each.max_loss_difference for each in others), None)
    yield (
        JUDGED,
        {
            "candidate": own[0],
            "status": "fail" if failure else "pass",
            "reason": reason,
            "steps_per_second": rate and rate / run.plan.examples_per_step,
            "max_loss_difference": loss,
            "float32_loss_difference": single_loss,
        },
    )


def certificates(comparison: Comparison) -> Iterator[tuple[str, dict[str, Any]]]:
    """Compare the saved weights of all cells at once, so that TensorFlow loads only once.

    Yields the events with the results. Each run that agrees has its certificate written.
    """
    judged = {
        number: each
        for number, each in results(comparison, JUDGED).items()
        if each["status"] == "pass" or each["max_loss_difference"] is not None
    }
    try:
        runs = _trained(comparison)
        compared = [number for number in judged if number in runs and 0 in runs]
        proofs = certify(runs[0], [runs[number] for number in compared]) if compared else {}
        for number in compared:
            found = proofs[str(runs[number].dir)]
            agreement, single = found.agreement, judged[number]["float32_loss_difference"]
            if judged[number]["status"] == "pass" and agreement.holds:
                text = json_text(found.certificate(single))
                write_text(runs[number].dir / CERTIFICATE, text)
            weights = agreement.max_weight_difference
            yield CERTIFIED, _certified(number, agreement.reason, weights)
    except (RunError, OSError) as error:
        for number in judged:
            yield CERTIFIED, _certified(number, f"not certified: {error}", None)


def _certified(number: int, reason: str, weights: float | None) -> dict[str, Any]:
    return {"candidate": number, "reason": reason, "max_weight_difference": weights}


def _trained(comparison: Comparison) -> dict[int, Run]:
    """Return the runs that did all their steps, by the number of the candidate."""
    out = comparison.left_out
    there = {
        trial.candidate: comparison.run(trial)
        for trial in comparison.trials
        if trial.candidate not in out and comparison.run_folder(trial).is_dir()
    }
    return {number: run for number, run in there.items() if run.status == "finished"}
