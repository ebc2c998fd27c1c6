"""Tests of the host: its detection, and the folder of runs that Colab and Kaggle keep."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from workbench import hosts
from workbench.runs.folder.files import runs_root

SIGNS = {
    "COLAB_RELEASE_TAG": ("release-colab_20261101-060000_RC00", "Colab"),
    "VERTEX_PRODUCT": ("COLAB_ENTERPRISE", "Colab"),
    "KAGGLE_KERNEL_RUN_TYPE": ("Interactive", "Kaggle"),
}


@pytest.fixture(autouse=True)
def no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove all signs of a host, and the choice of a folder of runs."""
    for name in (*SIGNS, "VSCODE_PID", "JPY_PARENT_PID", "WORKBENCH_RUNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def kaggle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that stands for `/kaggle/working`, on a machine that looks like Kaggle."""
    home = tmp_path / "working"
    home.mkdir()
    monkeypatch.setattr(hosts, "KAGGLE", replace(hosts.KAGGLE, home=home))
    monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Interactive")
    return home


@pytest.mark.parametrize("sign", SIGNS)
def test_a_host_is_recognised_by_its_environment_variable(
    sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hosts.lent() is None
    value, name = SIGNS[sign]
    monkeypatch.setenv(sign, value)
    host = hosts.lent()
    assert host is not None
    assert host.name == name


def test_other_products_of_vertex_are_not_colab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERTEX_PRODUCT", "WORKBENCH_INSTANCE")
    assert hosts.lent() is None


@contextmanager
def started_by(command: str, kind: str, folder: Path) -> Iterator[dict[str, str]]:
    """Yield the variables that a Jupyter server, started by this command, gives its kernels."""
    code = "import sys; print('started', flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", code, command]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        (folder / f"{kind}-{server.pid}.json").touch()
        yield {"JPY_PARENT_PID": str(server.pid), "JUPYTER_RUNTIME_DIR": str(folder)}


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc to read a server's command")
@pytest.mark.parametrize(
    ("command", "kind", "name"),
    [
        ("/opt/bin/jupyter-lab", "jpserver", "JupyterLab"),
        ("jupyterlab", "jpserver", "JupyterLab"),
        ("/opt/bin/jupyter-notebook", "jpserver", "Notebook 7"),
        ("/opt/bin/jupyter-notebook", "nbserver", "classic Notebook"),
        ("jupyterhub-singleuser", "jpserver", "Jupyter"),
    ],
)
def test_the_command_and_the_file_of_a_server_name_its_pages(
    command: str, kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started_by(command, kind, tmp_path) as variables:
        for variable, value in variables.items():
            monkeypatch.setenv(variable, value)
        assert hosts.host_name() == name


def test_vs_code_names_itself_to_its_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "__vsc_ipynb_file__", "a.ipynb", raising=False)
    assert hosts.host_name() == "VS Code"


def test_a_process_without_a_page_is_in_a_terminal() -> None:
    code = "from workbench import hosts; print(hosts.host_name())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "terminal\n"


def test_the_line_of_a_host_names_the_runs_and_what_ends_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert f"Runs are in {tmp_path}. They continue" in hosts.host_line(tmp_path)
    monkeypatch.setenv("COLAB_RELEASE_TAG", "any")
    line = hosts.host_line(tmp_path)
    assert line.startswith(f"Colab. Runs are in {tmp_path}. They are lost when this runtime ends.")
    assert line.endswith("Runs end too.")
    assert "outlives this runtime" in hosts.host_line(hosts.DRIVE / "runs")


def test_without_a_host_runs_are_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs_root() == tmp_path / "runs"
    assert hosts.word_on_keeping(runs_root()) == ""


def test_runs_are_in_the_hosts_folder_if_no_other_is_chosen(
    kaggle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs_root() == kaggle / "runs"
    assert runs_root(tmp_path / "mine") == tmp_path / "mine"
    monkeypatch.setenv("WORKBENCH_RUNS", str(tmp_path / "chosen"))
    assert runs_root() == tmp_path / "chosen"


def test_without_the_hosts_folder_runs_are_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "COLAB", replace(hosts.COLAB, home=tmp_path / "none"))
    monkeypatch.setenv("COLAB_RELEASE_TAG", "any")
    monkeypatch.chdir(tmp_path)
    assert runs_root() == tmp_path / "runs"


def test_a_loss_of_runs_is_announced(monkeypatch: pytest.MonkeyPatch, kaggle: Path) -> None:
    assert "save a version with its output" in hosts.word_on_keeping(kaggle / "runs")
    assert f"Kaggle only keeps {kaggle}." in hosts.word_on_keeping(Path("/tmp/runs"))
    monkeypatch.setenv("COLAB_RELEASE_TAG", "any")
    sentence = "Runs are in /content/runs. They are lost when this runtime ends."
    assert hosts.word_on_keeping(Path("/content/runs")) == sentence
    assert hosts.word_on_keeping(Path("/content/drive/MyDrive/runs")) == ""
