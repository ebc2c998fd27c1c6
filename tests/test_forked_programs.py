"""Programs of the tests end like a cold start of Python, forked or not."""

import subprocess
from pathlib import Path

import psutil
import pytest

from tests.forked import run_code, run_program

COLD = {"TF_ENABLE_ONEDNN_OPTS": "0"}
"""A variable that TensorFlow reads at its import, so that the server cannot be used."""
LOADED = "import sys; print('tensorflow' in sys.modules)"


@pytest.fixture(
    params=[pytest.param({}, id="forked", marks=pytest.mark.slow), pytest.param(COLD, id="cold")]
)
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    return {"OWN": "1", **request.param}


def test_a_program_has_its_arguments_folder_environment_and_input(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys; import tests.waiting\n"
        "print(sys.argv[1:], os.getcwd(), os.environ['OWN'], sys.stdin.read())\n"
        "print('an error', file=sys.stderr)\n"
    )
    done = run_program([script, "word", 2], tmp_path, environment, "given")
    assert done.stdout == f"['word', '2'] {tmp_path} 1 given\n"
    assert done.stderr == "an error\n"


def test_a_program_that_fails_raises_its_status_with_its_errors(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; print('half'); sys.exit('the reason')")
    with pytest.raises(subprocess.CalledProcessError) as raised:
        run_program([script], environment=environment)
    error = raised.value
    assert (error.returncode, error.stdout, error.stderr) == (1, "half\n", "the reason\n")
    assert error.__notes__ == ["the reason\n"]
    assert run_program([script], environment=environment, check=False).returncode == 1


def test_a_program_that_takes_too_long_is_killed(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text("import threading; threading.Event().wait()")
    with pytest.raises(subprocess.TimeoutExpired):
        run_program([script], environment=environment, seconds=0.5)
    assert str(script) not in str([each.info for each in psutil.process_iter(["cmdline"])])


@pytest.mark.slow
def test_a_program_is_forked_unless_it_needs_another_import(tmp_path: Path) -> None:
    assert run_code(LOADED).stdout == "True\n"
    script = tmp_path / "script.py"
    script.write_text(LOADED)
    assert run_program([script]).stdout == "True\n"
    assert run_program([script], environment=COLD).stdout == "False\n"
    assert run_program([script], legacy=True).stdout == "False\n"
