"""One run has one speed, one duration, and one loss and accuracy at its end, in all places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forked import LOG_LEVEL, share
from tests.runs.run_folders import Runs
from workbench import units
from workbench.cli.watching import show
from workbench.experiments.comparing.measures import measure
from workbench.experiments.scaling import speeds_of
from workbench.exports import export_runs
from workbench.feed import parts_of, row_of
from workbench.report import write_report
from workbench.runs import Run
from workbench.runs.folder.locks import state_dir
from workbench.runs.records.arrays import Shape, read_tasks
from workbench.runs.records.speed import steady_rate
from workbench.verdict.recorded import read_recorded
from workbench.widgets.run.plain_view import head


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A real run of two epochs in calls of four steps, so that most calls end no epoch."""
    root = tmp_path_factory.mktemp("one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_STATE", str(root / "state"))
        for name, value in LOG_LEVEL.items():
            patch.setenv(name, value)
        share(state_dir())
        runs = Runs(root / "runs")
        fields = {"strategy": "one_device", "workers": None, "rendezvous_seconds": None}
        yield runs.train(**fields, epochs=2, steps_per_epoch=40, steps_per_call=4)
        runs.end_all()


@pytest.fixture(scope="module")
def rate(run: Run) -> float:
    """The speed in the steady state, from the run's records."""
    found = steady_rate(read_tasks(run.dir, Shape.of(run.plan)))
    assert found is not None
    return found


def test_every_reader_gives_the_same_speed(run: Run, rate: float) -> None:
    parts = parts_of(run, run.summary)
    speeds = {
        "run --json": run.result()["examples_per_second"],
        "list in a notebook": run.summary.examples_per_second,
        "list in JupyterLab": row_of(run)["results"]["examples_per_second"],
        "run view": parts["results"]["examplesPerSecond"],
        "compare": measure(run).examples_per_second,
        "scale": next(iter(speeds_of(run, [run]).values()))[1],
        "why": read_recorded(run).examples_per_second,
    }
    assert speeds == dict.fromkeys(speeds, rate)


def test_every_text_shows_the_same_speed(run: Run, rate: float, tmp_path: Path) -> None:
    shown = f"{units.number(rate)} examples per second"
    assert f"{shown}, {units.STEADY}" in show(run)
    assert shown in head(run.summary)
    page = write_report([run], tmp_path / "report.html").read_text()
    assert f"<dd>{units.number(rate)}</dd>" in page
    assert units.STEADY in page
    board = export_runs([run], "tensorboard", tmp_path / "board")
    files = [path.read_bytes() for path in board.rglob("*.workbench")]
    assert sum(f'"examples_per_second": {rate}'.encode() in each for each in files) == 1


def test_every_place_has_the_same_results(run: Run) -> None:
    result, events = run.result(), run.events()
    names = ("loss", "accuracy", "test_loss", "test_accuracy")
    results = {name: result[name] for name in names}
    last = [event for event in events if event["event"] == "epoch"][-1]
    assert results == {name: last[name] for name in names}
    row = row_of(run)["results"]
    assert {name: row[name] for name in names} == results
    measures = measure(run)
    assert {name: getattr(measures, name) for name in names} == results
    assert run.summary.results == results
    sent = parts_of(run, run.summary)["results"]
    assert [sent["loss"], sent["accuracy"], sent["testAccuracy"]] == [
        *(results["loss"], results["accuracy"], results["test_accuracy"])
    ]
    epochs = run.epochs().iloc[-1]
    assert [epochs[name] for name in names] == pytest.approx(list(results.values()), rel=1e-5)


def test_every_place_has_the_same_duration(run: Run, tmp_path: Path) -> None:
    seconds = run.ledger.seconds
    assert seconds is not None
    assert run.summary.seconds == run.totals.seconds == seconds
    parts = parts_of(run, run.summary)
    assert parts["results"]["seconds"] == parts["ledger"]["seconds"] == seconds
    assert sum(value for _, value in parts["ledger"]["whole"]) == pytest.approx(seconds)
    assert f"duration    {units.duration(seconds)}: " in show(run)
    page = write_report([run], tmp_path / "report.html").read_text()
    assert f"The whole run: {units.duration(seconds)}" in page
    assert f"<dd>{units.duration(seconds)}</dd>" in page
