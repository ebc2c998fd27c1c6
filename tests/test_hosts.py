"""Tests of Colab and Kaggle: their detection, and the folder of runs that they keep."""

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
    for name in (*SIGNS, "WORKBENCH_RUNS"):
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
    assert "a saved version includes its output" in hosts.word_on_keeping(kaggle / "runs")
    assert f"Kaggle keeps {kaggle} only" in hosts.word_on_keeping(Path("/tmp/runs"))
    monkeypatch.setenv("COLAB_RELEASE_TAG", "any")
    sentence = "Runs are in /content/runs. They are lost when this runtime ends."
    assert hosts.word_on_keeping(Path("/content/runs")) == sentence
    assert hosts.word_on_keeping(Path("/content/drive/MyDrive/runs")) == ""
