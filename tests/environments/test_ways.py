"""The ways by which a Python makes an environment: another tool replaces a missing one."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.environments import stand_ins
from workbench.environments import MakingError, make_environment
from workbench.environments.survey import Survey, survey_of
from workbench.environments.ways import ways_of

BARE = Survey("/py", "3.13.1", "Linux", "x86_64", False, False, None, (), False)


def names(**changed: object) -> list[str]:
    return [way.name for way in ways_of(dataclasses.replace(BARE, **changed))]


def test_the_survey_of_an_interpreter_lists_its_tools(debian_python: str) -> None:
    survey = survey_of(debian_python, os.environ)
    assert survey.python == sys.version_info[:2]
    assert (survey.venv, survey.ensurepip) == (True, False)
    assert survey.pip is not None
    assert survey_of(sys.executable, os.environ).ensurepip


def test_the_simplest_way_comes_first_and_the_others_are_kept() -> None:
    assert names(venv=True, ensurepip=True, pip="24.1.2", uv=("uv",), virtualenv=True) == [
        "venv",
        "venv and pip",
        "uv",
        "virtualenv",
    ]


@pytest.mark.parametrize(
    ("changed", "way"),
    [
        ({"venv": True, "pip": "24.1.2"}, "venv and pip"),
        ({"venv": True, "pip": "22.2", "uv": ("/usr/bin/uv",)}, "uv"),
        ({"uv": ("/usr/bin/uv",)}, "uv"),
        ({"virtualenv": True}, "virtualenv"),
    ],
)
def test_another_tool_replaces_a_missing_one(changed: dict[str, object], way: str) -> None:
    assert names(**changed) == [way]


@pytest.mark.parametrize(
    ("changed", "lacks"),
    [
        ({}, "no venv, no pip"),
        ({"venv": True, "pip": "22.2"}, "venv without ensurepip, pip 22.2, which is older than"),
    ],
)
def test_a_python_without_any_way_is_refused_with_the_package_to_install(
    changed: dict[str, object], lacks: str
) -> None:
    with pytest.raises(MakingError, match=lacks) as caught:
        names(**changed)
    assert "install python3.13-venv" in caught.value.fix


def test_uv_makes_an_environment_for_a_python_without_tools(
    tmp_path: Path, wheels: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels(stand_ins.LOADED)
    monkeypatch.setenv("UV_FIND_LINKS", os.environ["PIP_FIND_LINKS"])
    monkeypatch.setenv("UV_OFFLINE", "1")
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", tools)
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    (site,) = bare.glob("lib/python3*/site-packages")
    (site / "nothing.pth").write_text("import sys; sys.modules.update(venv=None, ensurepip=None)\n")
    python = str(bare / "bin" / "python")
    assert [way.name for way in ways_of(survey_of(python, os.environ))] == ["uv"]
    made = make_environment(stand_ins.tpu_build(), python, tmp_path / "root")
    shows = "import tensorflow; print(tensorflow.__version__)"
    assert subprocess.check_output([made.interpreter, "-c", shows], text=True) == "2.20.0\n"


def test_a_venv_that_fails_leads_to_the_next_way(
    tmp_path: Path, debian_python: str, wheels: Callable[[str], None]
) -> None:
    """A part of `ensurepip` exists, as on Debian: it is found, and fails."""
    wheels(stand_ins.LOADED)
    home = tmp_path / "home"
    subprocess.run([debian_python, "-m", "venv", "--without-pip", str(home)], check=True)
    (site,) = home.glob("lib/python3*/site-packages")
    (near,) = Path(debian_python).parents[1].glob("lib/python3*/site-packages")
    (site / "pip_of_another.pth").write_text(f"{near}\n")
    (site / "venv.py").write_text(
        "import runpy, sys\n"
        "if '--without-pip' not in sys.argv: sys.exit('Error: ensurepip is not available')\n"
        "sys.path.remove(__file__.rpartition('/')[0]); sys.modules.pop('venv', None)\n"
        "runpy.run_module('venv', run_name='__main__')\n"
    )
    (site / "first.pth").write_text(f"import sys; sys.path.insert(0, {str(site)!r})\n")
    python = str(home / "bin" / "python")
    assert [way.name for way in ways_of(survey_of(python, os.environ))][:2] == [
        "venv",
        "venv and pip",
    ]
    assert make_environment(stand_ins.tpu_build(), python, tmp_path / "root").interpreter
