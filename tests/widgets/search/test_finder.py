"""The tab that finds batch size and learning rate: results, refusals, use in the form."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.waiting import until
from tests.widgets.pictures.trials import TRIALS
from tests.widgets.tables import rows_of
from workbench.config import RunConfig
from workbench.experiments.searching.results import (
    BatchProgress,
    FoundBatch,
    RateProgress,
    RateTest,
)
from workbench.runs import RunError
from workbench.widgets.form.form import Form
from workbench.widgets.search.finder import FinderView
from workbench.widgets.search.view import SearchContext

OWN = Path(__file__).parents[2] / "experiments/searching/own_rates.py"
FEW = RunConfig(
    strategy="one_device", synthetic_examples=8, per_replica_batch_size=4, learning_rate=0.5
)
WHY = "64 per replica do not fit: it used 900 MiB."
FOUND = FoundBatch(TRIALS, 32, 16, "memory", WHY, 2, 800, 60.0)
RATES = tuple(1e-5 * 10 ** (at / 20) for at in range(100))
LOSSES = tuple(1.0 - at / 200 for at in range(100))
TESTED = RateTest(RATES, (*LOSSES[:-1], None), LOSSES[:-1], 0.0032, 0.0032, 0.1, "It falls.",
                  "diverged", 150, "adam", 9.0)  # fmt: skip


class Page:
    """A form and the tab, connected as in the workbench."""

    def __init__(self, config: RunConfig = FEW) -> None:
        self.form = Form(config, LAPTOP)
        self.finder = FinderView(
            SearchContext(
                lambda: self.form.state, self.form.write, self.form.label_of, lambda: LAPTOP
            )
        )
        self.batch, self.rate = self.finder.batch, self.finder.rate

    @property
    def config(self) -> RunConfig:
        return self.form.state.config


@pytest.fixture
def page() -> Page:
    return Page()


def shown(*buttons: Any) -> list[str]:
    """Return the labels of the visible buttons."""
    return [each.description for each in buttons if each.layout.display is None]


def field(view: Any, name: str) -> Any:
    return next(each for each in view._fields if each.name == name)


def beside_sentence(view: Any, name: str) -> str:
    return field(view, name).problems


def test_it_opens_with_the_defaults_and_offers_no_result(page: Page) -> None:
    assert [each.read() for each in page.batch._fields] == [None, 600]
    assert [each.read() for each in page.rate._fields] == [1e-7, 10, 150]
    assert shown(*page.batch._uses, *page.rate._uses, page.batch._end, page.rate._end) == []


def test_a_running_search_shows_its_trials(page: Page) -> None:
    shown_progress = page.batch._show_progress(
        BatchProgress(TRIALS[:2], 64, 20.0, 40.0, ("run-1",))
    )
    assert "2 sizes tried, 64 per replica now, about 40 s left" in shown_progress
    assert "run-1 trained on the same devices meanwhile" in shown_progress
    assert [row[0] for row in rows_of(page.batch._table.value)] == ["16", "32"]
    assert page.batch._picture.value.count("<circle") == 2
    assert shown(*page.batch._uses) == []


def test_the_results_are_marked_and_used_in_the_form(page: Page) -> None:
    words = page.batch._show_found(dataclasses.replace(FOUND, beside=("run-1",)))
    assert words == "3 sizes tried in 1 min 0 s"
    assert WHY in page.batch._answer.value
    assert "The memory limit was 800 MiB." in page.batch._answer.value
    assert "run-1 trained on the same devices" in page.batch._answer.value
    notes = [row[-1] for row in rows_of(page.batch._table.value)]
    assert notes == ["the best throughput", "the largest that fits", "it used 900 MiB"]
    assert shown(*page.batch._uses) == ["Use the largest (32)", "Use the fastest (16)"]
    page.batch._largest.click()
    assert page.config.per_replica_batch_size == 32
    assert page.config.global_batch_size is None
    assert page.config.learning_rate == FEW.learning_rate
    page.batch._fastest.click()
    assert page.config.per_replica_batch_size == 16
    assert "The form has 16 examples per replica now." in page.batch._progress.value


def test_a_change_of_the_form_since_the_search_is_shown(page: Page) -> None:
    page.batch._config = FEW
    page.batch._show_found(FOUND)
    page.form.write(dataclasses.replace(FEW, learning_rate=0.1))
    page.batch._largest.click()
    assert "Search again" not in page.batch._progress.value
    page.form.write(dataclasses.replace(FEW, precision="float64"))
    page.batch._largest.click()
    assert "Search again" in page.batch._progress.value
    assert page.config.precision == "float64"


def test_a_running_test_shows_its_curve(page: Page) -> None:
    page.rate._asked = {"lowest": 1e-7, "highest": 10.0}
    assert "0 of 150 steps" in page.rate._show_progress(RateProgress((), (), 150, 1.0, None))
    assert page.rate._picture.value == ""
    shown_progress = page.rate._show_progress(RateProgress(RATES[:50], LOSSES[:50], 150, 3.0, 6.0))
    assert "50 of 150 steps, learning rate 2.8e-03, about 6 s left" in shown_progress
    assert page.rate._picture.value.count("<polyline") == 2


def test_a_suggestion_is_used_in_the_form(page: Page) -> None:
    page.rate._asked = {"lowest": 1e-7, "highest": 10.0}
    assert page.rate._show_found(TESTED) == "100 of 150 steps in 9 s"
    assert "The loss diverged at 0.89. It falls." in page.rate._answer.value
    assert shown(*page.rate._uses) == ["Use 0.0032"]
    page.rate._suggested.click()
    assert page.config.learning_rate == 0.0032
    assert page.config.per_replica_batch_size == FEW.per_replica_batch_size


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"optimizer": "compiled"},
            "Compile your model&#x27;s optimizer with learning_rate=0.0032",
        ),
        ({"suggestion": None, "learning_rate": None, "reason": "It never fell."}, "It never fell."),
    ],
)
def test_no_rate_is_offered_if_the_form_has_none_to_change(
    page: Page, values: dict[str, Any], words: str
) -> None:
    page.rate._asked = {"lowest": 1e-7, "highest": 10.0}
    page.rate._show_found(dataclasses.replace(TESTED, **values))
    assert words in page.rate._answer.value
    assert shown(*page.rate._uses) == []


def test_the_results_stay_until_there_are_new_ones(page: Page) -> None:
    page.batch._show_found(FOUND)
    table, nothing = page.batch._table.value, dataclasses.replace(FOUND, trials=())
    page.batch._show_progress(BatchProgress((), 1, 1.0, None))
    page.batch._failed(RunError("The budget of 1 s was over before the first trial ended."))
    page.batch._show_found(nothing)
    assert page.batch._table.value == table
    assert len(shown(*page.batch._uses)) == 2


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("memory_limit", "much", "must be a whole number; got much"),
        ("memory_limit", "0", "must be MiB above 0; got 0"),
        ("budget", "", "must be a finite number; got nothing"),
        ("budget", "0", "must be seconds above 0; got 0"),
    ],
)
def test_a_value_that_a_search_cannot_use_is_shown_next_to_the_field(
    page: Page, name: str, typed: str, words: str
) -> None:
    field(page.batch, name).control.value = typed
    page.batch._find.click()
    until(lambda: words in beside_sentence(page.batch, name))
    until(lambda: not page.batch._find.disabled)
    field(page.batch, name).write(60)
    page.batch._typed()
    assert beside_sentence(page.batch, name) == ""


def test_several_problems_of_a_test_are_shown_together(page: Page) -> None:
    for name, typed in (("lowest", "-1"), ("highest", "-2"), ("steps", "3")):
        field(page.rate, name).control.value = typed
    page.rate._find.click()
    until(lambda: "must be at least 50" in beside_sentence(page.rate, "steps"))
    assert "must be a rate above 0; got -1" in beside_sentence(page.rate, "lowest")
    assert "must be a rate above the lowest, -1; got -2" in beside_sentence(page.rate, "highest")
    assert not page.rate._progress.value


def test_problems_of_the_form_are_shown_and_no_search_starts() -> None:
    page = Page(dataclasses.replace(FEW, optimizer="adm", synthetic_examples=0))
    page.batch._find.click()
    assert page.batch._progress.value.count("wb-error") == 2
    assert "optimizer must be one of" in page.batch._progress.value
    assert not page.batch._find.disabled


def test_an_asynchronous_strategy_is_refused() -> None:
    page = Page(RunConfig(strategy="parameter_server"))
    page.rate._find.click()
    until(lambda: "strategy must be a synchronous one" in page.rate._progress.value)
    until(lambda: not page.rate._find.disabled)


def test_the_log_of_a_failure_is_folded_and_escaped(page: Page) -> None:
    page.batch._failed(RunError("It failed.\nTraceback <b>"))
    assert "<b>Problem: </b>It failed.</div><details>" in page.batch._progress.value
    assert "Traceback &lt;b&gt;" in page.batch._progress.value


def test_one_search_at_a_time_and_closing_ends_it(page: Page) -> None:
    page.batch._find.click()
    assert page.batch._find.disabled
    assert page.rate._find.disabled
    assert shown(page.batch._end) == ["Stop the search"]
    page.finder.close()
    until(lambda: not page.batch._find.disabled)
    assert not page.rate._find.disabled
    assert shown(page.batch._end) == []


@pytest.mark.slow
def test_a_batch_size_that_the_form_cannot_plan_is_found_and_used() -> None:
    page = Page(dataclasses.replace(FEW, per_replica_batch_size=10**6))
    assert page.form.state.plan is None
    page.batch._find.click()
    until(lambda: shown(*page.batch._uses))
    assert "The data is the limit" in page.batch._answer.value
    assert [row[0] for row in rows_of(page.batch._table.value)] == ["1", "2", "4", "8"]
    assert "4 sizes tried in " in page.batch._progress.value
    assert "OneDevice, Custom loop, Synthetic" in page.batch._progress.value
    page.batch._largest.click()
    assert page.config.per_replica_batch_size == 8
    assert page.form.state.plan is not None


@pytest.mark.slow
def test_a_learning_rate_is_found_and_used() -> None:
    page = Page(RunConfig(strategy="one_device"))
    page.rate._find.click()
    (label,) = until(lambda: shown(*page.rate._uses))
    page.rate._suggested.click()
    assert label == f"Use {page.config.learning_rate:g}"
    assert page.config.learning_rate != RunConfig().learning_rate


@pytest.mark.slow
def test_the_place_of_the_rate_in_a_custom_model_is_shown() -> None:
    page = Page(RunConfig(strategy="one_device", model=f"{OWN}:with_momentum"))
    field(page.rate, "lowest").control.value = "1e-4"
    page.rate._find.click()
    until(lambda: "Compile your model" in page.rate._answer.value)
    assert shown(*page.rate._uses) == []


@pytest.mark.slow
def test_if_no_size_fits_the_reason_and_the_trials_are_shown(page: Page) -> None:
    field(page.batch, "memory_limit").write(100)
    page.batch._find.click()
    until(lambda: "Allow more memory" in page.batch._progress.value)
    until(lambda: not page.batch._find.disabled)
    ((size, _, fits, *_),) = rows_of(page.batch._table.value)
    assert (size, fits) == ("1", "does not fit")
    assert shown(*page.batch._uses) == []


@pytest.mark.slow
def test_a_stopped_search_keeps_its_results() -> None:
    page = Page(RunConfig(strategy="one_device"))
    page.batch._find.click()
    until(lambda: rows_of(page.batch._table.value))
    page.batch._end.click()
    assert page.batch._end.disabled
    until(lambda: not page.batch._find.disabled)
    assert "The search was stopped: a larger batch may fit." in page.batch._answer.value
    assert shown(*page.batch._uses)
