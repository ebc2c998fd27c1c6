"""The wheel: built on a machine without Node.js, used on one without TensorFlow."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.colab.lists import RUNTIMES, versions

ROOT = Path(__file__).parents[1]
LABEXTENSION = "share/jupyter/labextensions/tf-distribute-workbench"
MOST_BYTES = 60_000
USE = """
import importlib.util
import workbench
workbench.Workbench
assert importlib.util.find_spec("tensorflow") is None
"""

pytestmark = pytest.mark.slow


def uv(*arguments: str, path: str | None = None) -> None:
    environment = {**os.environ, "PATH": path or os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-m", "uv", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what git tracks with nothing but a shell on PATH."""
    source = tmp_path_factory.mktemp("source")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    shell = shutil.which("sh")
    assert shell is not None
    tools = tmp_path_factory.mktemp("tools")
    (tools / "sh").symlink_to(shell)
    target = tmp_path_factory.mktemp("wheel")
    python = ("--python", sys.executable)
    uv("build", "-q", *python, "--wheel", "--out-dir", str(target), str(source), path=str(tools))
    (built,) = target.glob("*.whl")
    return built


@pytest.mark.promise
def test_it_holds_the_front_end_and_no_sources_of_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith(f"{LABEXTENSION}/package.json") for name in names)
    assert any(f"{LABEXTENSION}/static/remoteEntry" in name for name in names)
    assert any(name.endswith(f"{LABEXTENSION}/install.json") for name in names)
    assert {"workbench.css", "static/runview.js", "static/runview.css"} <= {
        name.removeprefix("workbench/widgets/") for name in names
    }
    assert not any("node_modules" in name or name.startswith("tests/") for name in names)


@pytest.mark.promise
def test_the_run_view_is_small_on_the_way_to_a_page(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        front_end = [
            files.read(f"workbench/widgets/static/runview.{kind}") for kind in ("js", "css")
        ]
    assert sum(len(gzip.compress(text)) for text in front_end) <= MOST_BYTES


@pytest.mark.promise
def test_it_works_in_a_fresh_environment_without_tensorflow(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    bin_dir = tmp_path / "env" / "bin"
    python = str(bin_dir / "python")
    lock = str(ROOT / "requirements.txt")
    uv("pip", "install", "-q", "--python", python, "-c", lock, f"{wheel}[lab]")
    listed = subprocess.run(
        [python, "-m", "jupyterlab.labextensions", "list"],
        env={**os.environ, "PATH": str(bin_dir)},
        capture_output=True,
        text=True,
        check=True,
    )
    ours = next(line for line in listed.stderr.splitlines() if "tf-distribute-workbench" in line)
    assert "enabled" in ours
    assert "OK" in ours
    subprocess.run([python, "-c", USE], cwd=tmp_path, check=True)


def preinstalled(python: Path) -> dict[str, str]:
    """Every package of an environment with its version."""
    command = [sys.executable, "-m", "pip", "--python", str(python), "list", "--format=json"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return {package["name"]: package["version"] for package in json.loads(listed)}


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_pip_puts_it_beside_what_colab_has_and_changes_nothing(
    runtime: str, wheel: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "colab", with_pip=False)
    (site,) = (tmp_path / "colab").glob("lib/python3.*/site-packages")
    there = versions(runtime)
    for name, version in there.items():
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "RECORD").touch()
    python = tmp_path / "colab" / "bin" / "python"
    before = preinstalled(python)
    assert len(before) == len(there)
    # Nothing can be fetched, so that whatever it needs must be there.
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index"]
    done = subprocess.run([*install, str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    added = {"tf-distribute-workbench": wheel.name.split("-")[1]}
    assert preinstalled(python) == before | added
