"""Tests of `workbench lab`: its command, the printed address, and its end."""

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.waiting import LIMIT_SECONDS, until
from workbench import lab
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import fork_server

ROOT = Path(__file__).parents[1]


def test_the_command_binds_to_loopback_and_hides_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKBENCH_RUNS", raising=False)
    launch = lab.prepare(None, open_browser=False)
    token = launch.environment["JUPYTER_TOKEN"]
    assert "--ServerApp.ip=127.0.0.1" in launch.command
    assert "--no-browser" in launch.command
    assert token not in " ".join(launch.command)
    assert launch.address.endswith(f"/lab?workbench&token={token}")
    assert launch.environment["WORKBENCH_RUNS"] == str(tmp_path / "runs")
    assert lab.prepare("r", open_browser=True).environment["WORKBENCH_RUNS"] == str(tmp_path / "r")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/mine")
    folders = (
        lab.prepare(None, open_browser=True).environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    )
    assert folders == [str(lab.JUPYTER), "/mine"]


def test_without_jupyterlab_the_error_names_the_package_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['jupyterlab'] = None; from workbench.lab import launch; "
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code + "launch()"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "LabError: JupyterLab is not installed for" in done.stderr
    assert 'pip install "tf-distribute-workbench[lab]"' in done.stderr


@pytest.mark.promise
@pytest.mark.slow
def test_jupyterlab_serves_the_printed_address_and_ends_on_sigterm(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "workbench", "lab", "--no-browser"]
    state = tmp_path / "state"
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    environment["WORKBENCH_STATE"] = str(state)
    ahead = fork_server(Launch(sys.executable, tmp_path), state)
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        try:
            page = answer_of(process, address)
            assert "JupyterLab" in page
            until(lambda: ahead.state == "ready")
            disabled = page.split('"disabledExtensions":', 1)[1].split("]", 1)[0]
            assert "@jupyterlab/apputils-extension:announcements" in disabled
        finally:
            process.terminate()
        assert process.wait(LIMIT_SECONDS) is not None
    until(lambda: ahead.state == "absent")


def test_it_loads_tensorflow_ahead_and_its_jupyterlab_holds_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("tensorflow", "keras"):
        (tmp_path / f"{module}.py").write_text("")  # in its place: the start is the same
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(ROOT))))
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    ahead = fork_server(Launch(sys.executable, tmp_path))
    become = "os.execv(sys.executable, [sys.executable, '-c', 'print(flush=True); input()'])"
    code = f"import os, sys; from workbench.lab import load_ahead; load_ahead(); {become}"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, **pipes) as process:
        assert process.stdout.readline() == b"\n"  # of the program that is in JupyterLab's place
        until(lambda: ahead.state == "ready")
        process.communicate(b"\n")
    until(lambda: ahead.state == "absent")


def answer_of(process: subprocess.Popen[str], address: str) -> str:
    def answer() -> str:
        assert process.poll() is None, f"nothing answered at {address}"
        try:
            with urllib.request.urlopen(address, timeout=LIMIT_SECONDS) as page:
                return str(page.read().decode())
        except OSError:
            return ""

    return str(until(answer))
