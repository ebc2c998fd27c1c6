"""The split of training data among workers: its checks, and the examples an epoch takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .plan import DATASET
from .problems import Findings

if TYPE_CHECKING:
    from ..config import RunConfig
    from .plan import DataFacts, Plan

NOT_THE_SAME_BATCHES = (
    "This pipeline shuffles in a buffer, so its global batches differ from those of the other "
    "pipelines, and its losses are not bit-identical to theirs."
)
NOT_THE_SAME_AS_ALONE = (
    "Each worker reads its part of a batch from its own files, so the global batches also differ "
    "from those of a strategy in one process."
)


@dataclass(frozen=True)
class Sharding:
    """How the training data is split. Sizes count examples."""

    policy: str
    """auto, data, file or off."""
    workers: int
    files: int
    """Files that hold the training data; 0 if the data is in memory."""
    own_order: bool = False
    """Whether the order of examples depends on more than seed and epoch."""
    own_files: bool = False
    """Whether the user's own data is read from files; their number is unknown."""

    @property
    def by_file(self) -> bool:
        """Whether each worker reads its own files."""
        policies = ("file",) if self.own_files else ("auto", "file")
        return bool(self.files or self.own_files) and self.workers > 1 and self.policy in policies

    @property
    def readers(self) -> int:
        """Workers that each train on all they read; 1 if all read the same and divide it."""
        return self.workers if self.by_file or self.policy == "off" else 1

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the batches for the user."""
        if self.own_order and not self.files:
            return (NOT_THE_SAME_BATCHES,)
        if not self.files:
            return ()
        return (NOT_THE_SAME_BATCHES, *([NOT_THE_SAME_AS_ALONE] if self.by_file else []))

    def shares(self, train: int) -> list[int]:
        """Return the number of examples in the files of each worker.

        Of N workers, each worker has every Nth file.
        """
        in_each, one_more = divmod(train, self.files)
        return [
            in_each * self._files_of(worker, self.files) + self._files_of(worker, one_more)
            for worker in range(self.workers)
        ]

    def _files_of(self, worker: int, first: int) -> int:
        """Return how many of the first `first` files belong to a worker."""
        return -(-max(0, first - worker) // self.workers)

    def epoch_in_words(self, train: int, taken: int) -> str | None:
        """Return in words which data an epoch takes; None if its number of steps shows that.

        `train` is the number of all examples, `taken` the number that an epoch takes.
        """
        if self.workers == 1:
            return None
        each = taken // self.workers
        if self.policy == "off":
            return f"every worker takes the same {each:,}"
        if self.own_files and self.by_file:
            return f"every worker takes {each:,} from files of its own"
        if not self.by_file:
            return None
        shares = self.shares(train)
        again = sum(max(0, each - share) for share in shares)
        left_out = sum(max(0, share - each) for share in shares)
        if not (again and left_out):
            return None
        return f"of workers' own files {again:,} examples are taken again, {left_out:,} left out"


def plan_sharding(config: RunConfig, workers: int, own: DataFacts | None = None) -> Sharding:
    """Return how a config splits the data; `own` describes the user's own data."""
    if own is not None and own.kind == DATASET:
        # TensorFlow would choose `file` if there are enough files, which no plan can know.
        policy = "data" if config.auto_shard == "auto" else config.auto_shard
        return Sharding(policy, workers, 0, own_files=own.reads_files)
    policy = "data" if config.pipeline == "indexed" else config.auto_shard
    files = config.data_files * (config.pipeline == "files")
    return Sharding(policy, workers, files, config.pipeline in ("files", "numpy"))


def read_per_step(plan: Plan) -> int:
    """Return the examples that each worker reads for a step, if workers share the pipeline."""
    sharers = plan.workers if plan.synchronous else 1
    return plan.examples_per_step // plan_sharding(plan.config, sharers, plan.data_facts).readers


def check_sharding(findings: Findings, config: RunConfig, workers: int, train: int) -> None:
    """Note an impossible number of files, or files that workers cannot share.

    `train` counts examples.
    """
    if config.pipeline != "files":
        if config.auto_shard == "file":
            rule = f"auto, data or off with the pipeline {config.pipeline}, whose data is in memory"
            findings.add("auto_shard", rule, "file", "Choose the pipeline files, or auto.")
        return
    if config.data_files > max(1, train):
        rule = f"at most the {train:,} training examples"
        findings.add("data_files", rule, config.data_files, "Set it to 8, for example.")
    elif 0 < config.data_files < workers and plan_sharding(config, workers).by_file:
        rule = f"at least the {workers} workers, because each reads its own files"
        fix = f"Set it to {workers} or more, or auto_shard to data."
        findings.add("data_files", rule, config.data_files, fix)
