"""The places of exports, and the errors of impossible exports."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.widgets.folders import write_run
from workbench.exports import FORMATS, export_runs
from workbench.runs import Run, RunError
from workbench.runs.folder.files import json_text, read_json


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    root = tmp_path_factory.mktemp("runs")
    return [write_run(root, name="<b>one</b>"), write_run(root, steps=78, state="stopped")]


READ = {"csv": pd.read_csv, "parquet": pd.read_parquet}


@pytest.mark.parametrize("name", READ)
def test_tables_hold_the_frames_of_each_run(name: str, runs: list[Run], tmp_path: Path) -> None:
    folder = export_runs(runs, name, tmp_path / "tables")
    for run in runs:
        for table in ("steps", "replica_steps", "epochs"):
            read = READ[name](folder / table / f"{run.id}.{name}")
            assert set(read["run"]) == {run.id}
            frame = getattr(run, table)()
            check_dtype = name == "parquet"
            pd.testing.assert_frame_equal(read.drop(columns="run"), frame, check_dtype=check_dtype)


def test_parquet_of_several_runs_is_read_as_one_frame(runs: list[Run], tmp_path: Path) -> None:
    folder = export_runs(runs, "parquet", tmp_path / "tables")
    assert len(pd.read_parquet(folder / "steps")) == 156 + 78


def test_a_table_of_runs_has_the_result_and_the_config_of_each_run(
    runs: list[Run], tmp_path: Path
) -> None:
    about = pd.read_csv(export_runs(runs, "csv", tmp_path / "tables") / "runs.csv")
    assert about["run"].tolist() == [run.id for run in runs]
    assert about["name"].tolist()[0] == "<b>one</b>"
    assert about["status"].tolist() == ["finished", "stopped"]
    assert about["config.strategy"].tolist() == ["mirrored", "mirrored"]
    assert about["global_batch_size"].tolist() == [128, 128]


def test_the_default_name_is_the_id_of_the_run_or_runs(
    runs: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert export_runs(runs[:1], "csv") == tmp_path / f"{runs[0].id}-csv"
    assert export_runs(runs, "csv") == tmp_path / "runs-csv"


def test_nothing_is_overwritten_and_no_partial_export_is_left(
    runs: list[Run], tmp_path: Path
) -> None:
    (tmp_path / "tables").mkdir()
    for name in FORMATS:
        with pytest.raises(RunError, match=r"never overwrites; .*tables exists already. Choose"):
            export_runs(runs, name, tmp_path / "tables")
        with pytest.raises(
            RunError, match=r"can be written; .*/no/such/folder: No such file.*Make room"
        ):
            export_runs(runs, name, tmp_path / "no" / "such" / "folder")
    assert list(tmp_path.iterdir()) == [tmp_path / "tables"]
    assert list((tmp_path / "tables").iterdir()) == []


def test_wrong_formats_and_runs_are_refused(runs: list[Run], tmp_path: Path) -> None:
    with pytest.raises(
        RunError, match=r"'xlsx' is not an export format\. Choose one of csv, parquet,"
    ):
        export_runs(runs, "xlsx", tmp_path / "x")
    with pytest.raises(RunError, match=rf"Named more than once: {runs[0].id}\. Name each run once"):
        export_runs([runs[0], *runs], "csv", tmp_path / "x")
    with pytest.raises(RunError, match=r"There is no run to export\. Name a run"):
        export_runs([], "csv", tmp_path / "x")


def test_files_have_the_name_of_the_folder_whatever_id_is_in_run_json(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs")
    card = read_json(run.dir / "run.json")
    (run.dir / "run.json").write_text(json_text({**card, "id": "../../outside"}))
    folder = export_runs([Run(run.dir)], "csv", tmp_path / "tables")
    assert [path.name for path in (folder / "steps").iterdir()] == [f"{run.dir.name}.csv"]


@pytest.mark.parametrize(("name", "package"), [("parquet", "pyarrow"), ("tensorboard",) * 2])
def test_a_format_names_the_missing_package_that_it_needs(
    name: str, package: str, runs: list[Run], tmp_path: Path
) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"  # as if it were not installed
        "from workbench import open_run; from workbench.exports import export_runs\n"
        f"export_runs([open_run(sys.argv[1])], {name!r}, sys.argv[2])\n"
    )
    command = [sys.executable, "-c", code, str(runs[0].dir), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"RunError: The format {name} needs the package {package}: " in done.stderr
    assert 'pip install "tf-distribute-workbench[export]", or export csv.' in done.stderr
    assert list(tmp_path.iterdir()) == []
