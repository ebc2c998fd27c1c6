"""Tasks on hosts whose clock differs from the supervisor's: their times are made comparable."""

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


def begin(living: WrittenRun, at: float = 0.0, ahead: float = 0.0) -> None:
    """Write the start of an attempt of a job, until its task has met the others."""
    living.state("queued", at=at)
    living.state("starting", at=at + 1, job="1")
    living.state("starting", at=at + 3, job="1", tf_configs={"worker-0": {}})
    living.ahead_seconds = ahead
    if ahead:
        task = living.task.dir.name
        living.silence("clock_differs", at=at + 4, task=task, ahead_seconds=ahead)


def train(living: WrittenRun, at: float, step: int = 0, attempt: int = 0) -> None:
    """Write 20 steps of an attempt that began at `at`."""
    living.event("imported", at=at + 5)
    living.event("start", at=at + 6, step=step)
    living.event("tracing", at=at + 7)
    living.event("traced", at=at + 9, seconds=2.0)
    living.state("running", at=at + 10)
    for call in (0, 1):
        first = step + 10 * call
        living.call(attempt, step, first=first, count=10, at=at + 10 + call, seconds=0.5)


def fail_and_begin(living: WrittenRun, first: float, second: float, again: float) -> None:
    """Write an attempt that fails after 20 steps, and the start of the next one on another host."""
    begin(living, ahead=first)
    train(living, at=0)
    living.state("failed", at=13)
    begin(living, at=again, ahead=second)


def moments(run: Run) -> list[tuple[str, float]]:
    """Return the events of a run in order, each with its seconds since the run began."""
    return [(str(e.get("state") or e["event"]), e["time"] - NOW) for e in run.events()]


def entries(ledger: Ledger) -> dict[str, float]:
    return {each.name: round(each.seconds, 3) for each in (*ledger.first_step, *ledger.whole)}


@AHEAD
def test_phase_stage_and_rate_follow_the_task(living: WrittenRun, ahead: float) -> None:
    begin(living, ahead=ahead)
    living.event("imported", at=5)
    assert living.run.progress.doing == "Building the model"
    living.event("start", at=6, step=0)
    assert living.run.progress.phase == "tracing"
    living.event("traced", at=9, seconds=2.0)
    for call in range(3):
        living.call(0, 0, first=10 * call, count=10, at=10 + call)
    living.state("running", at=12)
    progress = living.run.progress
    assert (progress.phase, progress.step) == ("training", 30)
    assert progress.steps_per_second == pytest.approx(20 / 1.5)
    assert living.run.missing == []


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
    living: WrittenRun, ahead: float
) -> None:
    begin(living, ahead=ahead)
    train(living, at=0)
    living.event("checkpoint", at=12, step=20)
    living.event("stopped", at=12, step=20)
    living.state("stopped", at=13)
    living.state("queued", at=20)
    living.state("starting", at=21, job="2")  # its clock is not yet compared
    assert living.run.progress.phase == "starting"
    begin(living, at=20, ahead=ahead)
    assert living.run.progress.phase == "starting"
    living.event("imported", at=25)
    living.event("start", at=26, step=20)
    assert (living.run.progress.phase, living.run.progress.step) == ("tracing", 20)


@HOSTS
@pytest.mark.parametrize("again", [20, 1000])
def test_a_resume_on_another_host_begins_without_the_calls_of_the_attempt_before(
    living: WrittenRun, first: float, second: float, again: float
) -> None:
    fail_and_begin(living, first, second, again)
    living.event("imported", at=again + 5)
    living.begin(1, 10, at=again + 6)
    living.event("start", at=again + 6, step=10)
    assert (living.run.progress.phase, living.run.progress.step) == ("tracing", 10)
    living.call(1, 10, first=10, count=5, at=again + 10)
    assert (living.run.progress.phase, living.run.progress.step) == ("training", 15)


@HOSTS
@pytest.mark.parametrize("again", [20, 1000])
def test_all_events_are_in_the_order_in_which_they_happened(
    living: WrittenRun, first: float, second: float, again: float
) -> None:
    fail_and_begin(living, first, second, again)
    train(living, at=again, step=20, attempt=1)
    found = [each for each in moments(living.run) if each[0] != "clock_differs"]
    attempt = [
        *(("queued", 0), ("starting", 1), ("starting", 3), ("imported", 5), ("start", 6)),
        *(("tracing", 7), ("traced", 9), ("running", 10)),
    ]
    later = [(name, at + again) for name, at in attempt]
    assert found == [*attempt, ("failed", 13), *later]
    times = living.run.replica_steps(["time"])["time"].to_numpy() - NOW
    assert times[[0, -1]] == pytest.approx([10.05, again + 11.5])


@HOSTS
@pytest.mark.parametrize("again", [20, 650])
def test_an_attempt_without_calls_does_not_hide_the_calls_of_the_next(
    living: WrittenRun, first: float, second: float, again: float
) -> None:
    for at, ahead in ((0, first), (again, second)):
        begin(living, at=at, ahead=ahead)
        living.event("imported", at=at + 5)
        living.event("start", at=at + 6, step=0)
        if at == 0:
            living.state("failed", at=13)
    living.call(0, 0, first=0, count=10, at=again + 10)
    assert (living.run.progress.phase, living.run.progress.step) == ("training", 10)


def test_a_task_that_begins_before_its_supervisor_sees_it_is_of_this_attempt(
    living: WrittenRun,
) -> None:
    living.state("queued", at=0)
    living.event("imported", at=0.5)
    living.event("start", at=0.75, step=0)
    living.state("queued", at=1, job="1", behind=[])
    living.state("starting", at=2, job="1")
    living.state("starting", at=3, job="1", tf_configs={"worker-0": {}})
    assert living.run.progress.phase == "tracing"


@pytest.mark.parametrize(("job", "phase"), [("1", "training"), ("2", "starting")])
def test_a_job_that_another_supervisor_follows_goes_on_with_its_attempt(
    living: WrittenRun, job: str, phase: str
) -> None:
    begin(living)
    train(living, at=0)
    living.state("queued", at=20, supervisor_pid=2)
    living.state("starting", at=22, job=job)
    progress = living.run.progress
    assert progress.phase == phase
    assert (progress.steps_per_second is None) == (job == "2")


@HOSTS
def test_the_ledger_of_attempts_on_other_hosts_is_exact(
    living: WrittenRun, first: float, second: float
) -> None:
    fail_and_begin(living, first, second, again=20)
    train(living, at=20, step=20, attempt=1)
    living.event("finished", at=32, step=40)
    living.state("finished", at=33)
    living.dead()
    assert entries(read_ledger(living.run.dir)) == {
        **{"queue": 1.0, "start": 5.0, "data": 1.0, "trace": 4.0, "first step": 0.5},
        **{"start-up": 12.0, "steps": 2.0, "other": 6.0},
    }


@AHEAD
def test_an_end_without_a_supervisor_counts_for_its_own_attempt(
    living: WrittenRun, ahead: float
) -> None:
    begin(living, ahead=ahead)
    train(living, at=0)
    living.event("finished", at=12, step=60)
    living.dead()
    assert living.run.status == "finished"
    living.alive()
    begin(living, at=20)
    living.dead()
    assert living.run.status == "lost"


@AHEAD
def test_a_clock_that_is_set_right_meanwhile_hides_nothing(
    living: WrittenRun, ahead: float
) -> None:
    begin(living, ahead=ahead)
    train(living, at=0)
    living.ahead_seconds = 0.0
    living.event("test", at=12, epoch=1)
    living.event("epoch", at=13, epoch=1, step=30)
    assert (living.run.progress.phase, living.run.progress.step) == ("training", 30)


def test_staleness_is_unknown_if_the_clocks_of_workers_differ(runs: Runs) -> None:
    run = runs.make(tasks=("chief-0", *TWO, "ps-0"))
    writers = [WrittenRun(run, task) for task in TWO]
    for writer in writers:
        (writer.task.dir / FILE).write_bytes(np.array([[0, NOW, NOW + 1]], "<f8").tobytes())
    begin(writers[0], ahead=600.0)
    assert run.staleness().empty
    writers[1].silence("clock_differs", at=4, task="worker-1", ahead_seconds=600.5)
    assert len(run.staleness()) == 2
