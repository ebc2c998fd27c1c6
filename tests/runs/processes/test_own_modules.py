"""A file is imported from its folder, or from its copy after a change; a module as it is now."""

import json
from pathlib import Path

import pytest

from tests.runs.run_folders import Runs, event_of, replan
from tests.waiting import LIMIT_SECONDS
from tests.widgets.folders import write_run
from workbench.cli.watching import show
from workbench.feed import parts_of, row_of
from workbench.plan.plan import OwnFunction
from workbench.runs import Run
from workbench.runs.folder.files import json_text, read_json, write_text
from workbench.runs.processes.own_modules import HASHES, keep_files

OWN = OwnFunction("build_model", "of_mine.models", None)
LIFTED = OwnFunction("load", None, "def load(): ...")
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
    made = replan(runs.make(FAILS), own_model=OWN, own_data=LIFTED)
    card = read_json(made.dir / "run.json") | {"working_dir": str(source.parents[1])}
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
    assert parts_of(run, run.summary)["progress"]["note"] == run.progress.changed
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


SAYS = "import mine\n\nraise SystemExit(f'{mine.WORD} of {mine.__file__}')\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "models" / "mine.py"
    path.parent.mkdir()
    path.with_name("beside.py").write_text("WORD = 'first'\n")
    path.write_text("from beside import WORD\n")
    return path


@pytest.fixture
def of_file(runs: Runs, file: Path) -> Run:
    """A run that imports a file, fails, and says what it imported."""
    own = OwnFunction("f", "mine", file.read_text(), str(file.parent))
    made = replan(runs.make(SAYS), own_model=own)
    keep_files(made.plan, made.dir)
    return attempt(made)


def said(run: Run) -> str:
    assert run.failure is not None
    return run.failure.cause


def test_a_file_is_imported_from_its_own_folder_where_its_siblings_are(
    of_file: Run, file: Path
) -> None:
    assert f"first of {file}" in said(of_file)
    assert of_file.progress.changed == ""


@pytest.mark.parametrize("change", ["edited", "gone"])
def test_a_changed_file_is_replaced_by_its_copy_until_it_is_back(
    change: str, of_file: Run, file: Path
) -> None:
    before = file.read_text()
    if change == "edited":
        file.write_text("WORD = 'second'\n")
    else:
        file.unlink()
    again = attempt(of_file)
    assert f"first of {of_file.dir / 'own_code' / 'mine.py'}" in said(again)
    assert again.progress.changed == (
        f"{file} has changed or is gone since the run began; the run trains with its copy in "
        "own_code. To train with the new file, start a new run."
    )
    file.write_text(before)
    assert f"first of {file}" in said(attempt(again))
    assert again.progress.changed == ""
