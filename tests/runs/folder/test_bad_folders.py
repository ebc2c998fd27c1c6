"""Bad folders among the runs: each is one row with the reason, and the other runs are shown."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.runs.run_folders import Runs
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from workbench.cli.watching import table
from workbench.feed import row_of
from workbench.runs import Run, RunError, list_runs, open_run, restore_run
from workbench.runs.folder.card import read_card
from workbench.runs.records.live import LiveRun


def put(name: str, text: str | bytes) -> Callable[[Path], object]:
    """Return a function that replaces the content of a file."""
    content = text.encode() if isinstance(text, str) else text
    return lambda folder: (folder / name).write_bytes(content)


def change(name: str, **values: object) -> Callable[[Path], object]:
    def changed(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))

    return changed


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "torn card": (put("run.json", '{"id": "x'), "run.json"),
    "card of text": (put("run.json", "[]"), "holds a list instead of a JSON object"),
    "no number as time": (change("run.json", created="yesterday"), "has 'yesterday'"),
    "a time beyond all years": (change("run.json", created=1e300), "has 1e+300"),
    "empty plan": (put("plan.json", "{}"), "lacks fields of a plan: config, strategy"),
    "torn plan": (put("plan.json", "{"), "plan.json cannot be read: "),
    "plan with text for a number": (change("plan.json", epochs="three"), "has 'three' as epochs"),
    "plan without steps": (change("plan.json", steps_per_epoch=0), "has 0 as steps_per_epoch"),
    "tasks by number": (change("plan.json", tasks=7), "plan.json has 7 as tasks"),
    "a task that is a path": (
        change("plan.json", tasks=["/etc"]),
        "plan.json has ['/etc'] as tasks",
    ),
    "a task above the run": (change("plan.json", tasks=["../worker-0"]), "has ['../worker-0']"),
    "plan with a field more": (change("plan.json", a_field_of_later=1), ""),
    "events of bytes": (put("worker-0/events.jsonl", bytes(range(256))), ""),
    "random calls": (
        put("worker-0/calls.f8", np.random.default_rng(0).bytes(1600)),
        "",
    ),
}
"""The damage to a run's folder, and a part of its row's error; empty if the run is shown."""


@pytest.fixture
def good(tmp_path: Path) -> Run:
    return write_run(tmp_path, name="the good one")


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that every user may open; other users may not open pytest's folders."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_folder_is_one_row_and_the_other_runs_are_shown(
    name: str, good: Run, tmp_path: Path
) -> None:
    damage, why = BAD[name]
    bad = write_run(tmp_path)
    damage(bad.dir)
    rows = {row["id"]: row for row in map(row_of, list_runs(tmp_path))}
    assert list(rows.keys() - {good.id}) == [bad.id]
    assert rows[good.id]["status"] == "finished"
    assert rows[bad.id]["status"] == ("unreadable" if why else "finished")
    assert why in rows[bad.id]["error"]
    lines = table(list_runs(tmp_path)).splitlines()
    assert len(lines) == 3
    assert any("the good one" in line for line in lines)
    assert any(bad.id in line and why in line for line in lines)


def test_a_plan_of_a_later_release_is_one_row_and_one_line(good: Run, tmp_path: Path) -> None:
    change("plan.json", own_model={"a_field_of_later": 1})(good.dir)
    (row,) = map(row_of, list_runs(tmp_path))
    assert row["status"] == "unreadable"
    assert "Open the run with the release that wrote it" in row["error"]
    _, line = table(list_runs(tmp_path)).splitlines()
    assert "lacks fields of own_model: function, module" in line


@pytest.mark.parametrize("plan", ["{", '{"a_field_of_later": 1}'])
def test_a_lost_run_whose_plan_cannot_be_read_can_be_deleted(plan: str, tmp_path: Path) -> None:
    run = write_run(tmp_path, "running")
    (run.dir / "plan.json").write_text(plan)
    assert run.status == "lost"
    run.delete()
    assert not run.dir.exists()


def test_the_folder_of_another_user_is_a_row(open_to_all: Path) -> None:
    write_run(open_to_all)
    theirs = write_run(open_to_all)
    theirs.dir.chmod(0o000)
    code = (
        "import os; from workbench.runs import list_runs; from workbench.feed import row_of; "
        f"rows = lambda: [row_of(run)['error'] for run in list_runs({str(open_to_all)!r})]; "
        "rows()  # all modules are imported\n"
        "os.geteuid() or os.seteuid(65534)  # the superuser may read everything\n"
        "print(rows())"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    theirs.dir.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Permission denied. Give yourself permission to read it.") == 1
    assert done.stdout.count("''") == 1


def test_a_call_far_beyond_the_run_is_not_part_of_its_records(good: Run) -> None:
    before = good.steps(), good.epochs(), good.result(), good.progress
    with (good.dir / "worker-0" / "calls.f8").open("ab") as file:
        file.write(np.array([999_999_999_999, 3, 1000.0, 0.1], "<f8").tobytes())
    assert good.steps().equals(before[0])
    assert good.epochs().equals(before[1])
    assert (good.result(), good.progress) == before[2:]
    assert good.missing == []
    live = LiveRun(good.dir, good.plan)
    live.poll()
    assert live.points().step[-1] == good.progress.total_steps


def test_a_damaged_calls_file_makes_times_unknown_but_not_losses(good: Run) -> None:
    losses = good.steps()["loss"]
    put("worker-0/calls.f8", np.random.default_rng(0).bytes(3200))(good.dir)
    assert good.steps()["loss"].equals(losses)
    assert good.replica_steps(["call_seconds"])["call_seconds"].isna().all()
    assert good.result()["examples_per_second"] is None
    live = LiveRun(good.dir, good.plan)
    live.poll()
    live.poll()
    assert live.points().step[-1] == len(losses)
    assert np.isnan(live.points().rate.joined).all()


def test_a_copied_folder_is_a_run_of_its_own(good: Run, tmp_path: Path) -> None:
    folder = shutil.copytree(good.dir, tmp_path / "a copy")
    copy = open_run("a copy", tmp_path)
    assert (copy.id, read_card(folder).made_as, copy.dir) == ("a copy", good.id, folder)
    assert {run.id for run in list_runs(tmp_path)} == {"a copy", good.id}
    open_run("a copy", tmp_path).delete()
    assert not folder.exists()
    assert good.dir.is_dir()
    another = shutil.copytree(good.dir, tmp_path / "another")
    with pytest.raises(RunError, match="exists already"):
        restore_run(another, tmp_path)


def test_a_living_run_in_a_renamed_folder_is_alive_and_not_deleted(runs: Runs) -> None:
    run = runs.start(pauses={"20": "go"})
    until(lambda: run.progress.step == 20 and run.status == "running")
    renamed = Run(run.dir.rename(runs.root / "another name"))
    assert (renamed.id, renamed.status) == ("another name", "running")
    with pytest.raises(RunError, match="cannot be deleted, because it is not over"):
        renamed.delete()
    copy = Run(shutil.copytree(renamed.dir, run.dir.with_name("a copy")))
    assert (renamed.status, copy.status) == ("running", "lost")
    renamed.dir.rename(run.dir)
    assert (run.status, copy.status) == ("running", "lost")
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert Run(run.dir.rename(runs.root / "another name")).status == "finished"


def test_a_link_to_a_run_is_not_deleted(good: Run, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(good.dir)
    with pytest.raises(RunError, match=f"is a link to {good.dir}"):
        Run(link).delete()
    assert (link.is_symlink(), good.status) == (True, "finished")


def test_a_name_with_escapes_and_line_breaks_is_one_line_in_a_terminal(tmp_path: Path) -> None:
    write_run(tmp_path, name="\x1b[2Jmine\n20991231-000000-ffff  2099-12-31  finished\r")
    *_, line = lines = table(list_runs(tmp_path)).splitlines()
    assert len(lines) == 2
    assert line.isprintable()
    assert "[2Jmine 20991231" in line
