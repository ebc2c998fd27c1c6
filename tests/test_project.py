"""Tests that packaging files agree: versions, dependencies, lock, environment."""

import json
import os
import re
import subprocess
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import workbench

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
WITH_INNER_ROOMS = tuple(f"workbench/{room}" for room in ("cli", "experiments", "runs", "widgets"))
# The packages of Colab's runtimes (August 2026): our dependencies must not upgrade any of them.
COLAB = {
    "anywidget": "0.9.21",
    "ipywidgets": "7.7.1",
    "matplotlib": "3.10.0",
    "numpy": "2.1.3",
    "pandas": "2.2.3",
    "pillow": "11.3.0",
    "plotly": "5.24.1",
    "psutil": "5.9.5",
    "pydantic": "2.13.4",
    "pyyaml": "6.0.3",
    "tensorflow": "2.20.0",
    "tf-keras": "2.20.1",
}
# The names are split in two, so that this file does not name them.
REGISTRY_HOSTS = [
    *("pypi" + ".org", "files.python" + "hosted", "registry.npm" + "js", "registry.yarn" + "pkg"),
    *("deb." + "debian", "conda." + "anaconda"),
]


def lock() -> list[Requirement]:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if (path := ROOT / name).is_file()]


def test_base_dependencies_fit_the_packages_of_colab() -> None:
    needed = [Requirement(line) for line in [*PROJECT["dependencies"], *EXTRAS["tensorflow"]]]
    assert [need for need in needed if COLAB[need.name] not in need.specifier] == []


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
@pytest.mark.parametrize(
    ("platform", "machine"), [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")]
)
def test_the_lock_has_one_version_of_each_dependency(
    python: str, platform: str, machine: str
) -> None:
    environment = {
        "python_version": python.rpartition(".")[0],
        "python_full_version": python,
        "sys_platform": platform,
        "platform_machine": machine,
    }
    pinned: dict[str, Version] = {}
    for entry in lock():
        if entry.marker is None or entry.marker.evaluate(environment):
            assert entry.name not in pinned
            pinned[entry.name] = Version(str(entry.specifier).removeprefix("=="))
    needed = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    for need in map(Requirement, needed):
        assert pinned[need.name] in need.specifier


def test_environment_installs_the_lock_and_the_project() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    assert conda == ["python>=3.11,<3.14", "pip"]
    from_lock, project = pip["pip"]
    assert from_lock == "-r requirements.txt"
    extras = re.fullmatch(r"-e \.\[(.+)\]", project)
    assert extras is not None
    assert set(extras[1].split(",")) == set(EXTRAS) - {"dev"}


def test_python_range_is_the_same_everywhere() -> None:
    assert PROJECT["requires-python"] == ">=3.11"
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named == ["3.11", "3.12", "3.13"]
    script = (ROOT / "find-python.sh").read_text()
    assert "(3, 11) <= sys.version_info[:2] <= (3, 13)" in script


def test_the_map_names_each_room_and_nothing_else() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text.partition("## The map of rooms")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|", table, re.MULTILINE)
    tracked = {each for path in tracked_files() for each in (path, *path.parents)}
    named = {path for row in rows for path in paths_in(row, tracked)}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
    for room in ("workbench", *WITH_INNER_ROOMS):
        there = {path for path in tracked_files() if path.is_relative_to(ROOT / room)}
        parts = {path.relative_to(ROOT / room).parts for path in there}
        rooms = {part[0] for part in parts if len(part) > 1}
        files = {part[0] for part in parts if len(part) == 1 and not part[0].startswith("__")}
        required = rooms | files if room == "workbench" else rooms
        assert {f"{room}/{name}" for name in required} - named == set()


def test_the_six_files_for_a_newcomer_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.partition("## The one line")[2].partition("\n## ")[0]
    files = re.findall(r"^\d\. `(workbench/\S+\.py)`", section, re.MULTILINE)
    assert len(files) == 6
    assert [name for name in files if not (ROOT / name).is_file()] == []


def paths_in(row: str, tracked: set[Path]) -> list[str]:
    """Return the paths in a row of the map: one that is not tracked is next to the first."""
    first, *others = (path.rstrip("/") for path in re.findall(r"`([^`]+)`", row))
    beside = first.rpartition("/")[0]
    return [first, *(path if ROOT / path in tracked else f"{beside}/{path}" for path in others)]


def test_versions_agree() -> None:
    package = json.loads((ROOT / "extension/package.json").read_text())
    package_lock = json.loads((ROOT / "extension/package-lock.json").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    versions = {package["version"], package_lock["version"], citation["version"]}
    assert versions == {workbench.__version__}
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert workbench.__version__ in headings


def test_workflows_call_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for path in (ROOT / ".github" / "workflows").iterdir():
        jobs = yaml.safe_load(path.read_text())["jobs"].values()
        commands = [step.get("run", "") for job in jobs for step in job["steps"]]
        called = {
            word
            for command in commands
            if command.startswith("make ")
            for word in command.split()[1:]
            if "=" not in word
        }
        assert called
        assert called <= targets


def test_the_distribution_and_the_command_keep_their_names() -> None:
    assert PROJECT["name"] == "tf-distribute-workbench"
    (command,) = entry_points(group="console_scripts", name="workbench")
    assert command.value == "workbench.cli:main"
    assert callable(command.load())


def test_no_file_names_a_registry_host() -> None:
    naming = [
        str(path.relative_to(ROOT))
        for path in tracked_files()
        if any(host in path.read_text(errors="ignore") for host in REGISTRY_HOSTS)
    ]
    assert naming == []


def test_npm_lock_serves_every_platform_and_names_no_address() -> None:
    packages = json.loads((ROOT / "extension/package-lock.json").read_text())["packages"]
    assert not any("resolved" in entry for entry in packages.values())
    bundler = {name.rpartition("binding-")[2] for name in packages if "/binding-" in name}
    assert {"linux-x64-gnu", "linux-arm64-gnu", "win32-x64-msvc"} <= bundler
    compiler = {name.rpartition("/")[2] for name in packages if "@esbuild/" in name}
    assert {"linux-x64", "linux-arm64", "win32-x64"} <= compiler
    assert {"darwin-x64", "darwin-arm64"} <= bundler & compiler


def test_jupyterlab_dependencies_are_ranges() -> None:
    """An exact version would mark the extension incompatible with the next patch of JupyterLab."""
    package = json.loads((ROOT / "extension/package.json").read_text())
    ranges = [value for name, value in package["dependencies"].items() if "@jupyter" in name]
    assert ranges
    assert all(value.startswith("^") for value in ranges)


def test_find_python_lists_the_interpreters_that_it_tried() -> None:
    environment = {**os.environ, "PYTHON": "/no/such/python"}
    done = subprocess.run(
        ["sh", "find-python.sh"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13" in done.stderr
    assert "/no/such/python: not found" in done.stderr
    assert "make lab PYTHON=" in done.stderr
