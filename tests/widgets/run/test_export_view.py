"""Report and export: the opened run is saved next to its folder, never overwriting, and offered."""

from __future__ import annotations

import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.bundle.bundles import certified_run
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from workbench.exports import tables
from workbench.runs import Run
from workbench.widgets.kernel.download import DownloadWidget
from workbench.widgets.run.export_kinds import KINDS, Saved
from workbench.widgets.run.export_view import ExportView, saved_html

ENDINGS = {
    "html": ".html",
    "csv": "-csv",
    "parquet": "-parquet",
    "tensorboard": "-tensorboard",
    "bundle": "-bundle.zip",
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return certified_run(tmp_path / "runs")


def page_of(run: Run) -> ExportView:
    page = ExportView()
    page.show(run, run.status)
    return page


def save(page: ExportView, kind: str = "html") -> str:
    """Save as this kind and return the message."""
    page._kind.write(kind)
    page._save.click()
    until(lambda: not page._save.disabled)
    return str(page._state.value)


def offered(page: ExportView) -> DownloadWidget:
    """Return the widget of the download that is offered now."""
    (widget,) = page._download.children
    assert isinstance(widget, DownloadWidget)
    return widget


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_saved_next_to_the_run_and_can_be_downloaded(kind: str, run: Run) -> None:
    page = page_of(run)
    shown = save(page, kind)
    path = run.dir.with_name(f"{run.id}{ENDINGS[kind]}")
    assert path.exists()
    assert f"Saved {path}, " in shown
    widget = offered(page)
    assert widget._make is not None
    made = widget._make()
    assert widget.label == f"Download {made.name}"
    if path.is_dir():
        assert made.name == f"{path.name}.zip"
        with zipfile.ZipFile(made) as file:
            names = {name.rstrip("/") for name in file.namelist()}
        assert {str(each.relative_to(path.parent)) for each in path.rglob("*")} <= names
        assert widget._place == path
    else:
        assert made == path
        assert widget._place is None


def test_the_next_command_is_shown(run: Run) -> None:
    page = page_of(run)
    assert f"tensorboard --logdir {run.dir}-tensorboard" in save(page, "tensorboard")
    assert f"workbench run --config {run.id}-bundle.zip" in save(page, "bundle")
    assert "<pre" not in save(page, "csv")


def test_modules_missing_from_a_bundle_are_named() -> None:
    saved = Saved(Path("run-bundle.zip"), 2048, modules=("<mine>",))
    assert "The script imports &lt;mine&gt;, which no package provides." in saved_html(saved)


def test_what_the_certificate_of_a_bundle_states_is_shown() -> None:
    saved = Saved(Path("run-bundle.zip"), 2048, certificate="There is none: <why>.")
    assert "There is none: &lt;why&gt;." in saved_html(saved)


def test_nothing_is_overwritten_and_the_next_free_name_is_proposed(run: Run) -> None:
    page = page_of(run)
    save(page)
    first = run.dir.with_name(f"{run.id}.html")
    text = first.read_text()
    second = run.dir.with_name(f"{run.id}-2.html")
    assert page._path.read() == str(second)
    assert f"Saved {second}, " in save(page)
    page._path.write(str(first))
    shown = save(page)
    assert "Problem" in shown
    assert "An export never overwrites" in shown
    assert "Choose another name, or remove it first." in shown
    assert page._download.children == ()
    assert page._path.read() == str(first)
    assert first.read_text() == text


def test_each_kind_and_each_run_has_its_own_file_name(run: Run, tmp_path: Path) -> None:
    page = page_of(run)
    page._kind.write("csv")
    assert page._path.read() == f"{run.dir}-csv"
    other = write_run(tmp_path / "runs")
    save(page, "csv")
    page.show(run, "finished")
    assert "Saved" in page._state.value
    page.show(other, "finished")
    assert page._path.read() == f"{other.dir}-csv"
    assert page._state.value == ""
    assert page._download.children == ()


def test_a_name_may_be_typed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = page_of(run)
    page._path.write("mine.html")
    assert f"Saved {tmp_path / 'mine.html'}, " in save(page)
    page._path.write("")
    assert f"Saved {run.dir}.html, " in save(page)
    page._path.write("none/mine.html")
    assert "needs a folder that can be written" in save(page)


def test_a_missing_package_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    shown = save(page_of(run), "parquet")
    assert "needs the package pyarrow" in shown
    assert "tf-distribute-workbench[export]" in shown
    assert not Path(f"{run.dir}-parquet").exists()


def test_a_bundle_needs_a_finished_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", "stopped", steps=78)
    assert "Only a finished run can be bundled" in save(page_of(run), "bundle")


def test_long_saving_shows_its_progress_and_can_be_stopped(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, going_on = page_of(run), threading.Event()
    whole = tables.TABLES["epochs"]

    def waits(run: Run) -> Any:
        going_on.wait(LIMIT_SECONDS)
        return whole(run)

    monkeypatch.setitem(tables.TABLES, "epochs", waits)
    page._kind.write("csv")
    page._save.click()
    until(lambda: "2 of 3 parts written, about" in page._state.value)
    assert page._save.disabled
    assert page._end.layout.display is None
    page._end.click()
    going_on.set()
    until(lambda: not page._save.disabled)
    assert "Stopped; nothing was saved." in page._state.value
    assert page._end.layout.display == "none"
    assert [path.name for path in run.dir.parent.iterdir() if "csv" in path.name] == []
