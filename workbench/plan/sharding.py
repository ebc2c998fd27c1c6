"""How workers share the training data, what cannot be shared so, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .own_data import DATASET
from .problems import Findings

if TYPE_CHECKING:
    from ..config import RunConfig
    from .own_data import DataFacts

NOT_THE_SAME_BATCHES = (
    "This pipeline shuffles in a buffer, in an order of its own: its global batches are not those "
    "of the other pipelines, and losses do not agree with theirs to the last bits."
)
NOT_THE_SAME_AS_ALONE = (
    "Each worker draws its part of a batch from files of its own: the global batches are not "
    "those of a strategy in one process either."
)


@dataclass(frozen=True)
class Sharding:
    """How the training data is split. Sizes count examples."""

    policy: str
    """auto, data, file or off."""
    workers: int
    files: int
    """Files that hold the training data; 0 where it is in memory."""
    own_order: bool = False
    """Whether examples come in another order than by seed and epoch alone."""
    own_files: bool = False
    """Whether the data is one's own and read from files, how many is not known."""

    @property
    def by_file(self) -> bool:
        """Whether each worker reads files of its own."""
        policies = ("file",) if self.own_files else ("auto", "file")
        return bool(self.files or self.own_files) and self.workers > 1 and self.policy in policies

    @property
    def readers(self) -> int:
        """Workers that each read what they train on; 1 where all read the same and part it."""
        return self.workers if self.by_file or self.policy == "off" else 1

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known about the batches."""
        if self.own_order and not self.files:
            return (NOT_THE_SAME_BATCHES,)
        if not self.files:
            return ()
        return (NOT_THE_SAME_BATCHES, *([NOT_THE_SAME_AS_ALONE] if self.by_file else []))

    def shares(self, train: int) -> list[int]:
        """Return the examples in the files of each worker: it has every so many-th file."""
        in_each, one_more = divmod(train, self.files)
        return [
            in_each * self._files_of(worker, self.files) + self._files_of(worker, one_more)
            for worker in range(self.workers)
        ]

    def _files_of(self, worker: int, first: int) -> int:
        """Return how many of the first so many files are a worker's."""
        return -(-max(0, first - worker) // self.workers)

    def epoch_in_words(self, train: int, taken: int) -> str | None:
        """Return what an epoch takes of the data, where the number of its steps does not tell.

        `train` is how many examples there are, `taken` how many an epoch takes.
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
    """Return how a config has the data split; `own` tells what data of one's own is."""
    if own is not None and own.kind == DATASET:
        # TensorFlow would choose by whether there are files enough, which no plan can know.
        policy = "data" if config.auto_shard == "auto" else config.auto_shard
        return Sharding(policy, workers, 0, own_files=own.reads_files)
    policy = "data" if config.pipeline == "indexed" else config.auto_shard
    files = config.data_files * (config.pipeline == "files")
    return Sharding(policy, workers, files, config.pipeline in ("files", "numpy"))


def check_sharding(findings: Findings, config: RunConfig, workers: int, train: int) -> None:
    """Note files that there cannot be, or that workers cannot share. `train` counts examples."""
    if config.pipeline != "files":
        if config.auto_shard == "file":
            rule = f"auto, data or off with the pipeline {config.pipeline}, whose data is in memory"
            findings.add("auto_shard", rule, "file", "Choose the pipeline files, or auto.")
        return
    findings.positive("data_files", config.data_files, 8)
    if config.data_files > max(1, train):
        rule = f"at most the {train:,} examples there are"
        findings.add("data_files", rule, config.data_files, "Set it to 8, for example.")
    elif 0 < config.data_files < workers and plan_sharding(config, workers).by_file:
        rule = f"at least the {workers} workers, each of which reads files of its own"
        fix = f"Set it to {workers} or more, or auto_shard to data."
        findings.add("data_files", rule, config.data_files, fix)
