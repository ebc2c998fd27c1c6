"""The code that a resume of a foreign run executes, as a person sees it."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.runs.run_folders import replan
from tests.widgets.folders import CONFIG, write_run
from workbench import make_plan, render_script
from workbench.runs import Run, RunError
from workbench.runs.consent import foreign_code
from workbench.runs.folder.files import json_text
from workbench.runs.folder.trust import trust


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    made = write_run(tmp_path / "runs", "stopped")
    (made.dir / "devices.json").write_text(json_text(LAPTOP.to_json()))
    change(made, "run.json", interpreter="/evil/python", working_dir=str(tmp_path))
    return made


def change(run: Run, name: str, **values: Any) -> None:
    before = json.loads((run.dir / name).read_text())
    (run.dir / name).write_text(json.dumps({**before, **values}))


def test_a_person_sees_interpreter_folder_and_script_and_agrees_to_them_together(
    run: Run, tmp_path: Path
) -> None:
    code = foreign_code(run.dir)
    assert code is not None
    assert code.script == run.script
    assert (code.interpreter, code.working_dir) == ("/evil/python", str(tmp_path))
    assert (
        f"would run /evil/python in {tmp_path}, with modules from there (sha256 {code.digest})"
        in str(code)
    )
    assert foreign_code(run.dir, agreed="0" * 64) == code
    assert foreign_code(run.dir, agreed=code.digest) is None
    change(run, "run.json", interpreter="/more/evil")
    changed = foreign_code(run.dir, agreed=code.digest)
    assert changed is not None
    assert changed.interpreter == "/more/evil"


@pytest.mark.parametrize("name", ["own_code/mine.py", "own_code/tensorflow/__init__.py"])
def test_a_person_sees_the_own_files_that_the_script_imports(name: str, run: Run) -> None:
    (run.dir / name).parent.mkdir(parents=True)
    (run.dir / name).write_text("print('evil')\n")
    code = foreign_code(run.dir)
    assert code is not None
    assert code.script == f"{run.script}\n\n# {name}\nprint('evil')\n"
    (run.dir / name).write_text("print('more evil')\n")
    assert foreign_code(run.dir, agreed=code.digest) is not None


def test_a_run_that_this_machine_started_needs_no_agreement(run: Run) -> None:
    trust(run.dir)
    assert foreign_code(run.dir) is None
    assert foreign_code(run.dir, 4) is None


def test_more_epochs_show_the_script_that_they_write(run: Run) -> None:
    code, unchanged = foreign_code(run.dir, 4), foreign_code(run.dir, CONFIG.epochs)
    longer = render_script(make_plan(dataclasses.replace(CONFIG, epochs=4), LAPTOP))
    assert code is not None
    assert code.script == longer != run.script
    assert unchanged == foreign_code(run.dir)
    assert unchanged is not None
    assert unchanged.script == run.script
    assert foreign_code(run.dir, 4, agreed=unchanged.digest) == code
    assert foreign_code(run.dir, 4, agreed=code.digest) is None
    with pytest.raises(RunError, match="counts from its beginning"):
        foreign_code(run.dir, 1)


@pytest.mark.parametrize("name", ["tensorflow.py", "tensorflow/__init__.py", "rehearsal/train.py"])
def test_a_run_with_more_code_than_its_script_is_left_to_the_terminal(name: str, run: Run) -> None:
    (run.dir / name).parent.mkdir(exist_ok=True)
    (run.dir / name).write_text("print('evil')")
    more = {"rehearsal/train.py": "the script in rehearsal"}.get(name, name)
    with pytest.raises(
        RunError, match=f"more than its script: {more}.*workbench runs resume {run.dir}"
    ):
        foreign_code(run.dir)


def test_a_job_is_left_to_the_terminal_because_it_has_its_own_environment(run: Run) -> None:
    replan(run, config=dataclasses.replace(CONFIG, launcher="slurm", job_setup="evil"))
    with pytest.raises(RunError, match="executes more than its script: a job of slurm"):
        foreign_code(run.dir)


def test_the_earlier_scripts_of_a_run_are_no_modules(run: Run) -> None:
    (run.dir / "train-1.py").write_text("print('earlier')")
    assert foreign_code(run.dir) is not None
