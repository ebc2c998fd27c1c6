"""What holds for all tests: folders of their own, and the order in which files start."""

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

SECONDS = Path(__file__).parent / "tests" / "suite" / "seconds.json"
"""The seconds of each test that takes one or more, as `tests.suite --note-seconds` notes them."""
FOLDERS = {"WORKBENCH_STATE": "state", "WORKBENCH_RUNS": "runs"}
FORKS = "WORKBENCH_TESTS_FORKS"
"""The variable of a state folder with the fork server of all processes of tests.

Its locks belong to one process. See tests/forked.py.
"""
CACHE = "XDG_CACHE_HOME"
"""The variable of the cache of all processes of tests: a fork server cannot change it."""
DOWNLOADS = ("pip", "uv")
"""Tools that go on using the user's cache of downloads."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep locks, runs and caches of the tests apart from the user's, and those of each process."""
    users_cache = Path(os.environ.get(CACHE) or Path.home() / ".cache")
    root = Path(tempfile.mkdtemp(prefix="workbench-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(root, ignore_errors=True))
    os.environ.pop("WORKBENCH_UNPACKED", None)
    for name, folder in FOLDERS.items():
        os.environ[name] = str(root / folder)
    forks = root / "forked" / "forks"
    if hasattr(config, "workerinput"):  # it has the variables of the process that started it
        forks.parent.mkdir()
        forks.symlink_to(Path(os.environ[FORKS]) / forks.name)
    else:
        forks.mkdir(mode=0o700, parents=True)
        for tool in DOWNLOADS:
            os.environ.setdefault(f"{tool.upper()}_CACHE_DIR", str(users_cache / tool))
        os.environ[CACHE] = str(root / "cache")
    os.environ[FORKS] = str(forks.parent)


@pytest.hookimpl(trylast=True)  # what a test has opened is closed whatever is found here
def pytest_runtest_teardown() -> None:
    """Hold that TensorFlow is imported in child processes only."""
    imported = "tensorflow" in sys.modules
    assert not imported, "a test has imported TensorFlow in pytest's process"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that take longest first, so that no process waits for one alone at the end."""
    known = json.loads(SECONDS.read_text())
    seconds = Counter[Path]()
    for item in items:
        seconds[item.path] += known.get(item.nodeid, 0)
    items.sort(key=lambda item: -seconds[item.path])
