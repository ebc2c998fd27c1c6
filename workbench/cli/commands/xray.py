"""The X-ray of a step as text: one column per replica, one row per number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.runs.programs.step_xray import ReplicaXray, StepXray, WeightsXray, WorkersXray

FEW_ROWS = 4
MOST_ACROSS = 6


def table_of_step(xray: StepXray | WorkersXray) -> str:
    """Return the result of `Run.xray` as aligned text, with at most six replicas side by side."""
    if isinstance(xray, WorkersXray):
        return _table_of_workers(xray)
    replicas = xray.replicas
    blocks = [replicas[at : at + MOST_ACROSS] for at in range(0, len(replicas), MOST_ACROSS)]
    tables = [_aligned(list(_rows(xray, block))) for block in blocks]
    return "\n\n".join([_title(xray), *tables, "\n".join(_endings(xray))])


def _table_of_workers(xray: WorkersXray) -> str:
    title = f"step {xray.step:,} of each {xray.strategy_label} worker, by its own count"
    rows = [["", "examples", "row numbers", "loss sum", "mean loss", "staleness"]]
    for worker in xray.workers:
        done = worker.loss is not None
        record = [_number(worker.loss_sum), _number(worker.loss)] if done else ["not done"] * 2
        behind = "" if worker.staleness is None else str(worker.staleness)
        numbers = _numbers(worker.rows)
        rows.append([worker.task, f"{worker.examples:,}", numbers, *record, behind])
    return f"{title}\n\n{_aligned(rows)}\n\n{NOTHING_COMMON}"


def _title(xray: StepXray) -> str:
    what = f"{xray.strategy_label}, {xray.examples:,} examples"
    return f"step {xray.step:,} (epoch {xray.epoch}): {what}; recomputed from {xray.origin}"


def _rows(xray: StepXray, replicas: Sequence[ReplicaXray]) -> Iterator[list[str]]:
    yield ["", *(replica.name for replica in replicas)]
    yield ["device", *(replica.device for replica in replicas)]
    yield ["examples", *(f"{replica.examples:,}" for replica in replicas)]
    yield ["  row numbers", *(_numbers(replica.rows) for replica in replicas)]
    recorded = xray.agrees is not None
    for shown, words, values in (
        (True, "loss sum", [replica.loss_sum for replica in replicas]),
        (recorded, "  recorded", [replica.recorded_loss_sum for replica in replicas]),
        (recorded, "  difference", [replica.difference for replica in replicas]),
        (True, f"loss sum / {xray.examples:,}", [replica.contribution for replica in replicas]),
        (not xray.divides_by_batch, "differentiated", [replica.loss for replica in replicas]),
        (True, "gradient norm", [replica.gradient_norm for replica in replicas]),
    ):
        if shown:
            yield [words, *map(_number, values)]
    after = xray.weights.after
    if len(after) == len(xray.replicas):
        yield ["weights after", *(after[replica.replica].sha256 for replica in replicas)]


def _endings(xray: StepXray) -> Iterator[str]:
    yield f"loss           {_number(xray.loss)}: the mean over the step's examples"
    mirrored = len(xray.weights.after) == len(xray.replicas)
    where = "all-reduce" if mirrored else "reduce"
    yield f"{where:<13}  norm {_number(xray.sum_norm)} of the sum of the gradients"
    if xray.applied_norm is not None:
        yield f"clipped        norm {_number(xray.applied_norm)}, at most {xray.clip_norm:g}"
    yield f"weights        {_weights(xray.weights)}"
    if xray.weights.own:
        yield f"per replica    {', '.join(xray.weights.own)}"
    yield f"record         {RECORD[xray.agrees]}"


def _weights(weights: WeightsXray) -> str:
    copies = weights.after
    what = f"{weights.numbers:,} numbers, {'' if weights.changed else 'NOT '}changed"
    if len(copies) == 1:
        return f"one copy, on {copies[0].device}: {copies[0].sha256}; {what}"
    if weights.equal:
        return f"bit-identical on all {len(copies)} replicas; {what}"
    return f"NOT equal on all replicas: {', '.join(weights.differing)}; {what}"


def _numbers(rows: list[int] | None) -> str:
    if rows is None:
        return "unknown"
    return " ".join(map(str, rows[:FEW_ROWS])) + (" ..." if len(rows) > FEW_ROWS else "")


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.7g}"


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


NOTHING_COMMON = (
    "Workers do not wait for each other: each sends its own gradient, and nothing is summed.\n"
    "Staleness: updates by other workers between a step's reading of the weights and its update."
)
RECORD = {
    True: "the same loss sums and examples, to 1e-6 of the mean loss",
    False: "NOT the same: the step that ran gave different numbers",
    None: "none: this step was not recorded, or was run by a different number of workers",
}
