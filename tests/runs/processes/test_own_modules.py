"""An imported module is reported if it changed between two attempts, and only then."""

import json
from pathlib import Path

import pytest

from tests.runs.run_folders import Runs, event_of
from tests.waiting import LIMIT_SECONDS
from tests.widgets.folders import write_run
from workbench.cli.watching import show
from workbench.feed.row import row_of
from workbench.feed.snapshot import RunSnapshot, snapshot_parts
from workbench.runs import Run
from workbench.runs.folder.files import json_text, read_json, write_text
from workbench.runs.processes.own_modules import HASHES

OWN = {"function": "build_model", "module": "of_mine.models", "source": None}
LIFTED = {"function": "load", "module": None, "source": "def load(): ..."}
FAILS = "raise SystemExit(3)\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "of_mine" / "models.py"
    path.parent.mkdir(parents=True)
    path.write_text("def build_model(): ...\n")
    return path


@pytest.fixture
def run(runs: Runs, source: Path) -> Run:
    """A run that fails in each attempt and imports a module of its working folder.

    Another function was lifted from a file.
    """
    made = runs.make(FAILS)
    plan = read_json(made.dir / "plan.json") | {"own_model": OWN, "own_data": LIFTED}
    card = read_json(made.dir / "run.json") | {"working_dir": str(source.parents[1])}
    write_text(made.dir / "plan.json", json_text(plan))
    write_text(made.dir / "run.json", json_text(card))
    return attempt(made)


def attempt(run: Run) -> Run:
    resumed = run.resume()
    assert resumed.wait(LIMIT_SECONDS) == "failed"
    return resumed


def test_each_attempt_notes_the_modules_that_it_imports(run: Run) -> None:
    assert list(event_of(run, "starting")[HASHES]) == ["of_mine.models"]
    assert run.progress.changed == ""


def test_an_unchanged_module_is_not_reported(run: Run) -> None:
    assert attempt(run).progress.changed == ""


def test_a_changed_module_is_reported_from_then_on(run: Run, source: Path) -> None:
    source.write_text("def build_model(): return 2\n")
    assert run.progress.changed == ""
    changes = attempt(run).progress.changed
    assert changes.startswith("The source of of_mine.models changed between two attempts; since ")
    assert changes.endswith(" the run trains with the new one.")
    assert attempt(run).progress.changed == changes


def test_a_change_is_reported_even_after_an_attempt_without_the_module(
    run: Run, source: Path
) -> None:
    kept = source.rename(source.with_suffix(".kept"))
    assert attempt(run).progress.changed == ""
    kept.rename(source)
    source.write_text("def build_model(): return 2\n")
    assert "of_mine.models changed" in attempt(run).progress.changed


def test_a_change_is_shown_by_command_line_and_feed(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    states = [
        {"state": "starting", HASHES: {"models": "a"}},
        {"state": "starting", HASHES: {"models": "b"}},
        {"state": "finished"},
    ]
    with (run.dir / "events.jsonl").open("a") as file:
        for number, state in enumerate(states):
            file.write(json.dumps({"time": 1e9 + number, "event": "state", **state}) + "\n")
    line = next(line for line in show(run).splitlines() if line.startswith("  changed "))
    assert line == f"  changed     {run.progress.changed}"
    assert snapshot_parts(RunSnapshot.at(run, run.plan))["progress"]["note"] == run.progress.changed
    assert row_of(run)["note"] == ""


def test_a_missing_module_is_left_out(run: Run, source: Path) -> None:
    source.unlink()
    assert attempt(run).progress.changed == ""
    assert HASHES not in event_of(run, "starting")


def test_a_relative_path_in_pythonpath_is_resolved_in_the_working_folder(
    run: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = event_of(run, "starting")[HASHES]
    source.parents[1].joinpath("src").mkdir()
    source.parent.rename(source.parents[1] / "src" / "of_mine")
    monkeypatch.setenv("PYTHONPATH", "src")
    assert event_of(attempt(run), "starting")[HASHES] == noted
