"""The stage of a run that starts, from the events of its supervisor and of its tasks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.runs.records.written_run import WrittenRun
from tests.runs.run_folders import Runs, replan
from workbench.config import RunConfig
from workbench.runs import start_run
from workbench.runs.folder.checkpoints import FOLDER as CHECKPOINTS
from workbench.runs.supervise.stage import WORDS, Stage

TWO = ("worker-0", "worker-1")
LED = ("chief-0", "worker-0", "ps-0", "evaluator-0")
COLD = "cold: as requested"
OVER = ("finished", "stopped", "failed", "lost")
Make = Callable[..., list[WrittenRun]]


@pytest.fixture
def make(runs: Runs) -> Iterator[Make]:
    """A function that writes a living run that starts, and returns a writer for each task."""
    made: list[WrittenRun] = []

    def make_run(*tasks: str, begun: str = COLD, **details: Any) -> list[WrittenRun]:
        run = runs.make(tasks=tasks)
        writers = [WrittenRun(run, task) for task in tasks]
        made.append(writers[0])
        writers[0].alive()
        writers[0].state("queued")
        writers[0].state("starting", at=1, **details)
        if begun:
            writers[0].silence("begun", at=1, how=dict.fromkeys(tasks, begun))
        return writers

    yield make_run
    for writer in made:
        writer.dead()


def stage_of(writer: WrittenRun) -> Stage | None:
    return writer.run.progress.stage


def sentence_of(writer: WrittenRun) -> str:
    stage = stage_of(writer)
    assert stage is not None
    return stage.sentence


def save(writer: WrittenRun, step: int) -> None:
    """Write a checkpoint's files and its event, before the attempt that starts."""
    folder = writer.run.dir / CHECKPOINTS
    folder.mkdir(exist_ok=True)
    for name in ("ckpt-1.index", "ckpt-1.data-00000-of-00001"):
        (folder / name).touch()
    writer.event("checkpoint", at=-1, step=step, checkpoint="ckpt-1")


def test_one_task_goes_through_all_stages_in_order(make: Make) -> None:
    (one,) = make("worker-0")
    seen = [sentence_of(one)]
    for at, event in enumerate(("imported", "start", "tracing", "traced"), start=2):
        one.event(event, at=at, step=0, seconds=1.0)
        seen.append(sentence_of(one))
    assert seen == [
        "Importing TensorFlow",
        "Building the model",
        "Loading the data",
        "Tracing the first call (compiling the graph)",
        "Running the first call",
    ]
    one.call(0, 0, first=0, count=10, at=8)
    assert stage_of(one) is None


def test_the_words_of_the_stages_are_in_the_order_of_the_stages() -> None:
    order = list(WORDS)
    names = ["process", "enter", "import", "meet", "model", "data", "trace", "call"]
    assert sorted(names, key=order.index) == names


def test_a_run_that_waits_runs_or_is_over_has_no_stage(make: Make) -> None:
    (one,) = make("worker-0")
    for state in ("queued", "running", "stopping", "failed"):
        one.state(state, at=2)
        assert stage_of(one) is None
    one.state("starting", at=3)
    one.dead()
    assert one.run.status == "lost"
    assert stage_of(one) is None


def test_a_run_past_its_first_call_has_no_stage_although_no_step_was_recorded(make: Make) -> None:
    (one,) = make("worker-0")
    one.event("traced", at=2, seconds=1.0)
    one.event("test", at=3, epoch=1)
    assert stage_of(one) is None


def test_the_processes_start_before_it_is_known_how(make: Make) -> None:
    (one,) = make("worker-0", begun="")
    assert sentence_of(one) == "Starting the processes"


def test_a_forked_process_does_not_import_tensorflow_again(make: Make) -> None:
    (one,) = make("worker-0", begun="forked")
    assert sentence_of(one) == "Starting the processes"
    one.event("imported", at=2)
    assert sentence_of(one) == "Building the model"


def test_the_server_that_loads_tensorflow_is_named_by_its_work(make: Make) -> None:
    (one,) = make("worker-0", begun="", loading=True)
    assert sentence_of(one) == "Importing TensorFlow"


def test_how_an_engine_starts_its_processes_is_unknown(make: Make) -> None:
    one, other = make(*TWO, begun="", job="42")
    assert sentence_of(one) == "Starting the processes, which import TensorFlow"
    other.event("imported", at=2)
    assert sentence_of(one) == "worker-0 starts and imports TensorFlow; the others wait for it"


def test_a_resumed_run_restores_the_checkpoint_after_the_model(make: Make) -> None:
    (one,) = make("worker-0")
    save(one, 1250)
    one.event("imported", at=2)
    words = "Building the model, then restoring the checkpoint of step 1,250"
    assert sentence_of(one) == words
    one.event("checkpoint_damaged", at=3, checkpoint="ckpt-1", error="no data")
    assert sentence_of(one).startswith("Restoring an older checkpoint")
    one.event("start", at=4, step=30)
    assert sentence_of(one) == "Loading the data"


def test_events_of_an_earlier_attempt_do_not_count(make: Make) -> None:
    (one,) = make("worker-0")
    one.event("traced", at=-1, seconds=1.0)
    assert sentence_of(one) == "Importing TensorFlow"


def test_an_eager_run_traces_nothing(make: Make) -> None:
    (one,) = make("worker-0")
    replan(one.run, config=RunConfig(eager=True))
    one.event("start", at=2, step=0)
    assert sentence_of(one) == "Loading the data, then running the first call"


def test_the_worker_that_is_furthest_behind_is_named(make: Make) -> None:
    one, other = make(*TWO)
    assert sentence_of(one) == "Importing TensorFlow"
    one.event("imported", at=2)
    assert sentence_of(one) == "worker-1 imports TensorFlow; the others wait for it"
    other.event("imported", at=3)
    assert sentence_of(one) == "Connecting the tasks, then building the model"
    other.event("start", at=4, step=0)
    assert sentence_of(one) == "worker-0 builds the model"
    one.event("start", at=5, step=0)
    one.event("tracing", at=6)
    assert sentence_of(one) == "worker-1 loads the data"
    other.event("tracing", at=7)
    one.event("traced", at=8, seconds=1.0)
    assert sentence_of(one) == "worker-1 traces the first call (compiles the graph)"
    other.event("traced", at=9, seconds=1.0)
    assert sentence_of(one) == "Running the first call"


def test_workers_that_resume_connect_first(make: Make) -> None:
    one, other = make(*TWO)
    save(one, 30)
    for each in (one, other):
        each.event("imported", at=2)
    words = (
        "Connecting the tasks, then building the model, then restoring the checkpoint of step 30"
    )
    assert sentence_of(one) == words


def test_under_a_chief_the_servers_only_have_to_start_and_nobody_waits_for_the_evaluator(
    make: Make,
) -> None:
    chief, worker, server, _ = make(*LED)
    chief.event("imported", at=2)
    worker.event("serving", at=2)
    assert sentence_of(chief) == "ps-0 imports TensorFlow; the others wait for it"
    server.event("serving", at=3)
    words = "chief-0 connects to the other tasks, then builds the model"
    assert sentence_of(chief) == words
    save(chief, 30)
    assert sentence_of(chief) == f"{words}, then restores the checkpoint of step 30"
    chief.event("start", at=4, step=0)
    assert sentence_of(chief) == "chief-0 loads the data, then runs the first call"
    worker.call(0, 0, first=0, count=5, at=6)
    assert stage_of(chief) is None


def test_a_rehearsal_has_the_stages_of_its_own_tasks(make: Make) -> None:
    one, other = make(*TWO, begun="", rehearsal=True)
    (rehearsal,) = {writer.run.dir / "rehearsal" for writer in (one, other)}
    for task in TWO:
        (rehearsal / task).mkdir(parents=True)

    def report(task: str, name: str, at: float) -> None:
        event = {"time": 1_700_000_000.0 + at, "event": name}
        with (rehearsal / task / "events.jsonl").open("a") as file:
            file.write(json.dumps(event) + "\n")

    start = "Rehearsing your own model: "
    assert sentence_of(one) == f"{start}starting the processes, which import TensorFlow"
    report("worker-0", "imported", 2)
    words = "worker-1 starts and imports TensorFlow; the others wait for it"
    assert sentence_of(one) == start + words
    for task in TWO:
        report(task, "tracing", 3)
    assert sentence_of(one) == f"{start}tracing the first call (compiling the graph)"
    for task in TWO:
        report(task, "test", 4)
    assert sentence_of(one) == "Rehearsing your own model"


@pytest.mark.slow
def test_the_stages_of_a_real_run_come_in_order_before_its_first_step(tmp_path: Path) -> None:
    config = RunConfig(epochs=1, synthetic_examples=640, start="cold")
    run = start_run(config, tmp_path, LAPTOP)
    seen: list[str] = []
    while (progress := run.progress).step == 0 and progress.phase not in OVER:
        if progress.stage and progress.stage.name not in seen:
            seen.append(progress.stage.name)
    assert run.wait() == "finished", run.failure
    assert sorted(seen, key=list(WORDS).index) == seen
    assert {"import", "trace"} <= {*seen} <= {"process", "import", "model", "data", "trace", "call"}
    assert run.progress.stage is None
