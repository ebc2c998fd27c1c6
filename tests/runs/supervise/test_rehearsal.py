"""A rehearsal: two steps of the user's own model, before the run itself begins."""

from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.waiting import until
from workbench.config import RunConfig
from workbench.runs import Run, start_run
from workbench.runs.folder.files import REHEARSAL_FOLDER
from workbench.runs.folder.trust import is_trusted
from workbench.runs.supervise.rehearsal import NOTE, trouble_in

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_rehearsed.py"


def start(root: Path, model: str, **fields: Any) -> Run:
    sizes = {"synthetic_examples": 320, "epochs": 1, "loop": "fit", **fields}
    return start_run(RunConfig(model=f"{FILE}:{model}", **sizes), root, LAPTOP)


def rehearsals(run: Run) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["event"] == "rehearsed"]


def test_a_plan_is_rehearsed_once_and_its_folder_is_removed(tmp_path: Path) -> None:
    first = start(tmp_path, "right")
    until(lambda: first.progress.note == NOTE)
    assert first.wait() == "finished"
    assert len(rehearsals(first)) == 1
    assert not (first.dir / REHEARSAL_FOLDER).exists()
    assert is_trusted(first.dir)
    assert "rehearsal" in [entry.name for entry in first.ledger.first_step]
    again, other = start(tmp_path, "right"), start(tmp_path, "right", seed=1)
    with_norms = start(tmp_path, "right", gradient_norms=True)
    assert again.wait() == other.wait() == with_norms.wait() == "finished"
    assert [len(rehearsals(run)) for run in (again, other, with_norms)] == [0, 1, 1]


@pytest.mark.parametrize("where", ["rehearsed_module", "rehearsed_module.py"])
def test_own_code_that_changed_is_rehearsed_again(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "rehearsed_module.py"
    module.write_text(FILE.read_text())
    counts = []
    for more in ("", "", "# changed"):
        module.write_text(f"{module.read_text()}{more}")
        config = RunConfig(model=f"{where}:right", synthetic_examples=320, epochs=1)
        run = start_run(config, tmp_path / "runs", LAPTOP)
        assert run.wait() == "finished"
        counts.append(len(rehearsals(run)))
    assert counts == [1, 0, 1]


@pytest.mark.promise
def test_an_error_of_the_test_pass_appears_before_the_first_step(tmp_path: Path) -> None:
    run = start(tmp_path, "untestable")
    assert run.wait() == "failed"
    failure = run.failure
    assert failure is not None
    assert failure.cause.startswith("In a rehearsal of two steps, before the run itself: ")
    assert "start a new run with the same settings" in failure.fix
    assert "in test_step" in failure.log_tail
    assert run.result()["steps"] == 0


def test_a_nonfinite_loss_in_a_rehearsal_has_the_usual_fix(tmp_path: Path) -> None:
    run = start(tmp_path, "explosive")
    assert run.wait() == "failed"
    failure = run.failure
    assert failure is not None
    assert "before the run itself: The loss was not a finite number at step 1" in failure.cause
    assert "Lower the learning rate" in failure.fix


def test_a_model_that_cannot_be_saved_is_reported_and_trained(tmp_path: Path) -> None:
    run = start(tmp_path, "unsaveable")
    assert run.wait() == "finished"
    assert "This model cannot be saved at the end, only its checkpoints" in trouble_in(run.events())
    assert "The trained model could not be saved" in run.progress.note
    assert "get_config" in run.progress.note
    assert run.evaluated_step == run.result()["steps"]


def test_a_rehearsal_can_be_stopped(tmp_path: Path) -> None:
    run = start(tmp_path, "slow")
    until(lambda: run.progress.note == NOTE)
    run.stop()
    assert run.wait() == "stopped"


def test_a_script_fixed_by_hand_is_not_rehearsed(tmp_path: Path) -> None:
    run = start(tmp_path, "untestable")
    run.wait()
    script = run.dir / "train.py"
    script.write_text(run.script.replace("import untestable", "import right as untestable"))
    run.resume()
    assert run.wait() == "finished"


def test_models_of_the_catalogue_are_not_rehearsed(tmp_path: Path) -> None:
    run = start_run(RunConfig(synthetic_examples=320, epochs=1), tmp_path, LAPTOP)
    assert run.wait() == "finished"
    assert rehearsals(run) == []
