"""The X-ray of a step as text: one column per replica, one row per number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

FEW_ROWS = 4
MOST_ACROSS = 6


def table_of_step(told: dict[str, Any]) -> str:
    """Return the result of `Run.xray` as aligned text, with at most six replicas side by side."""
    if "workers" in told:
        return _own_steps(told)
    replicas = told["replicas"]
    blocks = [replicas[at : at + MOST_ACROSS] for at in range(0, len(replicas), MOST_ACROSS)]
    tables = [_aligned(list(_rows(told, block))) for block in blocks]
    return "\n\n".join([_title(told), *tables, "\n".join(_endings(told))])


def _own_steps(told: dict[str, Any]) -> str:
    title = f"step {told['step']:,} of each worker of {told['strategy_label']}, its own"
    rows = [["", "examples", "their numbers", "loss sum", "mean loss", "staleness"]]
    for worker in told["workers"]:
        loss_sum, loss, stale = (worker[name] for name in ("loss_sum", "loss", "staleness"))
        record = ["not done"] * 2 if loss is None else [_number(loss_sum), _number(loss)]
        behind = "" if stale is None else str(stale)
        numbers = _numbers(worker["rows"])
        rows.append([worker["task"], f"{worker['examples']:,}", numbers, *record, behind])
    return f"{title}\n\n{_aligned(rows)}\n\n{NOTHING_COMMON}"


def _title(told: dict[str, Any]) -> str:
    what = f"{told['strategy_label']}, {told['examples']:,} examples"
    again = f"done again from step {told['started_at_step']:,} on"
    return f"step {told['step']:,} (epoch {told['epoch']}): {what}; {again}"


def _rows(told: dict[str, Any], replicas: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    yield ["", *(replica["name"] for replica in replicas)]
    yield ["device", *(replica["device"] for replica in replicas)]
    yield ["examples", *(f"{replica['examples']:,}" for replica in replicas)]
    yield ["  their numbers", *(_numbers(replica["rows"]) for replica in replicas)]
    recorded = told["agrees"] is not None
    for shown, name, words in (
        (True, "loss_sum", "loss sum"),
        (recorded, "recorded_loss_sum", "  recorded"),
        (recorded, "difference", "  difference"),
        (True, "contribution", f"loss sum / {told['examples']:,}"),
        (not told["divides_by_batch"], "loss", "differentiated"),
        (True, "gradient_norm", "gradient norm"),
    ):
        if shown:
            yield [words, *(_number(replica[name]) for replica in replicas)]
    after = told["weights"]["after"]
    if len(after) == len(told["replicas"]):
        yield ["weights after", *(after[replica["replica"]]["sha256"] for replica in replicas)]


def _endings(told: dict[str, Any]) -> Iterator[str]:
    yield f"loss           {_number(told['loss'])}: the mean over the step's examples"
    mirrored = len(told["weights"]["after"]) == len(told["replicas"])
    where = "all-reduce" if mirrored else "reduce"
    yield f"{where:<13}  norm {_number(told['sum_norm'])} of the sum of the gradients"
    if told["applied_norm"] is not None:
        yield f"clipped        norm {_number(told['applied_norm'])}, at most {told['clip_norm']:g}"
    yield f"weights        {_weights(told['weights'])}"
    if told["weights"]["own"]:
        yield f"each its own   {', '.join(told['weights']['own'])}"
    yield f"record         {RECORD[told['agrees']]}"


def _weights(weights: dict[str, Any]) -> str:
    copies = weights["after"]
    what = f"{weights['numbers']:,} numbers, {'' if weights['changed'] else 'NOT '}changed"
    if len(copies) == 1:
        return f"one copy, on {copies[0]['device']}: {copies[0]['sha256']}; {what}"
    if weights["equal"]:
        return f"equal on all {len(copies)} replicas, bit by bit; {what}"
    return f"NOT equal on all replicas: {', '.join(weights['differing'])}; {what}"


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
    "Workers wait for nobody: each sends its gradient by itself, nothing is summed. Staleness\n"
    "counts the updates by others between a step's reading of the weights and its own update."
)
RECORD = {
    True: "the same loss sums and examples, to 1e-6 of the mean loss",
    False: "NOT the same: the step that ran gave other numbers",
    None: "none: this step was not recorded, or another number of workers did it",
}
