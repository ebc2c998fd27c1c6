"""The verdict on each run of a report, and the comparison of several runs in it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.timed_runs import APART, ONE, TWO, timed_run, with_second_worker
from tests.verdict import verdicts
from tests.widgets.folders import write_run
from workbench.experiments import Group, make_table, recommend
from workbench.report import Compared, write_comparison, write_report
from workbench.runs import Run, RunError
from workbench.runs.folder.files import json_text
from workbench.verdict.several import judge_each, without_verdict


def page_of(*runs: Run) -> str:
    return write_report(runs, runs[0].dir.parent / "report.html").read_text()


def judged(root: Path, parts: dict[str, float], recorded_seconds: float | None = None) -> Run:
    """Return a run with a kept verdict on a step with these parts, in seconds."""
    run = verdicts.timed_run(root)
    found = verdicts.verdict_on(run, parts, recorded_seconds)
    (run.dir / "verdict.json").write_text(json_text(found.to_json()))
    return run


def test_a_measured_step_is_shown_with_its_parts_and_the_suggestion(tmp_path: Path) -> None:
    page = page_of(judged(tmp_path, {"host": 1e-3}))
    assert "<h4>Verdict</h4><p><strong>" in page
    assert "Try steps_per_call empty. " in page
    assert re.search(r"<h4>A step takes 2\.\d+ ms \[.*?\], measured in 15 rounds</h4>", page)
    assert re.search(r"host [\d.]+ (m|µ)s \(\d\d\.\d%\)</li>", page)
    assert '<th scope="row">of which fixed</th>' in page


def test_a_measurement_that_does_not_match_the_run_has_no_bold_answer_and_no_suggestion(
    tmp_path: Path,
) -> None:
    run = judged(tmp_path, {"host": 1e-3}, 9e-3)
    (found,) = re.findall(r"<h4>Verdict</h4>(.*?)</p>", page_of(run))
    assert found.startswith('<p class="warning">No verdict: ')
    assert "took 9 ms per step while it trained, and 2.01 ms per step now" in found
    assert f"Type: workbench why {run.dir} --seconds 20" in found
    assert not {"<strong>", "Try "} & set(re.findall("<strong>|Try ", found))


def test_the_slowest_worker_is_named(tmp_path: Path) -> None:
    config = replace(verdicts.CHATTY, strategy="multi_worker_mirrored", workers=2)
    run = verdicts.timed_run(tmp_path, config)
    found = verdicts.verdict_on(run, {"waiting": 1e-3})
    (run.dir / "verdict.json").write_text(json_text(found.to_json()))
    assert re.search(r"worker-1 alone: .* per step, the slowest", page_of(run))


def test_a_step_that_was_not_measured_is_said_to_be_unknown(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    assert f"were not measured. To measure them, click Find out under Why is it slow?, or type: " \
           f"workbench why {run.dir}" in page_of(run)  # fmt: skip
    empty = write_run(tmp_path / "empty", steps=0, state="failed")
    assert "It has recorded no step." in page_of(empty)


def test_a_damaged_verdict_is_reported_in_its_place(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run.dir / "verdict.json").write_text("{}")
    assert "Measure again; that replaces the file." in page_of(run)


def test_workers_that_do_not_wait_for_each_other_have_their_own_pace(tmp_path: Path) -> None:
    run = with_second_worker(timed_run(tmp_path, APART, 3000.0), loss=2.0)
    needs = r"worker-0 has recorded \d+ calls after its first, and its speed"
    needs += " can only be told from 6"
    assert re.search(needs, page_of(run))


def test_several_runs_are_compared_with_intervals_and_significance(tmp_path: Path) -> None:
    rates = ((ONE, 1000.0), (ONE, 1010.0), (ONE, 990.0), (TWO, 1005.0), (TWO, 1015.0), (TWO, 985.0))
    page = page_of(*(timed_run(tmp_path, config, rate) for config, rate in rates))
    assert "<h2>Comparison</h2><p>Use " in page
    assert "<td>1,000 (975 to 1,025)</td><td>baseline</td>" in page
    assert "no significant difference</td>" in page
    other = replace(ONE, synthetic_examples=20_000)
    runs = [timed_run(tmp_path / "other", config, 1000.0) for config in (ONE, other)]
    assert "data differs among these runs (synthetic with 10,000 examples" in page_of(*runs)


def test_the_page_of_a_comparison_has_its_rows_and_the_first_run_of_each(tmp_path: Path) -> None:
    ones = tuple(timed_run(tmp_path, ONE, rate) for rate in (1000.0, 1010.0, 990.0))
    groups = [Group("one", ones), Group("tpu", reason="no TPU here")]
    found = Compared(groups, make_table(groups), recommend(groups))
    page = write_comparison(found, tmp_path / "page.html").read_text()
    assert "<title>Comparison of strategies</title>" in page
    assert page.count("<h2>Comparison</h2>") == 1
    assert "no TPU here" in page
    assert "All other parts of this page show the first run of each row." in page
    assert page.count("<article") == 1
    nothing = Compared(groups[1:], make_table(groups[1:]), recommend(groups[1:]))
    with pytest.raises(RunError, match=r"There is no run to report\. Name a run"):
        write_comparison(nothing, tmp_path / "none.html")


def test_only_ended_runs_with_steps_and_without_a_verdict_are_timed(tmp_path: Path) -> None:
    has = judged(tmp_path, {})
    apart, empty = timed_run(tmp_path, APART, 3000.0), write_run(tmp_path, steps=0)
    damaged = write_run(tmp_path)
    (damaged.dir / "verdict.json").write_text("{}")
    differs = judged(tmp_path, {}, 9e-3)
    assert without_verdict([has, apart, empty, damaged, differs]) == [damaged, differs]
    assert judge_each([has, apart, empty]) == {}
