"""The table of causes: each part that can take too much of a step, its sentence and its changes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.config import RunConfig
from workbench.plan import Plan
from workbench.plan.plan import DATASET

from .parts import Breakdown

LEAST_SHARE = 0.15
"""The share of a step from which a part is worth a change.

Only the complete interval decides: a part is worth a change if all of it is above, and not worth
one if all of it is below.
"""
LARGER = 4
"""The factor by which a larger batch is larger."""


@dataclass(frozen=True)
class Case:
    """The facts about a run that the search for a change uses."""

    config: RunConfig
    plan: Plan
    cpu_cores: int
    breakdown: Breakdown
    steps_per_call: int


@dataclass(frozen=True)
class Change:
    """Fields of the config that may save time, if they can be changed."""

    reason: str
    fields: Callable[[Case], dict[str, Any] | None]
    """Returns the new values; None if the config already has them or cannot have them."""


@dataclass(frozen=True)
class Cause:
    """A part that takes much of the step: its sentence and its changes, the best first."""

    part: str
    sentence: str
    """A template; `_fields` in verdict.py fills in its fields.

    Examples are {share} (of the step), {slowest} and {times} (of the workers).
    """
    changes: tuple[Change, ...] = ()
    advice: str = ""
    """For the case that no change of the config helps."""
    applies: Callable[[Case], bool] = lambda _: True


@dataclass(frozen=True)
class Suggestion:
    """One change of a config, and the reason for it."""

    changes: Mapping[str, Any]
    reason: str

    @property
    def in_words(self) -> str:
        """The fields and their new values as text; None becomes "empty"."""
        return ", ".join(
            f"{name} {'empty' if value is None else value}" for name, value in self.changes.items()
        )


def _cached(case: Case) -> dict[str, Any] | None:
    facts = case.plan.data_facts
    own = facts is not None and facts.kind == DATASET and case.plan.synchronous
    return {"pipeline": "cached"} if own and case.config.pipeline != "cached" else None


def _indexed(case: Case) -> dict[str, Any] | None:
    facts = case.plan.data_facts
    if (facts is not None and facts.kind == DATASET) or case.config.last_batch == "keep":
        return None
    return {"pipeline": "indexed"} if case.config.pipeline != "indexed" else None


def _graphs(case: Case) -> dict[str, Any] | None:
    return {"eager": False} if case.config.eager else None


def _more_steps_a_call(case: Case) -> dict[str, Any] | None:
    few = case.config.steps_per_call
    return {"steps_per_call": None} if isinstance(few, int) and not case.config.eager else None


def _larger_batch(case: Case) -> dict[str, Any] | None:
    size = LARGER * case.plan.per_replica_batch_size
    if size * case.plan.num_replicas_in_sync > case.plan.num_train_examples:
        return None
    return {"per_replica_batch_size": size, "global_batch_size": None}


def _fewer_replicas(case: Case) -> dict[str, Any] | None:
    replicas = case.plan.num_replicas_in_sync
    if not case.plan.synchronous or len(case.plan.tasks) > 1 or replicas == 1:
        return None
    same = {"global_batch_size": case.plan.global_batch_size, "per_replica_batch_size": None}
    if replicas > case.cpu_cores > 1 and case.plan.physical_devices[0].startswith("CPU"):
        return {"replicas": case.cpu_cores, **same}
    usual = {"replicas": None, "cross_device_ops": "default", "learning_rate_scaling": "none"}
    return {"strategy": "one_device", **usual, **same}


def _fewer_workers(case: Case) -> dict[str, Any] | None:
    cores = case.cpu_cores
    if not case.plan.synchronous or not case.plan.workers > cores > 1:
        return None
    same = {"global_batch_size": case.plan.global_batch_size, "per_replica_batch_size": None}
    return {"workers": cores, **same}


def _default_sum(case: Case) -> dict[str, Any] | None:
    on_gpus = case.plan.physical_devices[0].startswith("GPU") and not case.plan.virtual
    chosen = case.config.cross_device_ops != "default"
    return {"cross_device_ops": "default"} if on_gpus and chosen else None


def _default_communication(case: Case) -> dict[str, Any] | None:
    return {"communication": "auto"} if case.config.communication != "auto" else None


def work_of(case: Case) -> float:
    """Return the number of replicas that, each running alone, would do the same work as all.

    Both would take the same time. The result is NaN if computing and communication take no time.
    """
    found = case.breakdown
    together = found.share("compute") + found.share("communication")
    alone = found.share("compute") - found.share("crowding")
    return case.plan.num_replicas_in_sync * alone / together if together else math.nan


def _crowded(case: Case) -> bool:
    return case.plan.virtual and work_of(case) <= case.plan.num_replicas_in_sync / 2


def _eager(case: Case) -> bool:
    return case.config.eager


BIGGER = Change(
    "A larger batch spreads the fixed cost of a step over more examples. It also changes how the "
    "model learns: check the learning rate, for example with learning_rate_scaling.",
    _larger_batch,
)
CAUSES: tuple[Cause, ...] = (
    Cause(
        "input",
        "{share} of each step is spent waiting for batches.",
        (
            Change(
                "Your data set is then read and prepared only in the first epoch and kept in "
                "memory; every epoch repeats the order and the random changes of the first one.",
                _cached,
            ),
            Change(
                "Each replica then picks its rows by number, for many steps at once: the same "
                "batches with less work for each.",
                _indexed,
            ),
            BIGGER,
        ),
    ),
    Cause(
        "waiting",
        "{share} of each step is spent waiting for {slowest}, which takes {times} times as long "
        "as the others for its own part.",
        advice="No setting makes it faster. Check whether its machine has other work, "
        "a slower device or less memory, or train without this worker.",
    ),
    Cause(
        "host",
        "{share} of each step is spent in Python and starting calls; each call runs {steps}.",
        (
            Change("Each call then runs about 0.2 s of steps.", _more_steps_a_call),
            BIGGER,
        ),
    ),
    Cause(
        "crowding",
        "{share} of each step is lost because replicas slow each other down: {replicas} share "
        "{devices} and do as much work as {work} would alone.",
        (
            Change("Fewer replicas then take the same global batch and share less.",
                   _fewer_replicas),
            Change("Fewer workers then take the same global batch and share less.",
                   _fewer_workers),
        ),
        advice="More replicas than devices show how training is distributed; they do not speed "
        "it up.",
        applies=_crowded,
    ),
    Cause(
        "communication",
        "{share} of each step is spent summing gradients over {replicas} replicas.",
        (
            Change("TensorFlow then uses its default: NCCL between real GPUs.", _default_sum),
            Change("TensorFlow then uses its default: NCCL between GPUs, otherwise a ring.",
                   _default_communication),
            Change(
                "Summing costs the same for every batch size, so a larger batch needs fewer sums "
                "for the same number of examples. It also changes how the model learns: check the "
                "learning rate, for example with learning_rate_scaling.",
                _larger_batch,
            ),
        ),
        advice="The batch already holds all examples: a smaller model, or fewer replicas, would "
        "have less to sum.",
    ),
    Cause(
        "fixed",
        "{share} of each step is spent in Python, which starts each operation separately.",
        (Change("Steps then run as graphs.", _graphs),),
        applies=_eager,
    ),
    Cause(
        "fixed",
        "{share} of each step would take as long for a batch of any size: {batch} examples per "
        "replica are too few to keep the device busy.",
        (BIGGER,),
        advice="The batch already holds all examples: a faster processor helps, a larger device "
        "does not.",
        applies=lambda case: not _eager(case),
    ),
    Cause(
        "recording",
        "{share} of each step is spent recording between calls; each call runs {steps}.",
        (Change("Calls of about 0.2 s are recorded less often.", _more_steps_a_call), BIGGER),
    ),
)  # fmt: skip
SHARING = Cause(
    "crowding",
    "{share} of each step is lost because replicas slow each other down: {replicas} replicas on "
    "{devices} do as much work as {work} would alone.",
    advice="They share cores, memory or a device. No setting would save much; a machine with more "
    "of them would.",
)
COMPUTE_BOUND = Cause(
    "compute",
    "{share} of each step is the model's own work, and no other measured part takes {least} or "
    "more.",
    advice="No setting would save much; a faster device, a smaller model or a lower precision "
    "would. A larger batch helps only if the device can process more examples at once.",
)


def worth_a_change(found: Breakdown, part: str) -> bool:
    """Return whether a part takes `LEAST_SHARE` of the step or more, with its interval."""
    return found.shares(part).low >= LEAST_SHARE


def ranked(case: Case) -> Iterable[Cause]:
    """Return the causes that are worth a change, ordered from the largest part to the smallest."""
    found = [
        cause
        for cause in CAUSES
        if worth_a_change(case.breakdown, cause.part) and cause.applies(case)
    ]
    return sorted(found, key=lambda cause: -case.breakdown.share(cause.part))


def undecided(found: Breakdown) -> list[str]:
    """Return the parts besides compute that may or may not be worth a change."""
    shares = {part.name: found.shares(part.name) for part in (*found.parts, *found.within)}
    return [
        name
        for name, share in shares.items()
        if name != COMPUTE_BOUND.part and share.low < LEAST_SHARE <= share.high
    ]


def without_change(found: Breakdown) -> Cause:
    """Return what takes the time of a step if every part is decided, and none is worth a change."""
    return SHARING if worth_a_change(found, SHARING.part) else COMPUTE_BOUND


def suggest(
    cause: Cause, case: Case, can_be_planned: Callable[[RunConfig], bool]
) -> Suggestion | None:
    """Return the first change that gives another config that can be planned; None if none does."""
    for change in cause.changes:
        fields = change.fields(case)
        if fields and can_be_planned(dataclasses.replace(case.config, **fields)):
            return Suggestion(fields, change.reason)
    return None
