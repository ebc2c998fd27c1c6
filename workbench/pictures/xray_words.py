"""The X-ray of a step in words and as rows of a table, for pages and reports."""

from __future__ import annotations

from collections.abc import Iterator

from workbench import units
from workbench.runs.programs.step_xray import ReplicaXray, StepXray, WeightsXray, WorkersXray

RECORDS = {
    True: "The run's own record of the step has the same examples and loss sums.",
    None: "The run has no record of this step with as many workers to compare with.",
}
OTHER_RECORD = (
    "These numbers differ from the run's own record of the step (see the table below), so the step "
    "was not repeated exactly. The cause can be random state that no checkpoint holds, or another "
    "device."
)
OTHER_LOSS = (
    "What each replica differentiated is not its loss sum divided by the examples of the step: "
    "Keras' own step and your own losses may weight a short batch, or the loss, differently."
)
NOTHING_COMMON = (
    "Each worker sends its own gradient to the parameter servers, and nothing is summed. Staleness "
    "is the number of updates by other workers between a worker's reading of the weights and its "
    "own update. A worker without numbers has not done that many steps."
)
TITLE = "The numbers of each replica"
OWN_TITLE = "What each worker took in its own step"
NUMERIC, OWN_NUMERIC = range(8), range(1, 6)
"""The columns of numbers."""
_ROWS = "Their numbers in the training set"


def summary(xray: StepXray | WorkersXray) -> str:
    """Return a one-line summary of the result of `Run.xray`."""
    if isinstance(xray, WorkersXray):
        return f"Each worker's own step {xray.step:,}: workers do not wait for each other."
    return (
        f"Step {xray.step:,} of epoch {xray.epoch}, repeated from {xray.origin}. "
        f"Mean loss {number(xray.loss)}."
    )


def remarks(xray: StepXray | WorkersXray) -> Iterator[tuple[str, str]]:
    """Yield the sentences on an X-ray, each after its level: quiet, warning or error."""
    if isinstance(xray, WorkersXray):
        yield "quiet", NOTHING_COMMON
        return
    yield ("warning", OTHER_RECORD) if xray.agrees is False else ("quiet", RECORDS[xray.agrees])
    if not xray.divides_by_batch:
        yield "quiet", OTHER_LOSS
    if not xray.weights.equal:
        yield "error", verdict(xray.weights)
    if not xray.weights.changed:
        yield "warning", "The step did not change the weights."
    if own := xray.weights.own:
        yield "quiet", f"Not trained, and each replica keeps its own: {', '.join(own)}."


def columns(xray: StepXray) -> list[str]:
    """Return the heads of `rows`."""
    return [
        *("Replica", "Examples", "Loss sum", "Recorded", "Difference"),
        *(f"Loss sum ÷ {xray.examples:,}", "Differentiated", "Gradient norm", "Weights"),
        _ROWS,
    ]


def rows(xray: StepXray) -> list[list[str]]:
    """Return all numbers of each replica."""
    copies = [copy.sha256 for copy in xray.weights.after]
    if len(copies) < len(xray.replicas):
        copies = [f"{copies[0]} (one copy)"] * len(xray.replicas)
    return [
        _row(replica, copy, recorded=xray.agrees is not None)
        for replica, copy in zip(xray.replicas, copies, strict=True)
    ]


def own_columns() -> list[str]:
    """Return the heads of `own_rows`."""
    return [*("Worker", "Examples", "Loss sum", "Mean loss", "Correct", "Staleness"), _ROWS]


def own_rows(xray: WorkersXray) -> list[list[str]]:
    """Return each worker's own step: its examples and its recorded numbers."""
    return [
        [
            worker.task.replace("-", "\u00a0"),
            f"{worker.examples:,}",
            *(_known(worker.loss_sum), _known(worker.loss)),
            *(_count(worker.correct), _count(worker.staleness)),
            _listed(worker.rows),
        ]
        for worker in xray.workers
    ]


def verdict(weights: WeightsXray) -> str:
    """Return a sentence on whether the copies of the weights are equal."""
    copies, count = weights.after, f"{weights.numbers:,} numbers"
    if len(copies) == 1:
        return f"There is one copy of the weights ({count}), on {copies[0].device}."
    if weights.equal:
        all_ = "Both" if len(copies) == 2 else f"All {len(copies)}"
        return f"{all_} copies of the weights are equal, bit for bit ({count})."
    return f"The copies of the weights are not equal: {', '.join(weights.differing)}."


def number(value: float | None) -> str:
    """Return a measured number with six digits; None stands for a number that is not finite."""
    if value is None:
        return "not finite"
    return f"{value:#,.6g}" if value else "0"


def _row(replica: ReplicaXray, copy: str, *, recorded: bool) -> list[str]:
    record = [
        number(value) if recorded else units.UNKNOWN
        for value in (replica.recorded_loss_sum, replica.difference)
    ]
    return [
        replica.name.removeprefix("replica "),
        f"{replica.examples:,}",
        number(replica.loss_sum),
        *record,
        *map(number, (replica.contribution, replica.loss, replica.gradient_norm)),
        copy,
        _listed(replica.rows),
    ]


def _listed(rows: list[int] | None) -> str:
    return units.UNKNOWN if rows is None else ", ".join(map(str, rows))


def _known(value: float | None) -> str:
    return units.UNKNOWN if value is None else number(value)


def _count(value: float | None) -> str:
    return units.UNKNOWN if value is None else f"{value:,.0f}"
