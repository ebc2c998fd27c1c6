"""The golden scripts, which people review, are the scripts that the workbench renders."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codegen.golden import CONFIGS, FOLDER, kept, path_of, render
from tests.machines import LAPTOP
from workbench.codegen import render_script
from workbench.plan import make_plan


@pytest.mark.parametrize("name", CONFIGS)
def test_the_golden_script_is_the_rendered_script(name: str) -> None:
    assert kept(name) == render(name), (
        "Read the difference; if it is intended: python -m tests.codegen.golden"
    )


def test_every_golden_script_is_rendered() -> None:
    assert set(FOLDER.iterdir()) == {path_of(name) for name in CONFIGS}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_rendering_machine_leaves_no_trace(name: str) -> None:
    other = dataclasses.replace(
        LAPTOP,
        cpu_model="another",
        cpu_cores=2,
        memory_bytes=4 * 2**30,
        interpreter="/usr/bin/python3",
        python_version="3.13.1",
        tensorflow_version="2.20.0",
        keras_version=None,
    )
    assert render_script(make_plan(CONFIGS[name], other)) == render(name)


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_process_with_other_hashes_makes_the_same_bytes(seed: str) -> None:
    code = (
        "import sys; from tests.codegen.golden import CONFIGS, render; "
        "sys.stdout.buffer.write(''.join(map(render, CONFIGS)).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == "".join(map(render, CONFIGS))


def test_formatters_and_linters_find_nothing_to_change(tmp_path: Path) -> None:
    for name in CONFIGS:
        (tmp_path / f"{name}.py").write_text(render(name), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    for command in (
        ["format", "--check", "--line-length", "100"],
        ["check", "--line-length", "100", "--select", "E,F,I"],
    ):
        done = subprocess.run(
            [*ruff, *command, "--isolated", "--no-cache", str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
