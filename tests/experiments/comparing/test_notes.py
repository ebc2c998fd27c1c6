"""The notes of a table: what makes its numbers hard to compare, and what is not counted."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.timed_runs import ONE, TWO, group, timed_run
from tests.runs.run_folders import replan
from workbench.experiments.comparing.rows import Group
from workbench.experiments.comparing.table import group_runs, make_table
from workbench.plan.plan import OwnFunction
from workbench.runs import Run
from workbench.runs.processes.own_modules import HASHES


def test_fewer_than_three_repeats_give_no_interval_but_a_note(tmp_path: Path) -> None:
    groups = [group(tmp_path, "one", ONE, 1000.0, 1010.0), group(tmp_path, "two", TWO, 1500.0)]
    table = make_table(groups)
    assert [row.examples_per_second_interval for row in table.rows] == [None, None]
    assert table.rows[1].differs is None
    assert "an interval needs 3 finished runs, there are 2" in table.rows[0].notes
    assert "an interval needs 3 finished runs, there is 1" in table.rows[1].notes


def test_failed_and_stopped_runs_are_noted_and_not_counted(tmp_path: Path) -> None:
    runs = tuple(
        timed_run(tmp_path, ONE, rate, state)
        for rate, state in ((1000.0, "finished"), (10.0, "failed"), (20.0, "stopped"))
    )
    (row,) = make_table([Group("one", runs)]).rows
    assert row.examples_per_second == pytest.approx(1000.0)
    assert {"1 of 3 stopped, not counted", "1 of 3 failed, not counted"} <= set(row.notes)


def test_different_data_and_seeds_are_noted(tmp_path: Path) -> None:
    other, images = replace(ONE, seed=7), replace(ONE, data="fashion_mnist")
    runs = [timed_run(tmp_path, config, 1000.0) for config in (ONE, other, images)]
    notes = " ".join(make_table(group_runs(runs)).notes)
    assert "data differs among these runs (fashion_mnist, synthetic with 10,000 exam" in notes
    assert "seed differs among these runs (42, 7)" in notes


@pytest.mark.parametrize(
    ("change", "one", "other"),
    [
        ({"synthetic_examples": 20_000}, "10,000 examples", "20,000 examples"),
        ({"synthetic_features": 20}, "of 10 features", "of 20 features"),
        ({"synthetic_noise": 0.5}, "noise 0.1", "noise 0.5"),
    ],
)
def test_the_size_of_synthetic_data_is_a_part_of_the_data(
    change: dict[str, float], one: str, other: str, tmp_path: Path
) -> None:
    runs = [timed_run(tmp_path, config, 1000.0) for config in (ONE, replace(ONE, **change))]
    (note,) = make_table(group_runs(runs)).notes
    assert note.startswith("data differs among these runs (synthetic with ")
    assert one in note
    assert other in note


def run_of_own_data(root: Path, data: OwnFunction, module_sha256: str = "") -> Run:
    """Return a run whose data comes from a function of the user."""
    run = timed_run(root, ONE, 1000.0)
    replan(run, data=f"{data.module or 'folder/mine.py'}:{data.function}", own_data=data)
    with (run.dir / "events.jsonl").open("a") as file:
        hashes = {HASHES: {data.module: module_sha256}} if module_sha256 else {}
        event = {"time": time.time(), "event": "state", "state": "finished"}
        file.write(json.dumps({**event, **hashes}) + "\n")
    return run


def test_own_data_is_compared_by_its_source_and_by_the_number_of_examples(tmp_path: Path) -> None:
    lifted = OwnFunction("load", None, "def load(): return 1\n")
    changed = replace(lifted, source="def load(): return 2\n")
    runs = [run_of_own_data(tmp_path, data) for data in (lifted, lifted, changed)]
    assert make_table([Group("one", tuple(runs[:2]))]).notes == ()
    (note,) = make_table([Group("one", tuple(runs))]).notes
    assert len(set(re.findall(r"mine\.py:load \(sha256 \w{8}\) with 10,000 examples", note))) == 2
    imported = OwnFunction("load", "mine", None)
    runs = [run_of_own_data(tmp_path, imported, digest * 64) for digest in "ab"]
    (note,) = make_table([Group("one", tuple(runs))]).notes
    assert "(mine:load (sha256 aaaaaaaa) with 10,000 examples, mine:load (sha256 bbbbbbbb)" in note


def test_different_rounding_is_noted(tmp_path: Path) -> None:
    coarse, compiled = replace(TWO, precision="mixed_bfloat16"), replace(TWO, xla=True)
    runs = [timed_run(tmp_path, config, 1000.0) for config in (TWO, coarse, compiled)]
    notes = " ".join(make_table(group_runs(runs)).notes)
    assert "precision differs among these runs (float32, mixed_bfloat16)" in notes
    assert "XLA differs among these runs (off, on): it rounds in another order" in notes


def test_a_target_that_was_never_reached_is_noted(tmp_path: Path) -> None:
    groups = [group(tmp_path, "one", ONE, 1000.0)]
    (row,) = make_table(groups, target_accuracy=0.99).rows
    assert row.target_seconds is None
    assert "99.0% was never reached" in row.notes


def reaching(root: Path, *reached: bool) -> Group:
    """Return runs of 7, 8, 9 ... seconds; those that reach 80 % do so at the end."""
    accuracies = {True: (0.7, 0.9), False: (0.6, 0.7)}
    rates = [6400.0 / (1 + at / 2) for at in range(len(reached))]
    return Group("one", tuple(timed_run(root, ONE, rate, test_accuracies=accuracies[each])
                              for rate, each in zip(rates, reached, strict=True)))  # fmt: skip


@pytest.mark.parametrize(
    ("reached", "seconds", "note"),
    [
        ((True, True, True), 8.0, None),
        ((True, True, False), 8.0, "80.0% was reached in 2 of 3 finished runs"),
        ((True, False, False), None, "80.0% was reached in 1 of 3 finished runs"),
        ((True, True, False, False), None, "80.0% was reached in 2 of 4 finished runs"),
        ((True, True, True, False), 8.5, "80.0% was reached in 3 of 4 finished runs"),
        ((False, False, False), None, "80.0% was never reached"),
    ],
)
def test_the_median_time_to_a_target_is_known_if_more_than_half_of_the_runs_reached_it(
    reached: tuple[bool, ...], seconds: float | None, note: str | None, tmp_path: Path
) -> None:
    (row,) = make_table([reaching(tmp_path, *reached)], target_accuracy=0.8).rows
    assert row.target_seconds == (seconds and pytest.approx(seconds))
    assert [each for each in row.notes if "reached" in each] == ([note] if note else [])
