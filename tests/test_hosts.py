"""Machines that are lent: told by what their hosts leave, with runs where the host keeps most."""

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
    """Leave no sign of a host, nor a folder of runs that somebody chose."""
    for name in (*SIGNS, "WORKBENCH_RUNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def kaggle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kaggle, its `/kaggle/working` being a folder of the test."""
    home = tmp_path / "working"
    home.mkdir()
    monkeypatch.setattr(hosts, "KAGGLE", replace(hosts.KAGGLE, home=home))
    monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Interactive")
    return home


@pytest.mark.parametrize("sign", SIGNS)
def test_a_host_is_told_by_its_sign(sign: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hosts.lent() is None
    value, name = SIGNS[sign]
    monkeypatch.setenv(sign, value)
    told = hosts.lent()
    assert told is not None
    assert told.name == name


def test_vertex_is_not_colab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERTEX_PRODUCT", "WORKBENCH_INSTANCE")
    assert hosts.lent() is None


def test_runs_lie_here_where_nobody_lends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs_root() == tmp_path / "runs"
    assert hosts.word_on_keeping(runs_root()) == ""


def test_runs_lie_where_the_host_keeps_most_wherever_the_notebook_is(
    kaggle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs_root() == kaggle / "runs"
    assert runs_root(tmp_path / "mine") == tmp_path / "mine"
    monkeypatch.setenv("WORKBENCH_RUNS", str(tmp_path / "chosen"))
    assert runs_root() == tmp_path / "chosen"


def test_a_host_without_its_folder_has_runs_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "COLAB", replace(hosts.COLAB, home=tmp_path / "none"))
    monkeypatch.setenv("COLAB_RELEASE_TAG", "any")
    monkeypatch.chdir(tmp_path)
    assert runs_root() == tmp_path / "runs"


def test_what_is_lost_is_said(monkeypatch: pytest.MonkeyPatch, kaggle: Path) -> None:
    assert "a saved version takes its output along" in hosts.word_on_keeping(kaggle / "runs")
    assert f"Kaggle keeps {kaggle} only" in hosts.word_on_keeping(Path("/tmp/runs"))
    monkeypatch.setenv("COLAB_RELEASE_TAG", "any")
    said = "Runs lie in /content/runs. They are gone when this runtime ends."
    assert hosts.word_on_keeping(Path("/content/runs")) == said
    assert hosts.word_on_keeping(Path("/content/drive/MyDrive/runs")) == ""
