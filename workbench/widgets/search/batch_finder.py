"""The view that finds the largest batch that fits and the fastest one, and puts one in the form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from workbench import units
from workbench.experiments.searching.batch_finder import BUDGET_SECONDS, find_batch_size
from workbench.experiments.searching.results import (
    SIZE_HEAD,
    BatchProgress,
    FoundBatch,
    batch_progress,
    batch_sentences,
    beside_sentence,
    size_cells,
    sizes_tried,
)
from workbench.widgets.form.fields import NumberField
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button
from workbench.widgets.pictures import search as search_picture

from .view import SearchContext, SearchView, how_far

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.experiments.searching.results import Trial


class BatchFinderView(SearchView[BatchProgress, FoundBatch]):
    """The view of the search for a batch size."""

    TITLE: ClassVar[str] = "Batch size"
    ABOUT: ClassVar[str] = (
        "Trains a few steps of the form's script at each of several batch sizes, until memory, "
        "data or the time budget runs out. Each trial has its own process, so running out of "
        "memory ends only that trial. The search ends when this notebook's kernel ends."
    )
    FIND: ClassVar[str] = "Find the batch size"
    STOP: ClassVar[str] = "Stop the search"
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(
        {"per_replica_batch_size", "global_batch_size", "learning_rate", "epochs"}
    )

    def __init__(self, context: SearchContext) -> None:
        limit = NumberField("memory_limit", "Memory limit (MiB)", whole=True, optional=True)
        limit.hint("all available")
        limit.show_help(
            "For each process on a CPU, for each replica on GPUs. Empty: all available."
        )
        budget = NumberField("budget", "Time budget in seconds", whole=False)
        budget.write(BUDGET_SECONDS)
        budget.show_help("The time limit of the search.")
        self._largest = button("Use the largest", "Write it into the form", self._use_largest)
        self._fastest = button("Use the fastest", "Write it into the form", self._use_fastest)
        self._found: FoundBatch | None = None
        super().__init__(context, [limit, budget], [self._largest, self._fastest])

    def _search(
        self,
        config: RunConfig,
        on_progress: Callable[[BatchProgress], None],
        stopped: Callable[[], bool],
    ) -> FoundBatch:
        limit, budget = self._asked["memory_limit"], self._asked["budget"]
        return find_batch_size(config, limit, budget, self._context.devices(), on_progress, stopped)

    def _show_progress(self, progress: BatchProgress) -> str:
        if progress.trials:
            self._begin_to_show()
            self._draw(progress.trials)
        text = how_far(batch_progress(progress), progress.eta_seconds)
        return text + _beside(progress.beside)

    def _show_found(self, found: FoundBatch) -> str:
        if found.trials:
            self._begin_to_show()
            self._found = found
            self._show_answers(found)
        return f"{sizes_tried(found.trials)} in {units.duration(found.seconds)}"

    def _show_answers(self, found: FoundBatch) -> None:
        largest, best = found.largest_per_replica_batch_size, found.best_per_replica_batch_size
        self._draw(found.trials, largest, best)
        self._answer.value = markup.quiet(" ".join(batch_sentences(found))) + _beside(found.beside)
        offered = []
        for size, use, word in (
            (largest, self._largest, "largest"),
            (best, self._fastest, "fastest"),
        ):
            if size is not None:
                use.description = f"Use the {word} ({size:,})"
                offered.append(use)
        self._offer(offered)

    def _draw(
        self, trials: Sequence[Trial], largest: int | None = None, best: int | None = None
    ) -> None:
        self._picture.value = search_picture.throughput(trials, largest, best)
        self._table.value = table(trials, largest, best)

    def _use_largest(self, _: Any) -> None:
        if self._found is not None:
            self._use_size(self._found.largest_per_replica_batch_size)

    def _use_fastest(self, _: Any) -> None:
        if self._found is not None:
            self._use_size(self._found.best_per_replica_batch_size)

    def _use_size(self, size: int | None) -> None:
        if size is not None:
            batch = f"{size:,} example{'s' * (size != 1)} per replica"
            self._use(batch, per_replica_batch_size=size, global_batch_size=None)


def _beside(runs: Sequence[str]) -> str:
    return markup.notice("warning", beside_sentence(runs)) if runs else ""


def table(trials: Sequence[Trial], largest: int | None = None, best: int | None = None) -> str:
    """Return all trials (HTML), with the two answers marked; empty before the first trial."""
    if not trials:
        return ""
    rows = []
    for trial in trials:
        size = trial.per_replica_batch_size
        notes = [trial.reason] if trial.reason else []
        notes += ["the largest that fits"] if size == largest else []
        notes += ["the best throughput"] if size == best else []
        rows.append([*size_cells(trial), ", ".join(notes)])
    numeric = range(len(SIZE_HEAD))
    made = markup.table("Batch sizes tried", [*SIZE_HEAD, "Notes"], rows, numeric=numeric)
    return markup.scrolling("Batch sizes tried", made)
