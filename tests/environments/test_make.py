"""Environments are made completely or not at all, from real Pythons by the real uv."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.environments import stand_ins
from workbench.environments import CancelledError, Made, MakingError, Progress, make_environment
from workbench.environments.builds import Build

Wheels = Callable[[str], None]
INSTALLING = 3
MAKER = Path(__file__).with_name("maker.py")


def left_in(root: Path) -> list[str]:
    """Return the names in a folder of environments, except locks."""
    return sorted(path.name for path in root.iterdir() if path.suffix != ".lock")


def make(root: Path, python: str, build: Build | None = None) -> Made:
    return make_environment(build or stand_ins.tpu_build(), python, root)


def problem(root: Path, python: str, build: Build | None = None) -> MakingError:
    with pytest.raises(MakingError) as caught:
        make(root, python, build)
    if root.is_dir():
        assert left_in(root) == []
    return caught.value


def files_below(folder: Path) -> set[tuple[str, int]]:
    return {(str(path), path.stat().st_mtime_ns) for path in folder.rglob("*.py")}


def test_an_environment_is_made_apart_from_existing_packages_and_reused(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    wheels(stand_ins.LOADED)
    home = Path(debian_python).parents[1]
    before, reports = files_below(home), list[Progress]()
    root = tmp_path / "environments"
    made = make_environment(stand_ins.tpu_build(), debian_python, root, reports.append)
    assert not made.reused
    assert made.notes == ()
    assert files_below(home) == before
    (name,) = left_in(root)
    assert name == f"python{sys.version_info[0]}.{sys.version_info[1]}-tensorflow-tpu-2.20.0"
    assert sorted({progress.number for progress in reports} & {1, 2, 3, 4}) == [1, 2, 3, 4]
    assert any("+ tensorflow-tpu==2.20.0" in progress.line for progress in reports)
    shows = "import tensorflow; print(tensorflow.__version__, tensorflow.__file__)"
    shown = subprocess.check_output([made.interpreter, "-c", shows], text=True)
    assert shown.startswith(f"2.20.0 {root / name}")
    assert make(root, debian_python) == Made(made.interpreter, True, pytest.approx(0, abs=10))


@pytest.mark.slow
def test_no_program_or_script_names_the_folder_in_which_it_was_made(
    tmp_path: Path, wheels: Wheels
) -> None:
    wheels(stand_ins.LOADED)
    folder = Path(make(tmp_path, sys.executable).interpreter).parents[1]
    for path in [folder / "pyvenv.cfg", *(folder / "bin").iterdir()]:
        assert b".making-" not in path.read_bytes(), path


@pytest.mark.slow
def test_an_environment_that_lost_its_tensorflow_is_made_again(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    wheels(stand_ins.LOADED)
    made = make(tmp_path / "root", debian_python)
    (about,) = (
        Path(made.interpreter).parents[1].glob("lib/*/site-packages/*tpu*.dist-info/METADATA")
    )
    about.unlink()
    assert not make(tmp_path / "root", debian_python).reused
    assert about.exists()
    assert len(left_in(tmp_path / "root")) == 1


@pytest.mark.slow
def test_two_simultaneous_calls_make_an_environment_once(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    wheels(stand_ins.LOADED)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(make, tmp_path / "root", debian_python) for _ in range(2)]
    assert sorted(each.result().reused for each in both) == [False, True]
    assert len({each.result().interpreter for each in both}) == 1


def test_a_cancelled_installation_leaves_no_files_and_no_processes(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    wheels(stand_ins.LOADED)
    stop = threading.Event()

    def on_progress(progress: Progress) -> None:
        if progress.number == INSTALLING:
            stop.set()

    build, root = stand_ins.tpu_build(), tmp_path / "root"
    with pytest.raises(CancelledError):
        make_environment(build, debian_python, root, on_progress, stop.is_set)
    assert left_in(root) == []
    assert [
        child for child in psutil.Process().children(recursive=True) if _of(child, tmp_path)
    ] == []


def _of(process: psutil.Process, folder: Path) -> bool:
    return any(str(folder) in word for word in process.cmdline())


def test_the_next_call_removes_the_files_of_a_killed_one(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    wheels(stand_ins.LOADED)
    root = tmp_path / "root"
    command = [sys.executable, str(MAKER), debian_python, str(root), str(INSTALLING)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as maker:
        assert maker.stdout is not None
        assert json.loads(maker.stdout.readline()) == INSTALLING
        maker.send_signal(signal.SIGKILL)
    assert [name for name in left_in(root) if name.startswith(".making-")] != []
    made = make(root, debian_python)
    assert left_in(root) == [Path(made.interpreter).parents[1].name]


def test_without_a_network_the_index_is_named_with_the_fix(
    tmp_path: Path, debian_python: str, wheels: Wheels, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("UV_OFFLINE", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    found = problem(tmp_path / "root", debian_python)
    assert found.rule == "The packages must be downloaded from a package index"
    assert "tensorflow-tpu" in found.got
    assert "Connection refused" in found.got
    assert "Kaggle: Internet in the notebook's settings" in found.fix


def test_an_index_without_a_wheel_for_this_python_is_reported(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    wheels(stand_ins.LOADED)
    found = problem(tmp_path / "root", debian_python, stand_ins.tpu_build("2.99.0"))
    assert found.rule == "The package index must have wheels for this Python and machine"
    assert "there is no version of tensorflow-tpu==2.99.0" in found.got


def test_a_disk_that_is_too_small_is_reported_before_the_start(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    endless = Build(**{**vars(stand_ins.tpu_build()), "disk_bytes": 2**60})
    found = problem(tmp_path / "root", debian_python, endless)
    assert found.rule == "This environment needs 1,073,741,824.0 GiB of free disk space"
    assert "WORKBENCH_ENVIRONMENTS" in found.fix


def test_a_disk_that_fills_up_is_reported(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    """The test uses a file system of 2 MiB, in separate namespaces, and a stand-in of 4 MiB."""
    wheels(stand_ins.LARGE)
    root = tmp_path / "root"
    root.mkdir()
    mounted = f"mount -t tmpfs -o size=2m tmpfs '{root}'"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mounted], check=False).returncode:
        pytest.skip("this machine does not allow mounts")
    maker = f"{mounted} && exec '{sys.executable}' '{MAKER}' '{debian_python}' '{root}' 0 small"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = ["unshare", "-rm", "sh", "-c", maker]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    error = json.loads(done.stdout.splitlines()[-1])
    assert error["rule"] == "This environment needs more free disk space"
    assert "Make room" in error["fix"]


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path, debian_python: str) -> None:
    (tmp_path / "file").touch()
    found = problem(tmp_path / "file" / "root", debian_python)
    assert found.rule == "Environments need a folder that can be written"
    assert "Not a directory" in found.got


def test_a_missing_python_is_reported(tmp_path: Path) -> None:
    assert "no program of that name" in problem(tmp_path, "no-such-python").got


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "got", "fix"),
    [
        (stand_ins.FAILS, "GLIBCXX_9 not found", "LD_LIBRARY_PATH"),
        (stand_ins.ABORTS, "not available in this library", "unset TPU_LIBRARY_PATH"),
        (stand_ins.MISSING, "Failed to open libtpu", "Unset TPU_LIBRARY_PATH"),
    ],
)
def test_an_unusable_tensorflow_is_reported_with_its_last_output_and_not_kept(
    tmp_path: Path, debian_python: str, wheels: Wheels, behaviour: str, got: str, fix: str
) -> None:
    wheels(behaviour)
    found = problem(tmp_path / "root", debian_python)
    assert "n the new environment" in found.rule
    assert got in found.got
    assert fix in found.fix


@pytest.mark.slow
def test_a_tpu_that_another_process_holds_is_reported_and_the_environment_kept(
    tmp_path: Path, debian_python: str, wheels: Wheels
) -> None:
    wheels(stand_ins.HELD)
    made = make(tmp_path / "root", debian_python)
    (note,) = made.notes
    assert "Another process is using the TPU" in note
    assert "pid 4321" in note
    assert make(tmp_path / "root", debian_python).reused


@pytest.mark.slow
def test_another_tensorflow_that_hides_the_installed_one_is_reported(
    tmp_path: Path, debian_python: str, wheels: Wheels, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels(stand_ins.LOADED)
    package = tmp_path / "elsewhere/tensorflow"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(stand_ins.source(version="2.18.0"))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    found = problem(tmp_path / "root", debian_python)
    assert "must find tensorflow-tpu==2.20.0" in found.rule
    assert "TensorFlow 2.18.0" in found.got
    assert "PYTHONPATH" in found.fix


def test_variables_that_redirect_installers_have_no_effect(
    tmp_path: Path, debian_python: str, wheels: Wheels, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels(stand_ins.LOADED)
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "target"))
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_CONSTRAINT", str(tmp_path / "no-such-file"))
    make(tmp_path / "root", debian_python)
    assert not (tmp_path / "target").exists()
