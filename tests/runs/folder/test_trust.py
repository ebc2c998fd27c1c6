"""The runs that this machine started, in the form in which it started them."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.widgets.folders import write_run
from workbench.runs import Run
from workbench.runs.folder.state import home_of, take_lock
from workbench.runs.folder.trust import is_trusted, trust

Change = Callable[[Path], object]


def text(name: str) -> Change:
    def changed(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("a") as file:
            file.write(" ")

    return changed


def card(name: str) -> Change:
    def changed(folder: Path) -> None:
        values = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps({**values, name: "/elsewhere"}))

    return changed


CHANGES: dict[str, Change] = {
    **{name: card(name) for name in ("interpreter", "working_dir", "state_dir")},
    **{name: text(name) for name in ("train.py", "config.json", "plan.json", "devices.json")},
    **{name: text(name) for name in ("rehearsal/train.py", "rehearsal/plan.json")},
    **{name: text(name) for name in ("numpy.py", "numpy/__init__.py", "rehearsal/numpy.py")},
    **{name: text(name) for name in ("numpy.cpython-312.so", "numpy.pyc", "own_code/mine.py")},
    "own_code/numpy/__init__.py": text("own_code/numpy/__init__.py"),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    made = write_run(tmp_path / "runs", "stopped")
    trust(made.dir)
    return made


@pytest.mark.parametrize("name", CHANGES)
def test_a_run_is_not_trusted_after_a_change_of_what_a_resume_executes(name: str, run: Run) -> None:
    assert is_trusted(run.dir)
    CHANGES[name](run.dir)
    assert not is_trusted(run.dir)
    trust(run.dir)
    assert is_trusted(run.dir)


def test_a_run_is_trusted_while_it_trains_and_after_its_rehearsal(run: Run) -> None:
    for name in ("train.py", "plan.json"):
        text(f"rehearsal/{name}")(run.dir)
    trust(run.dir)
    for name in ("events.jsonl", "worker-0/events.jsonl", "supervisor.log"):
        text(name)(run.dir)
    card("name")(run.dir)
    assert is_trusted(run.dir)
    shutil.rmtree(run.dir / "rehearsal")
    assert is_trusted(run.dir)


def test_a_copy_of_a_trusted_run_is_not_trusted(run: Run) -> None:
    copied = shutil.copytree(run.dir, run.dir.with_name("copied"))
    assert not is_trusted(copied)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside of the runs; the state folder is another one."""
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def test_a_copy_that_names_a_folder_in_which_no_run_was_started_is_a_run_of_its_own(
    elsewhere: Path, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "runs", "running", 20)
    (run.dir / "archive.json").write_text(json.dumps({"run_dir": str(elsewhere)}))
    assert home_of(run.dir) == run.dir
    lock = take_lock(run.dir)
    assert lock is not None
    run.stop()
    os.close(lock)
    assert list(elsewhere.iterdir()) == []
    assert (run.dir / "stop").exists()
    original = write_run(tmp_path / "runs")
    trust(original.dir)
    (run.dir / "archive.json").write_text(json.dumps({"run_dir": str(original.dir)}))
    assert home_of(run.dir) == original.dir


def test_a_deletion_makes_no_file_in_a_state_folder_that_a_foreign_card_names(
    elsewhere: Path, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "runs")
    card = json.loads((run.dir / "run.json").read_text())
    (run.dir / "run.json").write_text(json.dumps({**card, "state_dir": str(elsewhere)}))
    run.delete()
    assert not run.dir.exists()
    assert list(elsewhere.iterdir()) == []
