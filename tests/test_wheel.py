"""Tests of the wheel: built with and without Node.js, used without TensorFlow."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests import wheels
from tests.colab.lists import RUNTIMES, versions
from tests.virtualenvs import uv

ROOT = Path(__file__).parents[1]
LABEXTENSION = "share/jupyter/labextensions/tf-distribute-workbench"
SERVER_CONFIG = "etc/jupyter/jupyter_server_config.d/tf-distribute-workbench.json"
MOST_BYTES = 60_000
MOST_LAB_BYTES = 100_000
USE = """
import importlib.util
import workbench
workbench.Workbench
assert importlib.util.find_spec("tensorflow") is None
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built from a copy of the tracked files."""
    return wheels.build(tmp_path_factory.mktemp("built"))


def test_it_is_built_with_only_a_shell_on_path(wheel: Path, tmp_path: Path) -> None:
    shell = shutil.which("sh")
    assert shell is not None
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to(shell)
    built = wheels.build(tmp_path / "built", path=str(tools))
    assert names_in(built) == names_in(wheel)


def names_in(wheel: Path) -> list[str]:
    """Return the names of all files; those of built scripts without their hashes."""
    names = zipfile.ZipFile(wheel).namelist()
    return sorted(re.sub(r"/\w+\.[0-9a-f]{16}\.js$", "/*.js", name) for name in names)


@pytest.mark.promise
def test_the_wheel_has_the_front_end_without_its_sources(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith(f"{LABEXTENSION}/package.json") for name in names)
    assert any(f"{LABEXTENSION}/static/remoteEntry" in name for name in names)
    assert any(name.endswith(f"{LABEXTENSION}/install.json") for name in names)
    assert any(name.endswith(SERVER_CONFIG) for name in names)
    scripts = ("runview", "download", "gauge", "colors", "copy", "heads")
    built = ("runview.css", *(f"{name}.js" for name in scripts))
    wanted = {"workbench.css", *(f"static/{name}" for name in built)}
    assert wanted <= {name.removeprefix("workbench/widgets/") for name in names}
    assert not any("node_modules" in name or name.startswith("tests/") for name in names)


@pytest.mark.promise
def test_wheel_and_sdist_can_be_published(wheel: Path) -> None:
    (sdist,) = wheel.parent.glob("*.tar.gz")
    for checker in ("twine check --strict", "check_wheel_contents"):
        command = [sys.executable, "-m", *checker.split(), str(wheel)]
        command += [str(sdist)] if checker.startswith("twine") else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.promise
def test_the_licences_of_the_bundled_javascript_are_inside(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith("third-party-licenses.json"))
        packages = json.loads(files.read(name))["packages"]
    assert packages
    assert all(package["licenseId"] and package["extractedText"] for package in packages)


@pytest.mark.promise
def test_the_compressed_run_view_is_small(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        front_end = [
            files.read(f"workbench/widgets/static/runview.{kind}") for kind in ("js", "css")
        ]
    assert sum(len(gzip.compress(text)) for text in front_end) <= MOST_BYTES


def test_the_compressed_front_end_of_jupyterlab_is_small(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        static = f"{LABEXTENSION}/static/"
        scripts = [name for name in files.namelist() if static in name and name.endswith(".js")]
        sizes = [len(gzip.compress(files.read(name))) for name in scripts]
    assert 0 < sum(sizes) <= MOST_LAB_BYTES


@pytest.mark.promise
def test_the_wheel_works_in_a_fresh_environment_without_tensorflow(
    wheel: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    bin_dir = tmp_path / "env" / "bin"
    python = str(bin_dir / "python")
    lock = str(ROOT / "requirements.txt")
    uv("pip", "install", "-q", "--python", python, "-c", lock, f"{wheel}[lab]")
    for listing, name in (
        (("jupyterlab.labextensions", "list"), "tf-distribute-workbench"),
        (("jupyter_server", "extension", "list"), "workbench.server"),
    ):
        listed = subprocess.run(
            [python, "-m", *listing],
            env={**os.environ, "PATH": str(bin_dir)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        ours = [line for line in listed.stdout.splitlines() if name in line]
        assert any("enabled" in line for line in ours), listed.stdout
        assert any("OK" in line for line in ours), listed.stdout
    subprocess.run([python, "-c", USE], cwd=tmp_path, check=True)


def preinstalled(python: Path) -> dict[str, str]:
    """Return every package of an environment with its version."""
    command = [sys.executable, "-m", "pip", "--python", str(python), "list", "--format=json"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return {package["name"]: package["version"] for package in json.loads(listed)}


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_pip_adds_the_wheel_to_colabs_packages_and_changes_none(
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
    # pip can fetch nothing, so all dependencies must already be installed.
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index"]
    done = subprocess.run([*install, str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    added = {"tf-distribute-workbench": wheel.name.split("-")[1]}
    assert preinstalled(python) == before | added
