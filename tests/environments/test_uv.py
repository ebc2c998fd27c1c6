"""uv makes environments for any Python; without it, pip installs it for the moment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.environments import stand_ins
from workbench.environments import make_environment
from workbench.environments.uv import failed

SHOWS = "import tensorflow; print(tensorflow.__version__)"


def test_an_environment_is_made_for_a_python_without_tools(
    tmp_path: Path, wheels: Callable[[str], None]
) -> None:
    wheels(stand_ins.LOADED)
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    (site,) = bare.glob("lib/python3*/site-packages")
    (site / "nothing.pth").write_text("import sys; sys.modules.update(venv=None, ensurepip=None)\n")
    made = make_environment(stand_ins.tpu_build(), str(bare / "bin" / "python"), tmp_path / "root")
    assert subprocess.check_output([made.interpreter, "-c", SHOWS], text=True) == "2.20.0\n"


@pytest.mark.slow
def test_pip_installs_uv_where_there_is_none(
    tmp_path: Path, wheels: Callable[[str], None], debian_python: str
) -> None:
    """The environment of `debian_python` has pip and no uv; the workbench is found beside it."""
    wheels(stand_ins.LOADED)
    root = Path(__file__).parents[2]
    code = (
        "import sys; from pathlib import Path; from tests.environments import stand_ins; "
        "from workbench.environments import make_environment; "
        f"made = make_environment(stand_ins.tpu_build(), None, Path({str(tmp_path / 'root')!r})); "
        "print(made.interpreter)"
    )
    environment = {**os.environ, "PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"}
    del environment["PIP_FIND_LINKS"]
    environment["UV_FIND_LINKS"] = os.environ["PIP_FIND_LINKS"]
    command = [debian_python, "-c", code]
    made = subprocess.check_output(command, env=environment, cwd=tmp_path, text=True).strip()
    assert subprocess.check_output([made, "-c", SHOWS], text=True) == "2.20.0\n"
    assert not list((tmp_path / "root").glob(".making*"))


@pytest.mark.parametrize(
    ("line", "rule", "fix"),
    [
        ("error: No space left on device (os error 28)", "more free disk space", "Make room"),
        ("cause: invalid peer certificate: UnknownIssuer", "package index", "SSL_CERT_FILE"),
        ("cause: HTTP status client error (401 Unauthorized)", "index", "user name and password"),
        ("cause: dns error", "must be downloaded from a package index", "Turn the network on"),
        (
            "tensorflow-tpu==2.20.0 has no wheels with a matching",
            "must have wheels",
            "3.11 to 3.13",
        ),
        ("error: Hash mismatch for numpy", "must be complete", "Try again"),
        ("error: Permission denied (os error 13)", "can be written", "write permission"),
        ("/usr/bin/python3: No module named pip", "needs uv, or pip", "Install uv"),
        ("error: something new", "without an error", "Fix the reported error"),
    ],
)
def test_the_cause_in_the_output_gives_the_fix(line: str, rule: str, fix: str) -> None:
    error = failed("uv", 1, ["Using Python 3.11.7", line])
    assert rule in error.rule
    assert fix in error.fix
    assert line in error.got


def test_a_killed_installer_needs_memory() -> None:
    assert "free memory" in failed("uv", -9, ["Resolved 3 packages"]).rule
