"""The view of a learning-rate range test, which can put its suggestion in the form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from workbench import units
from workbench.catalog import COMPILED
from workbench.experiments.searching.rate_test import (
    HIGHEST,
    LOWEST,
    STEPS,
    find_learning_rate,
    smoothed,
)
from workbench.experiments.searching.results import (
    RateProgress,
    RateTest,
    rate_progress,
    rate_sentences,
)
from workbench.widgets.form.fields import NumberField
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button
from workbench.widgets.pictures import search as search_picture

from .view import SearchContext, SearchView, how_far

if TYPE_CHECKING:
    from workbench.config import RunConfig


class RateTestView(SearchView[RateProgress, RateTest]):
    """The view of the test for a learning rate."""

    TITLE: ClassVar[str] = "Learning rate"
    ABOUT: ClassVar[str] = (
        "Trains from the start with the form's batch size and raises the learning rate at each "
        "step until the loss diverges (Smith 2017). The suggestion is the rate at which the loss "
        "falls fastest. The trained weights are not kept."
    )
    FIND: ClassVar[str] = "Find the learning rate"
    STOP: ClassVar[str] = "Stop the test"
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(
        {"learning_rate", "epochs", "steps_per_epoch", "steps_per_call"}
    )

    def __init__(self, context: SearchContext) -> None:
        fields = []
        for name, usual, help_text in (
            ("lowest", LOWEST, "The rate of the first step."),
            ("highest", HIGHEST, "The rate of the last step, if the loss does not diverge before."),
        ):
            field = NumberField(name, f"{name.capitalize()} learning rate", whole=False)
            field.write(usual)
            field.show_help(help_text)
            fields.append(field)
        steps = NumberField("steps", "Steps of the test", whole=True)
        steps.write(STEPS)
        steps.show_help("From the lowest to the highest rate. More steps give a finer curve.")
        self._suggested = button("Use it", "Write it into the form", self._use_suggested)
        self._found: RateTest | None = None
        super().__init__(context, [*fields, steps], [self._suggested])

    def _search(
        self,
        config: RunConfig,
        on_progress: Callable[[RateProgress], None],
        stopped: Callable[[], bool],
    ) -> RateTest:
        asked = self._asked
        return find_learning_rate(
            config,
            asked["lowest"],
            asked["highest"],
            asked["steps"],
            self._context.devices(),
            on_progress,
            stopped,
        )

    def _show_progress(self, progress: RateProgress) -> str:
        known = [loss for loss in progress.losses if loss is not None]
        if known:
            self._begin_to_show()
            self._draw(progress.rates, progress.losses, smoothed(known))
        return how_far(rate_progress(progress), progress.eta_seconds)

    def _show_found(self, found: RateTest) -> str:
        if found.rates:
            self._begin_to_show()
            self._found = found
            self._show_answer(found)
        done = f"{len(found.rates):,} of {found.steps:,} steps"
        return f"{done} in {units.duration(found.seconds)}"

    def _show_answer(self, found: RateTest) -> None:
        self._draw(found.rates, found.losses, found.smoothed, found.suggestion)
        self._answer.value = markup.quiet(" ".join(rate_sentences(found)))
        if found.learning_rate is not None and found.optimizer != COMPILED:
            self._suggested.description = f"Use {found.learning_rate:g}"
            self._offer([self._suggested])

    def _draw(
        self,
        rates: Sequence[float],
        losses: Sequence[float | None],
        smooth: Sequence[float],
        suggestion: float | None = None,
    ) -> None:
        ends = self._asked["lowest"], self._asked["highest"]
        self._picture.value = search_picture.losses(rates, losses, smooth, ends, suggestion)

    def _use_suggested(self, _: Any) -> None:
        if self._found is not None and self._found.learning_rate is not None:
            rate = self._found.learning_rate
            self._use(f"the learning rate {rate:g}", learning_rate=rate)
