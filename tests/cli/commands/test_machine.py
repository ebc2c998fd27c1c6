"""`workbench environment`: its output, and its errors in three parts."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, last_json
from tests.environments import stand_ins
from workbench.environments import BUILDS

pytestmark = pytest.mark.slow


@pytest.fixture
def own_terminal(tmp_path: Path) -> Terminal:
    """A terminal whose uv looks for wheels only in an empty folder."""
    made = Terminal(tmp_path)
    (tmp_path / "wheels").mkdir()
    made.environment |= {
        "WORKBENCH_ENVIRONMENTS": str(tmp_path / "environments"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
    }
    return made


def test_without_a_missing_build_the_command_asks_for_a_choice(own_terminal: Terminal) -> None:
    done = own_terminal.type("environment")
    assert done.returncode == 1
    assert "already has the TensorFlow that this machine needs" in done.stderr
    assert "--build tpu or cpu" in done.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the TPU build is for x86-64")
def test_a_failure_is_reported_after_the_steps_before_it(own_terminal: Terminal) -> None:
    done = own_terminal.type("environment", "--build", "tpu")
    assert done.returncode == 1
    assert "3 of 4: installing tensorflow-tpu==2.20.0 and libtpu==0.0.21.1" in done.stderr
    assert "must have wheels for this Python and machine; got " in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(platform.system() != "Linux", reason="the build for the CPU is for Linux")
def test_the_command_prints_only_the_interpreter(own_terminal: Terminal) -> None:
    """uv finds a stand-in with the name and version of the build."""
    build = BUILDS["cpu"]
    wheels = own_terminal.folder / "wheels"
    stand_ins.write_wheel(wheels, version=build.version, distribution=build.distribution)
    done = own_terminal.type("environment", "--build", "cpu")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert Path(line).exists()
    assert "workbench run --interpreter" in done.stderr
    again = last_json(own_terminal.type("environment", "--build", "cpu", "--json"))
    assert (again["interpreter"], again["reused"]) == (line, True)
