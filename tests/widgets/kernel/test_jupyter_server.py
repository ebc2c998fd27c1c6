"""The server that shows a kernel's files is known only where its page shows the kernel."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from workbench.widgets.kernel.jupyter_server import JupyterServer, own_server


@pytest.fixture
def started_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which servers describe themselves; this process was started by one."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("JPY_PARENT_PID", str(os.getppid()))
    return tmp_path


def write(folder: Path, kind: str, **about: str) -> None:
    (folder / f"{kind}-{os.getppid()}.json").write_text(json.dumps(about))


def test_the_server_that_started_the_kernel_tells_its_root_and_base_url(started_by: Path) -> None:
    write(started_by, "jpserver", root_dir="/data", base_url="/user/me/")
    server = own_server()
    assert server == JupyterServer(Path("/data"), "/user/me/", classic=False)
    assert server.page_url("a b/train.py") == "/user/me/lab/tree/a%20b/train.py"
    assert server.file_url("a b/run.zip") == "/user/me/files/a%20b/run.zip"
    assert server.errors_url("not 64") == "/user/me/workbench/errors?about=not%2064"


def test_classic_notebook_names_its_root_in_its_own_way(started_by: Path) -> None:
    write(started_by, "nbserver", notebook_dir="/data", base_url="/")
    server = own_server()
    assert server == JupyterServer(Path("/data"), "/", classic=True)
    assert server.page_url("train.py") == "/tree/train.py"


def test_no_server_is_known_outside_a_kernel_of_this_machine(
    started_by: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own_server() is None
    monkeypatch.delenv("JPY_PARENT_PID")
    assert own_server() is None


@pytest.mark.parametrize("trace", ["COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "VSCODE_PID"])
def test_other_pages_are_not_their_servers_pages(
    trace: str, started_by: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(started_by, "jpserver", root_dir="/data", base_url="/")
    monkeypatch.setenv(trace, "1")
    assert own_server() is None


def test_only_visible_files_below_the_root_have_a_path(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    (root / "runs").mkdir(parents=True)
    elsewhere.mkdir()
    (root / "link").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(root)
    server = JupyterServer(root, "/", classic=False)
    shown = {
        root / "runs" / "train.py": "runs/train.py",
        root / "link" / "train.py": "link/train.py",
        elsewhere / "back" / "train.py": "train.py",
        root / "runs" / ".." / "train.py": "train.py",
        root / ".runs" / "train.py": None,
        root / ".." / "train.py": None,
        elsewhere / "train.py": None,
    }
    assert {path: server.path_of(path) for path in shown} == shown
