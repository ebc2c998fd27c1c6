"""`workbench export` as a user types it."""

from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, last_json
from tests.widgets.folders import write_run


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def test_runs_are_written_and_the_path_is_printed(terminal: Terminal) -> None:
    one, other = (write_run(terminal.runs) for _ in range(2))
    done = terminal.type("export", one.id, "--format", "csv")
    assert done.returncode == 0
    assert done.stdout == f"Wrote {terminal.folder / one.id}-csv.\n"
    done = terminal.type("export", one.id, other.dir, "--format", "csv", "-o", "two", "--json")
    result = {"runs": [one.id, other.id], "format": "csv", "path": str(terminal.folder / "two")}
    assert last_json(done) == result
    assert (terminal.folder / "two" / "steps" / f"{other.id}.csv").is_file()


def test_an_impossible_export_is_reported_and_exits_with_one(terminal: Terminal) -> None:
    run = write_run(terminal.runs)
    (terminal.folder / "there").touch()
    done = terminal.type("export", run.id, "--format", "csv", "-o", "there")
    assert done.returncode == 1
    assert "An export never overwrites" in done.stderr
    done = terminal.type("export", "nonesuch", "--format", "csv")
    assert done.returncode == 1
    assert "No run 'nonesuch'" in done.stderr
    done = terminal.type("export", run.id, "--format", "cvs")
    assert done.returncode == 2
    assert "Did you mean csv?" in done.stderr
