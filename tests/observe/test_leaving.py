"""The end of a script's process: its exit status, threads and handlers, and its open pipelines."""

import subprocess
from pathlib import Path

import pytest

from tests.forked import run_program

pytestmark = pytest.mark.slow

SCRIPT = """
import atexit, os, threading
from workbench.observe.process import leave_with

class Pipeline:
    def __del__(self):
        os.write(1, b"closed ")

def main():
{body}

leave_with(main)
"""


def ended(body: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script whose `main` has this body."""
    script = folder / "script.py"
    script.write_text(SCRIPT.format(body=body))
    return run_program([script], check=False)


@pytest.mark.parametrize(
    ("body", "status", "errors"),
    [
        ("    pass", 0, ""),
        ("    raise SystemExit", 0, ""),
        ("    raise SystemExit(3)", 3, ""),
        ("    raise SystemExit('Needs a file.')", 1, "Needs a file.\n"),
    ],
)
def test_the_exit_status_is_that_of_python(
    body: str, status: int, errors: str, tmp_path: Path
) -> None:
    done = ended(body, tmp_path)
    assert (done.returncode, done.stderr) == (status, errors)


@pytest.mark.parametrize(("error", "status"), [("ValueError", 1), ("KeyboardInterrupt", 130)])
def test_an_error_is_printed_with_its_trace(error: str, status: int, tmp_path: Path) -> None:
    done = ended(f"    raise {error}('broken')", tmp_path)
    assert done.returncode == status
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith(f"in main\n    raise {error}('broken')\n{error}: broken\n")


def test_threads_and_exit_handlers_end_first(tmp_path: Path) -> None:
    body = """
    atexit.register(print, "handler", end="")
    main_thread = threading.current_thread()
    threading.Thread(target=lambda: (main_thread.join(), print("thread", end=" "))).start()
"""
    assert ended(body, tmp_path).stdout == "thread handler"


def test_pipelines_of_modules_are_not_closed(tmp_path: Path) -> None:
    body = """
    os.held = Pipeline()
    not_held = Pipeline()
"""
    assert ended(body, tmp_path).stdout == "closed "
