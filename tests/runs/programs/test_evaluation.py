"""The weights that an evaluation uses, and the errors if there are none or the test fails."""

import sys
from pathlib import Path

import pytest

from tests.runs.records.written_run import WrittenRun
from tests.runs.run_folders import Runs, write_checkpoint
from workbench.runs import Run, RunError
from workbench.runs.programs.evaluation import weights_in_words


def finish(run: Run, at: float = 3) -> None:
    """Write the end of a run that saved its model."""
    written = WrittenRun(run)
    written.event("start", at=at - 1, step=0)
    written.event("finished", at=at, step=60)
    written.state("finished", at=at)
    (run.dir / "model.keras").touch()


def test_a_finished_run_is_evaluated_with_its_saved_model(runs: Runs) -> None:
    run = runs.make()
    write_checkpoint(run.dir, 1)
    finish(run)
    assert run.evaluated_step is None
    assert weights_in_words(run.evaluated_step) == "the saved model"


@pytest.mark.parametrize("state", ["stopped", "failed", "starting"])
def test_a_run_that_did_not_finish_is_evaluated_with_its_last_checkpoint(
    written: WrittenRun, state: str
) -> None:
    for number, step in enumerate((30, 1250), start=1):
        written.event("checkpoint", at=number, step=step, checkpoint=f"ckpt-{number}")
        write_checkpoint(written.run.dir, number)
    written.state(state, at=3)
    written.dead()
    assert written.run.evaluated_step == 1250
    words = "the weights of step 1,250, the last checkpoint"
    assert weights_in_words(written.run.evaluated_step) == words


def test_an_incomplete_checkpoint_is_not_evaluated(written: WrittenRun) -> None:
    written.event("checkpoint", at=1, step=30, checkpoint="ckpt-1")
    written.event("checkpoint", at=2, step=50, checkpoint="ckpt-2")
    folder = written.run.dir / "checkpoints"
    for number in (1, 2):
        write_checkpoint(written.run.dir, number)
    names = [f'all_model_checkpoint_paths: "ckpt-{number}"' for number in (1, 2)]
    (folder / "checkpoint").write_text("\n".join(['model_checkpoint_path: "ckpt-2"', *names]))
    written.state("stopped", at=3)
    written.dead()
    assert written.run.evaluated_step == 50
    (folder / "ckpt-2.data-00000-of-00001").unlink()
    assert written.run.evaluated_step == 30


def test_a_run_stopped_after_it_was_continued_is_not_evaluated_with_its_old_model(
    written: WrittenRun,
) -> None:
    finish(written.run)
    written.event("start", at=4, step=60)
    written.event("checkpoint", at=5, step=80, checkpoint="ckpt-1")
    write_checkpoint(written.run.dir, 1)
    written.state("stopped", at=6)
    written.dead()
    assert written.run.evaluated_step == 80


def test_a_finished_run_that_could_not_save_its_model_has_a_checkpoint_or_the_reason(
    written: WrittenRun,
) -> None:
    finish(written.run)
    written.dead()
    (written.run.dir / "model.keras").unlink()
    written.event("model_not_saved", at=3, error="Disk quota exceeded")
    with pytest.raises(RunError, match=r"no model\.keras\. It could not be saved: Disk quota"):
        written.run.evaluate()
    written.event("checkpoint", at=2, step=60, checkpoint="ckpt-1")
    write_checkpoint(written.run.dir, 1)
    assert written.run.evaluated_step == 60


def test_a_run_without_a_checkpoint_is_refused_with_the_change_that_helps(runs: Runs) -> None:
    run = runs.make()
    WrittenRun(run).state("stopped")
    with pytest.raises(RunError) as raised:
        run.evaluate()
    assert str(raised.value) == (
        f"There are no weights to evaluate yet: {run.dir} is stopped, and no checkpoint of it is "
        "complete. Resume it, then let it finish or stop it: both save its weights."
    )
    with pytest.raises(RunError, match=r"has no model\.keras.*Let the run finish"):
        run.load_model()


def test_a_living_run_is_not_evaluated(written: WrittenRun) -> None:
    written.state("running", at=1)
    with pytest.raises(
        RunError, match=r"evaluated, because it is not over \(running\)\. Stop it first"
    ):
        written.run.evaluate()


def test_a_missing_interpreter_is_named(runs: Runs, tmp_path: Path) -> None:
    run = runs.make(interpreter=str(tmp_path / "python"))
    finish(run)
    with pytest.raises(RunError, match=f"{tmp_path / 'python'}.*Put that interpreter back"):
        run.evaluate()


def test_the_end_of_the_log_of_a_failed_test_is_reported(runs: Runs, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    run = runs.make(interpreter=str(bare))
    finish(run)
    with pytest.raises(RunError, match=r"failed: .*No module named") as raised:
        run.evaluate()
    assert "pip install" in str(raised.value) or "Install the package" in str(raised.value)
