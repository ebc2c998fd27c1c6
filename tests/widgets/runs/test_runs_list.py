"""The list of earlier runs: rows, new and deleted runs, search, order, and several deletions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.waiting import until
from tests.widgets.folders import CONFIG, write_epoch, write_run
from workbench import RunConfig
from workbench.runs import Run
from workbench.widgets.runs.row import Row
from workbench.widgets.runs.runs_list import ROWS_AT_FIRST, RunsList
from workbench.widgets.runs.table import MOST_ARRIVALS


def listing(root: Path) -> RunsList:
    """Return the list of a folder, which is checked only on request."""
    runs = RunsList(root)
    runs.reload()
    return runs


def shown(runs: RunsList) -> list[str]:
    """Return the ids of the rows on the page, from the top."""
    boxes = []
    for box in runs._table.box.children[1:]:
        boxes += list(box.children) if "wb-arrival" in box._dom_classes else [box]
    of = {id(row.box): row.run.id for row in runs._table.rows.values()}
    return [of[id(box)] for box in boxes]


def text_of(row: Row) -> str:
    return str(row._cells.value)


def words(runs: RunsList, text: str) -> None:
    runs.tools._search.value = text


def test_a_row_shows_the_choices_and_the_result_of_a_run(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (row,) = listing(tmp_path)._table.rows.values()
    text = text_of(row)
    for value in ("finished", run.title, run.id, "MLP 16-8-1", "Synthetic", "Mirrored",
                  "2 virtual replicas", "Custom loop", "128", "75.00%", "156 steps"):  # fmt: skip
        assert value in text


def test_a_name_is_text_and_not_markup(tmp_path: Path) -> None:
    write_run(tmp_path, name="<b>mine</b>")
    (row,) = listing(tmp_path)._table.rows.values()
    assert "&lt;b&gt;mine" in text_of(row)


def test_the_buttons_of_a_row_open_the_run_and_use_its_settings(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    runs, opened, used = listing(tmp_path), list[Run](), list[RunConfig]()
    runs.on_chosen(opened.append)
    runs.on_settings(used.append)
    (row,) = runs._table.rows.values()
    row._open.click()
    row._settings.click()
    assert [each.id for each in opened] == [run.id]
    assert used == [run.config]
    assert f"settings of {run.title}" in runs.tools._report.value


def test_a_row_of_a_run_from_elsewhere_asks_before_the_form_executes_its_settings(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path, config=replace(CONFIG, interpreter="/evil/python"))
    runs, used = listing(tmp_path), list[RunConfig]()
    runs.on_settings(used.append)
    (row,) = runs._table.rows.values()
    row._settings.click()
    assert used == []
    assert runs._agreeing.box in runs.box.children
    asked, _, keys = runs._agreeing.box.children
    assert run.id in asked.value
    keys.children[0].click()
    assert used == [run.config]


def test_only_the_newest_runs_are_built(tmp_path: Path) -> None:
    made = [write_run(tmp_path).id for _ in range(ROWS_AT_FIRST + 2)]
    runs = listing(tmp_path)
    newest = made[::-1]
    assert shown(runs) == newest[:ROWS_AT_FIRST]
    assert len(runs._made) == ROWS_AT_FIRST
    runs._more.click()
    assert shown(runs) == newest
    assert runs._more.layout.display == "none"


def test_a_new_run_appears_at_the_top_and_no_row_is_built_again(tmp_path: Path) -> None:
    old = write_run(tmp_path)
    runs = listing(tmp_path)
    before = runs._table.box.children
    first, second = write_run(tmp_path), write_run(tmp_path)
    runs._poll()
    third = write_run(tmp_path)
    runs._poll()
    assert shown(runs) == [third.id, second.id, first.id, old.id]
    assert runs._table.box.children == before
    assert runs.tools._new.layout.display == "none"
    runs.reload()
    assert shown(runs) == [third.id, second.id, first.id, old.id]


def test_new_runs_wait_while_a_run_is_selected_or_another_order_is_chosen(tmp_path: Path) -> None:
    old = write_run(tmp_path)
    runs = listing(tmp_path)
    runs._table.rows[old.id].selected = True
    new = write_run(tmp_path)
    runs._poll()
    assert shown(runs) == [old.id]
    assert runs.tools._new.description == "Show 1 new run"
    runs.tools._new.click()
    assert shown(runs) == [new.id, old.id]
    assert runs._table.rows[old.id].selected
    assert runs.tools._new.layout.display == "none"
    runs._table.rows[old.id].selected = False
    runs.tools._order.value = "duration"
    write_run(tmp_path)
    runs._poll()
    assert runs.tools._new.layout.display is None


def test_more_new_runs_than_places_wait(tmp_path: Path) -> None:
    old = write_run(tmp_path)
    runs = listing(tmp_path)
    for _ in range(MOST_ARRIVALS + 1):
        write_run(tmp_path)
    runs._poll()
    assert shown(runs) == [old.id]
    assert runs.tools._new.description == f"Show {MOST_ARRIVALS + 1} new runs"


def test_the_first_runs_of_a_folder_appear_by_themselves(tmp_path: Path) -> None:
    runs = listing(tmp_path)
    runs._poll()
    assert "No runs in" in runs._message.value
    made = [write_run(tmp_path).id for _ in range(MOST_ARRIVALS + 1)]
    runs._poll()
    assert shown(runs) == made[::-1]
    assert runs._message.value == ""
    assert runs.tools._new.layout.display == "none"


def test_a_run_deleted_elsewhere_keeps_its_place(tmp_path: Path) -> None:
    kept, gone = write_run(tmp_path), write_run(tmp_path)
    runs = listing(tmp_path)
    gone.delete()
    runs._poll()
    assert shown(runs) == [gone.id, kept.id]
    assert "was deleted" in text_of(runs._table.rows[gone.id])
    assert runs._table.rows[gone.id]._open.disabled


def test_a_run_must_have_every_word(tmp_path: Path) -> None:
    mine = write_run(tmp_path, name="Baseline")
    failed = write_run(tmp_path, "failed", steps=20)
    worked = write_run(
        tmp_path, config=RunConfig(strategy="multi_worker_mirrored", workers=2), steps=0
    )
    runs = listing(tmp_path)

    def found(text: str, *expected: Run) -> None:
        words(runs, text)
        until(lambda: shown(runs) == [run.id for run in expected])

    found("baseline", mine)
    found("FAILED synthetic", failed)
    found("multiworker mlp", worked)
    found(failed.id[-4:], failed)
    found("baseline failed")
    assert "No run matches all these words" in runs._message.value
    assert "0 of 3 runs" in runs.tools._count.value
    found("  ", worked, failed, mine)


def test_runs_are_ordered_by_their_results_and_unknown_ones_are_last(tmp_path: Path) -> None:
    best, unknown, good = (write_run(tmp_path, steps=steps) for steps in (78, 0, 78))
    write_epoch(best.dir, 2, 156, test_accuracy=0.9)
    (unknown.dir / "plan.json").write_text("{")
    runs = listing(tmp_path)
    runs.tools._order.value = "test accuracy"
    until(lambda: shown(runs) == [best.id, good.id, unknown.id])
    runs.tools._order.value = "newest"
    assert shown(runs) == [good.id, unknown.id, best.id]


def test_an_ended_run_is_not_read_again_until_it_goes_on(tmp_path: Path) -> None:
    run = write_run(tmp_path, "stopped", steps=20)
    runs = listing(tmp_path)
    first = runs._summaries.of(run)
    assert runs._summaries.of(run) is first
    with (run.dir / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": 1e12, "event": "state", "state": "finished"}) + "\n")
    assert runs._summaries.of(run).status == "finished"


def test_several_runs_are_deleted_after_one_question(tmp_path: Path) -> None:
    made = [write_run(tmp_path, name=name) for name in ("one", "two", "three")]
    runs = listing(tmp_path)
    assert runs.tools._delete.disabled
    for run in made[:2]:
        runs._table.rows[run.id].selected = True
    assert runs.tools._delete.description == "Delete 2 selected ..."
    runs.tools._delete.click()
    question, keys = runs._deleting.box.children
    assert "Delete these 2 runs permanently" in question.value
    keys.children[1].click()
    assert runs._deleting.box.children == ()
    assert all(run.dir.exists() for run in made)
    runs.tools._delete.click()
    runs._deleting.box.children[1].children[0].click()
    until(lambda: "Deleted 2 runs: two, one." in runs.tools._report.value)
    assert [run.dir.exists() for run in made] == [False, False, True]
    assert shown(runs) == [made[2].id]
    assert runs.tools._delete.disabled


def test_a_run_that_is_not_in_sight_is_not_selected(tmp_path: Path) -> None:
    one, two = write_run(tmp_path, name="one"), write_run(tmp_path, name="two")
    runs = listing(tmp_path)
    runs._table._head.children[0].value = True
    assert runs.tools._delete.description == "Delete 2 selected ..."
    words(runs, "two")
    until(lambda: shown(runs) == [two.id])
    assert not runs._made[one.id].selected
    assert runs.tools._delete.description == "Delete 1 selected ..."


def test_a_run_that_cannot_be_read_is_listed_and_not_selected(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run.dir / "run.json").write_text("{")
    (row,) = listing(tmp_path)._table.rows.values()
    assert f"{run.id} cannot be read" in text_of(row)
    row.selected = True
    assert not row.selected
