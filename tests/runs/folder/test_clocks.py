"""Tasks on hosts whose clock differs from the supervisor's: their times are made comparable."""

from collections.abc import Iterator

import numpy as np
import pytest

from tests.runs.records.written_run import NOW, WrittenRun
from tests.runs.run_folders import Runs
from workbench.runs import Run
from workbench.runs.records.ledger import Ledger, read_ledger
from workbench.runs.records.staleness import FILE

TWO = ("worker-0", "worker-1")
LED = ("chief-0", "worker-0", "ps-0")
AHEAD = pytest.mark.parametrize("ahead", [600.0, -600.0, 0.0])
HOSTS = pytest.mark.parametrize(
    ("first", "second"),
    [(600.0, 0.0), (0.0, 600.0), (-600.0, 0.0), (0.0, -600.0), (600.0, -600.0), (0.0, 0.0)],
)
"""How far the clocks of the hosts of two attempts are ahead."""


@pytest.fixture
def written(runs: Runs) -> Iterator[WrittenRun]:
    """A living run of one task that steps and is timed by its own clock, without events."""
    made = WrittenRun(runs.make())
    made.alive()
    yield made
    made.dead()


def begin(written: WrittenRun, at: float = 0.0, ahead: float = 0.0) -> None:
    """Write the start of an attempt of a job, until its task has met the others."""
    written.state("queued", at=at)
    written.state("starting", at=at + 1, job="1")
    written.state("starting", at=at + 3, job="1", tf_configs={"worker-0": {}})
    written.ahead_seconds = ahead
    if ahead:
        task = written.task.dir.name
        written.silence("clock_differs", at=at + 4, task=task, ahead_seconds=ahead)


def train(written: WrittenRun, at: float, step: int = 0, segment: int = 0) -> None:
    """Write 20 steps of an attempt that began at `at`."""
    written.event("imported", at=at + 5)
    written.event("start", at=at + 6, step=step)
    written.event("tracing", at=at + 7)
    written.event("traced", at=at + 9, seconds=2.0)
    written.state("running", at=at + 10)
    for call in (0, 1):
        first = step + 10 * call
        written.call(segment, step, first=first, count=10, at=at + 10 + call, seconds=0.5)


def moments(run: Run) -> list[tuple[str, float]]:
    """Return the events of a run in order, each with its seconds since the run began."""
    return [(str(e.get("state") or e["event"]), e["time"] - NOW) for e in run.events()]


def entries(ledger: Ledger) -> dict[str, float]:
    return {each.name: round(each.seconds, 3) for each in (*ledger.first_step, *ledger.whole)}


@AHEAD
def test_phase_stage_and_rate_follow_the_task(written: WrittenRun, ahead: float) -> None:
    begin(written, ahead=ahead)
    written.event("imported", at=5)
    assert written.run.progress.doing == "Building the model"
    written.event("start", at=6, step=0)
    assert written.run.progress.phase == "tracing"
    written.event("traced", at=9, seconds=2.0)
    for call in range(3):
        written.call(0, 0, first=10 * call, count=10, at=10 + call)
    written.state("running", at=12)
    progress = written.run.progress
    assert (progress.phase, progress.step) == ("training", 30)
    assert progress.steps_per_second == pytest.approx(20 / 1.5)
    assert written.run.missing == []


@AHEAD
def test_the_calls_of_a_chief_are_timed_by_the_chief(runs: Runs, ahead: float) -> None:
    run = runs.make(tasks=LED)
    chief, worker = (WrittenRun(run, task) for task in LED[:2])
    chief.alive()
    begin(chief, ahead=ahead)
    worker.ahead_seconds = ahead
    chief.event("imported", at=5)
    chief.event("start", at=6, step=0)
    for call in range(2):
        worker.call(0, 0, first=10 * call, count=10, at=10 + call)
    assert (run.progress.phase, run.progress.step) == ("training", 20)
    times = run.replica_steps(["time"])["time"].to_numpy() - NOW
    assert [times.min(), times.max()] == pytest.approx([10.05, 11.5])
    assert read_ledger(run.dir, now=NOW + 20).whole[-1].seconds == pytest.approx(0.5)
    chief.dead()


@AHEAD
def test_a_resume_begins_without_the_events_of_the_attempt_before(
    written: WrittenRun, ahead: float
) -> None:
    begin(written, ahead=ahead)
    train(written, at=0)
    written.event("checkpoint", at=12, step=20)
    written.event("stopped", at=12, step=20)
    written.state("stopped", at=13)
    written.state("queued", at=20)
    written.state("starting", at=21, job="2")  # its clock is not yet compared
    assert written.run.progress.phase == "starting"
    begin(written, at=20, ahead=ahead)
    assert written.run.progress.phase == "starting"
    written.event("imported", at=25)
    written.event("start", at=26, step=20)
    assert (written.run.progress.phase, written.run.progress.step) == ("tracing", 20)


@HOSTS
@pytest.mark.parametrize("again", [20, 1000])
def test_a_resume_on_another_host_begins_without_the_calls_of_the_attempt_before(
    written: WrittenRun, first: float, second: float, again: float
) -> None:
    begin(written, ahead=first)
    train(written, at=0)
    written.state("failed", at=13)
    begin(written, at=again, ahead=second)
    written.event("imported", at=again + 5)
    written.event("start", at=again + 6, step=10)
    assert (written.run.progress.phase, written.run.progress.step) == ("tracing", 10)
    written.call(1, 10, first=10, count=5, at=again + 10)
    assert (written.run.progress.phase, written.run.progress.step) == ("training", 15)


@HOSTS
@pytest.mark.parametrize("again", [20, 1000])
def test_all_events_are_in_the_order_in_which_they_happened(
    written: WrittenRun, first: float, second: float, again: float
) -> None:
    begin(written, ahead=first)
    train(written, at=0)
    written.state("failed", at=13)
    begin(written, at=again, ahead=second)
    train(written, at=again, step=20, segment=1)
    found = [each for each in moments(written.run) if each[0] != "clock_differs"]
    attempt = [
        *(("queued", 0), ("starting", 1), ("starting", 3), ("imported", 5), ("start", 6)),
        *(("tracing", 7), ("traced", 9), ("running", 10)),
    ]
    later = [(name, at + again) for name, at in attempt]
    assert found == [*attempt, ("failed", 13), *later]
    times = written.run.replica_steps(["time"])["time"].to_numpy() - NOW
    assert times[[0, -1]] == pytest.approx([10.05, again + 11.5])


@HOSTS
@pytest.mark.parametrize("again", [20, 650])
def test_an_attempt_without_calls_does_not_hide_the_calls_of_the_next(
    written: WrittenRun, first: float, second: float, again: float
) -> None:
    for at, ahead in ((0, first), (again, second)):
        begin(written, at=at, ahead=ahead)
        written.event("imported", at=at + 5)
        written.event("start", at=at + 6, step=0)
        if at == 0:
            written.state("failed", at=13)
    written.call(0, 0, first=0, count=10, at=again + 10)
    assert (written.run.progress.phase, written.run.progress.step) == ("training", 10)


def test_a_task_that_begins_before_its_supervisor_sees_it_is_of_this_attempt(
    written: WrittenRun,
) -> None:
    written.state("queued", at=0)
    written.event("imported", at=0.5)
    written.event("start", at=0.75, step=0)
    written.state("queued", at=1, job="1", behind=[])
    written.state("starting", at=2, job="1")
    written.state("starting", at=3, job="1", tf_configs={"worker-0": {}})
    assert written.run.progress.phase == "tracing"


@pytest.mark.parametrize(("job", "phase"), [("1", "training"), ("2", "starting")])
def test_a_job_that_another_supervisor_follows_goes_on_with_its_attempt(
    written: WrittenRun, job: str, phase: str
) -> None:
    begin(written)
    train(written, at=0)
    written.state("queued", at=20, supervisor_pid=2)
    written.state("starting", at=22, job=job)
    progress = written.run.progress
    assert progress.phase == phase
    assert (progress.steps_per_second is None) == (job == "2")


@HOSTS
def test_the_ledger_of_attempts_on_other_hosts_is_exact(
    written: WrittenRun, first: float, second: float
) -> None:
    begin(written, ahead=first)
    train(written, at=0)
    written.state("failed", at=13)
    begin(written, at=20, ahead=second)
    train(written, at=20, step=20, segment=1)
    written.event("finished", at=32, step=40)
    written.state("finished", at=33)
    written.dead()
    assert entries(read_ledger(written.run.dir)) == {
        **{"queue": 2.0, "start": 5.0, "data": 1.0, "trace": 4.0, "first step": 0.5},
        **{"start-up": 12.0, "steps": 2.0, "other": 6.0},
    }


@AHEAD
def test_an_end_without_a_supervisor_counts_for_its_own_attempt(
    written: WrittenRun, ahead: float
) -> None:
    begin(written, ahead=ahead)
    train(written, at=0)
    written.event("finished", at=12, step=60)
    written.dead()
    assert written.run.status == "finished"
    written.alive()
    begin(written, at=20)
    written.dead()
    assert written.run.status == "lost"


@AHEAD
def test_a_clock_that_is_set_right_meanwhile_hides_nothing(
    written: WrittenRun, ahead: float
) -> None:
    begin(written, ahead=ahead)
    train(written, at=0)
    written.ahead_seconds = 0.0
    written.event("test", at=12, epoch=1)
    written.event("epoch", at=13, epoch=1, step=30)
    assert (written.run.progress.phase, written.run.progress.step) == ("training", 30)


def test_staleness_is_unknown_if_the_clocks_of_workers_differ(runs: Runs) -> None:
    run = runs.make(tasks=("chief-0", *TWO, "ps-0"))
    writers = [WrittenRun(run, task) for task in TWO]
    for writer in writers:
        (writer.task.dir / FILE).write_bytes(np.array([[0, NOW, NOW + 1]], "<f8").tobytes())
    begin(writers[0], ahead=600.0)
    assert run.staleness().empty
    writers[1].silence("clock_differs", at=4, task="worker-1", ahead_seconds=600.5)
    assert len(run.staleness()) == 2
