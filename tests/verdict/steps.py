"""Times in the form of the program `step_times`, made of known parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.interval import Interval
from workbench.verdict.parts import PARTS, WITHIN_COMPUTE, Breakdown, Part, break_down

ROUNDS = 15
STEPS_PER_CALL = 10
BLOCK_STEPS = 100
STEP_SECONDS = 0.0314
USUAL = {
    "input": 0.0, "compute": 1e-3, "waiting": 0.0, "communication": 0.0, "host": 0.0,
    "recording": 0.0, "fixed": 0.0, "crowding": 0.0,
}  # fmt: skip


def step_times(
    parts: Mapping[str, float], tasks: int = 1, replicas: int = 2, noise: float = 0.01
) -> list[dict[str, Any]]:
    """Return the answers of the tasks; the last of several tasks computes longer, by `waiting`."""
    known, random = {**USUAL, **parts}, np.random.default_rng(1)
    in_memory = known["compute"] + known["waiting"] + known["communication"]
    step = in_memory + known["input"] + known["host"] + known["recording"]

    def rounds(seconds: float) -> list[float]:
        values = seconds * (1 + noise * np.abs(random.standard_normal(ROUNDS)))
        return list(map(float, values))

    answers = []
    for task in range(tasks):
        own = known["compute"] + (known["waiting"] if task == tasks - 1 else 0.0)
        in_call = known["host"] * STEPS_PER_CALL * (1 - 1 / BLOCK_STEPS)
        kinds = {
            "step": rounds(step),
            "recording": rounds(known["recording"]),
            "memory": rounds(in_memory),
            "single": rounds(in_memory + in_call),
            "batch": rounds(4 * own - 3 * known["fixed"]),
        }
        if replicas > 1:
            kinds |= {"compute": rounds(own), "solo": rounds(own - known["crowding"])}
        if tasks > 1:
            kinds["alone"] = rounds(own + known["input"] + known["host"])
        answers.append(
            {
                "task": f"worker-{task}",
                "rounds": kinds,
                "unmeasured": {},
                "steps_per_call": STEPS_PER_CALL,
                "batches": 4,
                "block": {"steps": BLOCK_STEPS, "calls": 4, "singles": 10},
            }
        )
    return answers


def broken_down(parts: Mapping[str, float], tasks: int = 1, replicas: int = 2) -> Breakdown:
    """Return the parts found in such times."""
    return break_down(step_times(parts, tasks, replicas))


def with_shares(shares: Mapping[str, tuple[float, float, float]]) -> Breakdown:
    """Return a step of 31.4 ms with these shares, each with the ends of its interval."""

    def parts(names: Mapping[str, str]) -> tuple[Part, ...]:
        known = ((name, shares[name]) for name in names if name in shares)
        return tuple(
            Part(name, Interval(*(STEP_SECONDS * each for each in share))) for name, share in known
        )

    return Breakdown(
        step=Interval(STEP_SECONDS, 0.0306, 0.0322),
        parts=parts(PARTS),
        within=parts(WITHIN_COMPUTE),
        overlap_seconds=0.0,
        paces=(),
        rounds=9,
        unmeasured={},
    )
