"""The table of compared runs: their numbers, the comparison with a baseline, notes and advice."""

import json
import re
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.experiments.timed_runs import APART, ONE, TWO, timed_run, with_second_worker
from tests.widgets.folders import write_run
from workbench.charts import REPLICA_COLORS
from workbench.config import RunConfig
from workbench.experiments import curves_figure, speed_figure
from workbench.experiments.comparing.advice import recommend
from workbench.experiments.comparing.measures import measure
from workbench.experiments.comparing.table import (
    Group,
    group_runs,
    make_table,
    with_distinct_labels,
)
from workbench.experiments.comparing.wording import HEAD, cells
from workbench.plan.own_function import OwnFunction
from workbench.runs import Run, RunError
from workbench.runs.folder.files import json_text
from workbench.runs.processes.own_modules import HASHES
from workbench.runs.supervise.diagnosis import explain


def group(root: Path, label: str, config: object, *rates: float) -> Group:
    """Return a group with one run for each rate, one round for each run."""
    runs = tuple(timed_run(root, config, rate) for rate in rates)
    return Group(label, runs, rounds=tuple(range(len(rates))))


def test_a_run_is_measured_without_its_first_call(tmp_path: Path) -> None:
    measures = measure(timed_run(tmp_path, ONE, 6400.0))
    assert measures.examples_per_second == pytest.approx(6400.0)
    assert measures.step_seconds_median == pytest.approx(0.01)
    assert measures.step_seconds_p95 == pytest.approx(0.01)
    assert measures.peak_host_bytes == 100 * 2**20
    assert measures.test_accuracy == 0.9
    # The target is reached by the second epoch's test: 200 steps of 10 ms, and a slow first call.
    assert measures.target_seconds(0.8) == pytest.approx(7.0)


def test_an_unknown_value_is_none(tmp_path: Path) -> None:
    measures = measure(timed_run(tmp_path, ONE, 6400.0, peak_mib=None))
    assert measures.peak_host_bytes is None
    assert measures.target_seconds(0.95) is None


def test_the_measures_of_an_ended_run_are_kept_until_it_goes_on(tmp_path: Path) -> None:
    run = timed_run(tmp_path, ONE, 6400.0)
    measures = measure(run)
    (run.dir / "worker-0" / "0000-000000000000.calls").unlink()
    assert measure(run) == measures
    with (run.dir / "events.jsonl").open("a") as file:
        file.write('{"time": 1, "event": "state", "state": "finished"}\n')
    assert measure(run).examples_per_second is None
    living = timed_run(tmp_path, ONE, 6400.0, "running")
    measure(living)
    assert not (living.dir / "measures.json").exists()


def test_speed_up_and_efficiency_compare_with_the_baseline(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        group(tmp_path, "two", TWO, 1500.0, 1520.0, 1480.0),
    ]
    one, two = make_table(groups).rows
    assert (one.speed_up, one.speed_up_interval) == (1.0, None)
    assert two.speed_up == pytest.approx(1.5, rel=1e-3)
    assert two.scaling_efficiency == pytest.approx(0.75, rel=1e-3)
    assert two.differs
    assert two.max_loss_difference == pytest.approx(0.0, abs=1e-6)
    assert make_table(groups, baseline=1).rows[0].speed_up == pytest.approx(1 / 1.5, rel=1e-3)


def test_rounds_in_turn_cancel_changes_of_the_machine(tmp_path: Path) -> None:
    slow, fast = (1000.0, 500.0, 2000.0), (1100.0, 551.0, 2199.0)
    groups = [group(tmp_path, "slow", ONE, *slow), group(tmp_path, "fast", TWO, *fast)]
    assert make_table(groups).rows[1].differs
    alone = [replace(each, rounds=()) for each in groups]
    assert make_table(alone).rows[1].differs is False


def test_speed_up_and_efficiency_compare_the_same_rounds(tmp_path: Path) -> None:
    one = group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0, 100.0)
    two = group(tmp_path, "two", TWO, 1500.0, 1515.0, 1485.0)
    row = make_table([one, two]).rows[1]
    assert row.speed_up == pytest.approx(1.5)
    assert row.scaling_efficiency == pytest.approx(0.75)


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
    path = run.dir / "plan.json"
    own = {"data": f"{data.module or 'folder/mine.py'}:{data.function}", "own_data": asdict(data)}
    path.write_text(json_text({**json.loads(path.read_text()), **own}))
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


def test_losses_have_three_digits(tmp_path: Path) -> None:
    row = make_table([group(tmp_path, "one", ONE, 1000.0)]).rows[0]
    shown = dict(zip(HEAD, cells(row, is_baseline=True), strict=True))
    assert (shown["Loss"], shown["Test loss"]) == ("1.00", "1.25")
    values = (0.12345, 0.0999996, 123.4, 12345.0, 0.00001234, 0.0, None)
    losses = [cells(replace(row, loss=value), is_baseline=True) for value in values]
    assert [each[HEAD.index("Loss")] for each in losses] == [
        *("0.123", "0.100", "123", "12,300", "1.23e-05", "0", ""),
    ]


def test_equal_scripts_make_one_group(tmp_path: Path) -> None:
    runs = [timed_run(tmp_path, config, 1000.0) for config in (ONE, TWO, ONE, replace(ONE, seed=1))]
    assert [len(each.runs) for each in group_runs(runs)] == [2, 1, 1]


def test_all_rows_with_runs_have_different_labels(tmp_path: Path) -> None:
    runs = [timed_run(tmp_path, config, 1000.0) for config in (ONE, replace(ONE, seed=1))]
    first, second = (each.label for each in group_runs(runs))
    assert second == f"{first} ({runs[1].id})"
    nothing = Group(first, reason="no TPU here")
    groups = with_distinct_labels([nothing, nothing, group_runs(runs[1:])[0]])
    assert [each.label for each in groups] == [first, first, f"{first} ({runs[1].id})"]


def test_the_table_becomes_a_frame_and_figures(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        Group("tpu", reason="no TPU here"),
        group(tmp_path, "two", TWO, 1500.0),
    ]
    table = make_table(groups)
    frame = table.frame()
    assert frame.index.tolist() == ["one", "tpu", "two"]
    assert (
        frame.loc["one", "examples_per_second_low"]
        < 1000
        < frame.loc["one"]["examples_per_second_high"]
    )
    assert frame["speed_up"].isna().tolist() == [False, True, False]
    (bars,) = speed_figure(table).data
    assert list(bars.y) == ["one", "two"]
    assert list(bars.error_x.array)[1] == 0
    lines = curves_figure(groups, "rate", "examples").data
    assert [line.name for line in lines] == ["one", "two"]
    assert lines[0].x[-1] == 200 * 64


def test_workers_that_do_not_step_together_have_a_line_each_in_the_colour_of_their_run(
    tmp_path: Path,
) -> None:
    apart = with_second_worker(timed_run(tmp_path, APART, 3000.0), loss=2.0)
    groups = [group(tmp_path, "one", ONE, 1000.0), Group("apart", (apart,))]
    one, *workers = curves_figure(groups).data
    assert [line.name for line in (one, *workers)] == ["one", "apart, worker 0", "apart, worker 1"]
    assert [set(line.y) for line in (one, *workers)] == [{1.0}, {1.0}, {2.0}]
    assert {line.line.color for line in workers} == {REPLICA_COLORS[1]}
    assert {line.legendgroup for line in workers} == {"apart"}


def test_a_baseline_that_is_not_a_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="from 0 to 0; received 3"):
        make_table([group(tmp_path, "one", ONE, 1000.0)], baseline=3)


def test_without_trained_runs_there_is_no_recommendation() -> None:
    table = make_table([Group("tpu", reason="no TPU here")])
    assert (table.baseline, table.rows[0].notes) == (None, ("no TPU here",))
    assert recommend([Group("tpu", reason="no TPU here")]).group is None


def out_of_memory(root: Path, config: RunConfig) -> Run:
    """Return a run that failed because its device had too little memory."""
    run = timed_run(root, config, 1000.0, "failed")
    log = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating"
    failed = {"event": "state", "state": "failed", "log": log, **explain(1, [], log, "python")}
    with (run.dir / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": time.time(), **failed}) + "\n")
    return run


def test_if_all_runs_failed_the_causes_and_the_remedy_stand_instead_of_a_recommendation(
    tmp_path: Path,
) -> None:
    groups = [Group("one", (out_of_memory(tmp_path, ONE),)),
              Group("two", (out_of_memory(tmp_path, TWO),)),
              Group("tpu", reason="no TPU here. Choose another.")]  # fmt: skip
    advice = recommend(groups)
    assert advice.group is None
    assert advice.sentence == (
        "No candidate has a speed, so there is no recommendation. one, two: "
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating (exit "
        "status 1). tpu: no TPU here. Choose another. Make the batch or the model smaller, or end "
        "other programs that use the device's memory."
    )


def test_if_the_budget_is_smaller_than_one_run_that_stands_instead_of_a_recommendation(
    tmp_path: Path,
) -> None:
    stopped = timed_run(tmp_path, ONE, 1000.0, "stopped")
    groups = [
        Group("one", (stopped,), "its run was stopped when the budget was spent"),
        Group("two", reason="the budget of 2 s is spent"),
    ]
    assert recommend(groups).sentence == (
        "No candidate has a speed, so there is no recommendation. one: its run was stopped when "
        "the budget was spent. two: the budget of 2 s is spent."
    )


def test_a_stopped_run_and_a_short_run_are_told_apart(tmp_path: Path) -> None:
    stopped = timed_run(tmp_path, ONE, 1000.0, "stopped")
    short = write_run(tmp_path, steps=10)
    sentence = recommend([Group("one", (stopped,)), Group("short", (short,))]).sentence
    assert "one: its run was stopped. short: its run had too few steps for a steady speed." in (
        sentence
    )


def test_a_candidate_that_waits_may_have_a_speed_later(tmp_path: Path) -> None:
    groups = [Group("one", (out_of_memory(tmp_path, ONE),)), Group("two")]
    expected = "No candidate has a speed yet, so there is no recommendation."
    assert recommend(groups).sentence == expected


def test_a_significantly_fastest_group_is_recommended(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        group(tmp_path, "two", TWO, 1500.0, 1520.0, 1480.0),
    ]
    advice = recommend(groups)
    assert advice.group == 1
    assert advice.sentence.startswith("Use two: it is the fastest; one has 67% (95 %: ")


def test_the_simplest_group_is_recommended_if_speeds_do_not_differ(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "two", TWO, 1010.0, 1030.0, 1000.0),
        group(tmp_path, "one", ONE, 1000.0, 1040.0, 980.0),
    ]
    advice = recommend(groups)
    assert advice.group == 1
    assert "two is not significantly faster, and this one is simpler; it has 99% (95 %: 9" in (
        advice.sentence
    )


def test_asynchronous_workers_are_not_recommended(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        group(tmp_path, "apart", APART, 3000.0, 3010.0, 2990.0),
    ]
    advice = recommend(groups)
    assert advice.group == 0
    assert "apart does 3,000 examples per second, but its workers do not wait" in advice.sentence
