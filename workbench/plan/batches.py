"""Batch sizes, steps, and the use of the examples that do not fill a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .problems import Findings

if TYPE_CHECKING:
    from ..catalog import Data
    from ..config import RunConfig
    from .sharding import Sharding

DEFAULT_PER_REPLICA_BATCH_SIZE = 64


@dataclass(frozen=True)
class Batches:
    """Batch sizes in examples."""

    per_replica: int
    replicas: int

    @property
    def in_all(self) -> int:
        """The global batch size."""
        return self.per_replica * self.replicas


@dataclass(frozen=True)
class Epoch:
    """One epoch: its examples, its steps and the leftover examples."""

    train_examples: int
    test_examples: int
    steps: int
    leftover: int
    last_batch: str
    arithmetic: str


def plan_batches(findings: Findings, config: RunConfig, replicas: int) -> Batches | None:
    """Return both batch sizes, one computed from the other, or note why they do not fit."""
    each, in_all = config.per_replica_batch_size, config.global_batch_size
    if any(size is not None and size < 1 for size in (each, in_all)):
        return None
    if each is not None and in_all is not None and each * replicas != in_all:
        rule = f"the per-replica batch size x {replicas} replicas"
        got = f"{in_all} with {each} per replica"
        fix = f"Set global_batch_size to {each * replicas}, or give only one of the two."
        findings.add("global_batch_size", rule, got, fix)
        return None
    if in_all is not None:
        return _from_global(findings, in_all, replicas)
    return Batches(each if each is not None else DEFAULT_PER_REPLICA_BATCH_SIZE, replicas)


def _from_global(findings: Findings, in_all: int, replicas: int) -> Batches | None:
    if in_all % replicas == 0:
        return Batches(in_all // replicas, replicas)
    below, above = in_all // replicas * replicas, (in_all // replicas + 1) * replicas
    nearest = f"{below} or {above}" if below else str(above)
    rule = f"a multiple of the {replicas} replicas"
    findings.add("global_batch_size", rule, in_all, f"Set it to {nearest}.")
    return None


def plan_epoch(
    findings: Findings, config: RunConfig, data: Data, batches: Batches, sharding: Sharding
) -> Epoch | None:
    """Count the steps of an epoch, or note why there are no steps."""
    train = data.train_examples or config.synthetic_examples
    steps, last_batch = config.steps_per_epoch, config.last_batch
    if train < 1 or (steps is not None and steps < 1):
        return None
    full, leftover = divmod(train, batches.in_all)
    kept_whole = last_batch == "keep" and steps in (None, 1)
    if not full and last_batch != "repeat" and not kept_whole:
        _note_too_large(findings, config, batches, train)
        return None
    if steps is None:
        steps = full + bool(leftover and last_batch != "drop")
    elif steps > full + bool(leftover and last_batch == "keep"):
        last_batch = "repeat"
    if steps <= full:
        last_batch = "drop"
    _check_kept(findings, config, batches, leftover, last_batch)
    shared = sharding.epoch_in_words(train, steps * batches.in_all)
    arithmetic = _arithmetic(batches, train, steps, leftover, last_batch, shared)
    unused = train - min(steps, full) * batches.in_all
    return Epoch(train, data.tests(train), steps, unused, last_batch, arithmetic)


def _note_too_large(findings: Findings, config: RunConfig, batches: Batches, train: int) -> None:
    fitting = train // batches.replicas
    rule = f"at most the {train:,} training examples"
    other = 'set last_batch to "keep" or "repeat"'
    if config.steps_per_epoch not in (None, 1):
        other = 'set last_batch to "repeat"'
    if config.global_batch_size is None and fitting:
        shared = f"{batches.replicas} replicas share {train:,} training examples"
        rule = f"at most {fitting:,}, because {shared}"
        fix = f"Set it to {fitting} or less, or {other}."
        findings.add("per_replica_batch_size", rule, f"{batches.per_replica:,}", fix)
    else:
        size = f"it to {fitting * batches.replicas} or less" if fitting else "fewer replicas"
        fix = f"Set {size}, or {other}."
        findings.add("global_batch_size", rule, f"{batches.in_all:,}", fix)


def _check_kept(
    findings: Findings, config: RunConfig, batches: Batches, leftover: int, last_batch: str
) -> None:
    if last_batch != "keep":
        return
    if config.pipeline != "usual":
        rule = f"drop or repeat with the {config.pipeline} pipeline, which uses only full batches"
        findings.add("last_batch", rule, "keep", "Choose drop or repeat, or the usual pipeline.")
    elif 0 in (shares := split(leftover, batches.replicas)):
        rule = f"drop or repeat if the last batch is too small for the {batches.replicas} replicas"
        pieces = ", ".join(map(str, shares))
        got = f"keep with {leftover} examples left, which TensorFlow splits into {pieces}"
        findings.add("last_batch", rule, got, "Choose drop or repeat, or another batch size.")
    elif config.loop == "fit" and len(set(shares)) > 1:
        rule = (
            "drop or repeat with Keras fit if the replicas get unequal parts of the last batch, "
            "because Keras gives each part the same weight"
        )
        got = f"keep with {leftover} examples left, split into {', '.join(map(str, shares))}"
        fix = "Choose drop or repeat, the loop custom, or another batch size."
        findings.add("last_batch", rule, got, fix)


def split(examples: int, replicas: int) -> list[int]:
    """Return how many examples of a short batch TensorFlow gives to each replica.

    TensorFlow cuts pieces of equal size, rounded up, until no examples remain. See
    `_LegacyRebatchDataset` in tensorflow/python/data/experimental/ops/distribute.py.
    """
    piece = -(-examples // replicas)
    return [max(0, min(piece, examples - replica * piece)) for replica in range(replicas)]


def _arithmetic(
    batches: Batches, train: int, steps: int, leftover: int, last_batch: str, shared: str | None
) -> str:
    replicas = f"{batches.replicas} replica{'s' * (batches.replicas != 1)}"
    sizes = f"{batches.per_replica} per replica x {replicas} = {batches.in_all} per step"
    many = f"{train:,} examples, {steps:,} step{'s' * (steps != 1)} an epoch"
    unused = train - steps * batches.in_all
    if shared:
        end = shared
    elif last_batch == "keep":
        end = f"the last step takes the {leftover} left"
    elif last_batch == "repeat":
        end = f"{-unused:,} examples are taken again" if unused else "every example once"
    elif unused > 0:
        end = f"{unused:,} examples left out"
    else:
        end = "every example once"
    return f"{sizes}; {many}; {end}"
