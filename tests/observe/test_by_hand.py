"""Scripts that are started by hand: what the observer does for them in place of a supervisor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.forked import run_code
from tests.observe.observing import OBSERVER, events, observe
from workbench.runs.folder.files import sha256

WITHOUT_LOCKS = """
import errno, fcntl, runpy, sys

def refuse(*_):
    raise OSError(errno.ENOLCK, "No locks available")

fcntl.flock = refuse
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
FAILS, ENDS = "raise ValueError('a fault')\n", "import sys\n\nsys.exit('No data.')\n"


def states(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (FAILS, "ValueError: a fault"),
        (ENDS, "No data."),
        ("raise SystemExit(3)\n", "The script ended with exit status 3."),
        ("raise KeyboardInterrupt\n", "It was ended at its terminal."),
    ],
    ids=["error", "exit with words", "exit", "Ctrl-C"],
)
def test_a_failure_is_kept_with_its_cause(text: str, cause: str, tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    script.write_text(text)
    done = observe(script, folder, check=False)
    assert done.returncode != 0
    assert "process.py" not in done.stderr
    begun, failed = states(folder)
    assert (begun["state"], failed["state"]) == ("starting", "failed")
    assert (failed["task"], failed["cause"]) == ("worker-0", cause)
    assert text.splitlines()[-1] in failed["log"]
    assert "process.py" not in failed["log"]
    assert [each["cause"] for each in events(folder, "failed")] == [cause]


def test_a_script_changed_between_two_starts_is_kept_anew(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    cards = []
    for text in ("print(1)\n", "print(2)\n"):
        script.write_text(text)
        observe(script, folder)
        assert (folder / "train.py").read_text() == text
        cards.append(json.loads((folder / "run.json").read_text()))
        assert cards[-1]["script_sha256"] == sha256(text)
    assert cards[0]["created"] == cards[1]["created"]
    assert [each["state"] for each in states(folder)] == ["starting", "finished"] * 2


def test_what_the_script_imports_from_its_folder_is_kept_and_renewed(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    script.write_text("import json\n\nfrom model import make\n")
    (tmp_path / "model.py").write_text("import layers.dense\nimport sizes\n\nmake = sizes.SIZE\n")
    (tmp_path / "sizes.py").write_text("SIZE = 1\n")
    (tmp_path / "layers").mkdir()
    (tmp_path / "layers" / "dense.py").touch()
    observe(script, folder)
    kept = {path.name: path.read_text() for path in (folder / "own_code").iterdir()}
    assert kept.keys() == {"model.py", "sizes.py"}
    (folder / "plan.json").touch()
    observe(script, folder)
    assert (folder / "plan.json").exists()
    (tmp_path / "sizes.py").write_text("SIZE = 2\n")
    observe(script, folder)
    assert (folder / "own_code" / "sizes.py").read_text() == "SIZE = 2\n"
    assert not (folder / "plan.json").exists()  # it was made from the earlier files


def test_a_run_that_the_workbench_started_is_refused(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    script.write_text("print(1)\n")
    folder.mkdir()
    (folder / "run.json").write_text('{"version": 1}')
    done = observe(script, folder, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        f"{folder} is a run that the workbench started. Name another folder as --run-dir, or "
        "resume it there.\n",
    )
    (folder / "run.json").write_text("{")
    assert "run.json is damaged" in observe(script, folder, check=False).stderr


FORKS = """
import os, sys, time

if os.fork() == 0:
    if "fails" in sys.argv:
        raise ValueError("in a process that was forked")
    if "lives" in sys.argv:
        os.close(1), os.close(2)
        time.sleep(600)
        os._exit(0)
elif "lives" not in sys.argv:
    os.wait()
    assert "finished" not in open(sys.argv[1] + "/events.jsonl").read()
"""


def test_a_process_that_the_script_forks_is_no_part_of_the_run(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    script.write_text(FORKS)
    for child in ("lives", "fails", "ends"):  # the first one lives on
        observe(script, folder, child)
        assert [each["state"] for each in states(folder)] == ["starting", "finished"]
        (folder / "events.jsonl").unlink()


def test_a_disk_without_locks_is_told_and_trains(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    script.write_text("print(1)\n")
    done = run_code(WITHOUT_LOCKS, OBSERVER, "--run-dir", folder, script)
    said = f"{folder / 'worker-0'} cannot be locked: No locks available. "
    said += "Lists may show this run as lost while it trains."
    assert done.stdout.splitlines() == [said, "1"]
    assert states(folder)[-1]["state"] == "finished"


def test_a_folder_of_another_script_is_refused_and_stays(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    script.write_text("print(1)\n")
    folder.mkdir()
    (folder / "train.py").write_text("print(2)\n")
    done = observe(script, folder, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"{folder} holds another script, train.py. Name another folder as --run-dir, or run that "
        "script.\n"
    )
    assert [path.name for path in folder.iterdir()] == ["train.py"]


@pytest.mark.parametrize("name", ["config.json", "own_code"])
def test_a_folder_with_a_persons_own_files_is_refused_and_they_stay(
    name: str, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text("print(1)\n")
    (tmp_path / name).mkdir()
    (tmp_path / "stop").touch()
    done = observe(script, tmp_path, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        f"{tmp_path} holds {name}, which is a name of a run's own file. Name another folder as "
        "--run-dir.\n",
    )
    assert {path.name for path in tmp_path.iterdir()} == {"train.py", name, "stop"}


def test_a_file_stop_of_an_earlier_start_stops_nothing(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    script.write_text("print(1)\n")
    observe(script, folder)
    (folder / "stop").touch()
    observe(script, folder)
    assert not (folder / "stop").exists()
    assert states(folder)[-1]["state"] == "finished"
