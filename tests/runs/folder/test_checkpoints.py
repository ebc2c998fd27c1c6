"""The step at which a resume goes on, found without TensorFlow."""

from tests.runs.records.written_run import WrittenRun
from tests.runs.run_folders import write_checkpoint
from workbench.runs.folder.checkpoints import last_whole_step


def test_without_a_checkpoint_a_resume_begins_again(written: WrittenRun) -> None:
    written.call(0, 0, first=0, count=50, at=0)
    assert written.run.resume_step == 0


def test_a_resume_goes_on_from_the_step_of_the_last_checkpoint(written: WrittenRun) -> None:
    for number, step in enumerate((30, 50), start=1):
        written.event("checkpoint", at=number, step=step, checkpoint=f"ckpt-{number}")
        write_checkpoint(written.run.dir, number)
    written.call(0, 0, first=0, count=55, at=3)
    assert written.run.resume_step == 50


def test_a_checkpoint_of_an_earlier_release_has_the_step_of_the_last_event(
    written: WrittenRun,
) -> None:
    written.event("checkpoint", at=1, step=30)
    write_checkpoint(written.run.dir, 7)
    assert written.run.resume_step == 30


def test_the_last_complete_checkpoint_may_be_an_earlier_one(written: WrittenRun) -> None:
    assert last_whole_step(written.run.dir) is None
    for number, step in enumerate((30, 50), start=1):
        written.event("checkpoint", at=number, step=step, checkpoint=f"ckpt-{number}")
        write_checkpoint(written.run.dir, number)
    (written.run.dir / "checkpoints" / "checkpoint").unlink()  # so all that lie there count
    assert last_whole_step(written.run.dir) == 50
    (written.run.dir / "checkpoints" / "ckpt-2.data-00000-of-00001").unlink()
    assert last_whole_step(written.run.dir) == 30


def test_the_step_is_unknown_if_no_event_names_the_last_checkpoint(written: WrittenRun) -> None:
    write_checkpoint(written.run.dir, 1)
    assert written.run.resume_step is None
    written.event("checkpoint", at=1, step=50, checkpoint="ckpt-2")
    assert written.run.resume_step is None
    written.event("checkpoint", at=2, step=30, checkpoint="ckpt-1")
    assert written.run.resume_step == 30


def test_the_step_is_unknown_if_the_last_checkpoint_is_damaged_or_gone(
    written: WrittenRun,
) -> None:
    written.event("checkpoint", at=1, step=30)
    assert written.run.resume_step is None
    write_checkpoint(written.run.dir, 1)
    (written.run.dir / "checkpoints" / "ckpt-1.data-00000-of-00001").unlink()
    assert written.run.resume_step is None
