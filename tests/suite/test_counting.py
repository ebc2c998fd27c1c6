"""Tests that each process that imports TensorFlow is counted, regardless of its parent."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite.__main__ import count_tensorflow

CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}], check=True)"
SEARCH = "import importlib.util; assert importlib.util.find_spec('tensorflow')"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the log of counted processes, and put a package on the path in place of TensorFlow."""
    package = tmp_path / "tensorflow"
    (package / "python").mkdir(parents=True)
    (package / "__init__.py").write_text("from tensorflow import python\n")
    (package / "python" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("SUITE_TENSORFLOW_LOG", "")
    count_tensorflow(tmp_path / "log")
    return tmp_path / "log"


def test_an_import_counts_once_per_process(log: Path) -> None:
    code = "import tensorflow, tensorflow.python"
    for text in (code, CHILD.format(code=code)):
        subprocess.run([sys.executable, "-c", text], check=True)
    assert len(log.read_text().splitlines()) == 2


def test_a_search_without_an_import_does_not_count(log: Path) -> None:
    subprocess.run([sys.executable, "-c", SEARCH], check=True)
    assert not log.exists()
