"""The inspection of a published data set while the form stays usable."""

import dataclasses
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from tests.waiting import until
from workbench import RunConfig, catalog
from workbench.widgets.form.form import Form


def test_data_that_cannot_be_downloaded_is_a_problem_until_its_files_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    row = catalog.DATA["fashion_mnist"]
    absent = dataclasses.replace(row, packaged=str(tmp_path), url="http://127.0.0.1:9/")
    monkeypatch.setitem(catalog.DATA, "fashion_mnist", absent)  # type: ignore[arg-type]
    form = Form(RunConfig(data="fashion_mnist"), LAPTOP)
    (problem,) = until(lambda: form.state.problems)
    assert (problem.field, problem.fix) == ("data", row.remedy)
    assert form.state.plan is not None
    (field,) = form.parts.named("data")
    assert "Connect this machine to the internet" in until(lambda: field.problems)
    for name in row.files:
        (tmp_path / name).touch()
    form.refresh()
    assert form.state.problems == ()
