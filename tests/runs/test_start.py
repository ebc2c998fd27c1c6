"""Start, resume and deletion: the refused requests, which change nothing."""

import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.training import write_run
from tests.forked import run_code
from tests.machines import FOUR_GPUS, LAPTOP
from tests.runs.run_folders import QUICK, Runs, pid_of, replan, states
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig
from workbench.codegen import render_script
from workbench.devices import Devices
from workbench.plan import PlanError, make_plan
from workbench.runs import Run, RunError, list_runs, start_run, start_script
from workbench.runs.folder.files import read_json, sha256

MACHINE = Devices(
    cpu_model=None,
    cpu_cores=2,
    memory_bytes=8 * 2**30,
    gpus=(),
    tpu_chips=0,
    tpu_kind=None,
    interpreter=sys.executable,
    python_version="3.11.0",
    tensorflow_version="2.21.0",
    keras_version="3.15.1",
    tf_keras_version=None,
    problems=(),
)


def test_a_second_start_is_refused_and_changes_nothing(runs: Runs) -> None:
    run = runs.start(pauses={"20": "go"})
    pid_of(run, "trainer")
    with pytest.raises(
        RunError, match=rf"{run.id} cannot be started, because it is not over \(.*Stop it first"
    ):
        start_script(run.dir, QUICK)
    with pytest.raises(RunError, match="cannot be resumed, because it is not over"):
        run.resume()
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert states(run)[:2] == ["queued", "starting"]
    assert states(run).count("starting") == 1


def test_one_of_many_simultaneous_starts_succeeds(runs: Runs) -> None:
    run = runs.make(pauses={"20": "go"})
    errors: list[RunError] = []

    def start() -> None:
        try:
            start_script(run.dir, QUICK)
        except RunError as error:
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 3
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert states(run).count("starting") == 1


def test_a_run_continues_after_its_starter_was_killed(runs: Runs) -> None:
    run = runs.make(pauses={"20": "go"})
    starter = os.fork()
    if not starter:
        os.setsid()
        start_script(run.dir, QUICK)
        os.killpg(0, signal.SIGKILL)
    os.waitpid(starter, 0)
    until(lambda: run.progress.step == 20)
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"


def test_a_living_run_is_not_deleted_and_an_ended_run_is(runs: Runs) -> None:
    run = runs.start(pauses={"20": "go"})
    with pytest.raises(RunError, match="cannot be deleted, because it is not over"):
        run.delete()
    run.stop()
    run.wait(LIMIT_SECONDS)
    until(lambda: not run.alive)
    run.delete()
    assert list(runs.root.iterdir()) == []
    with pytest.raises(RunError, match=r"run\.json cannot be read"):
        _ = run.status


def test_an_unwritable_folder_of_runs_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot be written: .*choose another runs_dir"):
        start_run(RunConfig(), tmp_path / "file" / "runs", devices=MACHINE)


@pytest.mark.slow
@pytest.mark.usefixtures("forking")
def test_an_own_model_that_cannot_be_trained_is_refused_before_a_folder_is_made(
    tmp_path: Path,
) -> None:
    model = tmp_path / "mine.py"
    model.write_text("def build():\n    return 1\n")
    with pytest.raises(PlanError, match=r"compiled with its loss; got build returned int\."):
        start_run(RunConfig(model=f"{model}:build"), tmp_path / "runs", devices=MACHINE)
    assert not (tmp_path / "runs").exists()


def test_a_long_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"at most 200 characters; got 5,000 characters"):
        start_run(RunConfig(), tmp_path / "runs", devices=MACHINE, name="x" * 5000)
    plan = make_plan(RunConfig(), MACHINE)
    with pytest.raises(PlanError, match=r"at most 200 characters; got 5,000 characters"):
        start_run(plan, tmp_path / "runs", MACHINE, "x" * 5000, script="print()")
    assert not (tmp_path / "runs").exists()


def test_a_launcher_that_cannot_start_a_script_is_a_problem_also_if_the_script_is_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    config = RunConfig(strategy="multi_worker_mirrored", launcher="slurm")
    with pytest.raises(PlanError, match="launcher must be an engine that can be reached"):
        start_run(config, tmp_path / "runs", devices=MACHINE)
    plan = make_plan(config, MACHINE)
    with pytest.raises(PlanError, match="launcher must be an engine that can be reached"):
        start_run(plan, tmp_path / "runs", MACHINE, script="print()")
    assert not (tmp_path / "runs").exists()


def test_a_state_folder_that_cannot_be_written_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "file"))
    with pytest.raises(RunError, match="WORKBENCH_STATE"):
        start_run(RunConfig(), tmp_path / "runs", devices=MACHINE)
    assert list_runs(tmp_path / "runs") == []


def test_a_supervisor_that_cannot_start_is_a_clear_error(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.make()
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(
        RunError, match="did not start: its supervisor ended without an answer"
    ) as raised:
        start_script(run.dir, QUICK)
    assert "encodings" in str(raised.value)
    assert run.status == "lost"
    assert not run.alive


def test_a_torn_file_is_a_clear_error_and_the_other_runs_are_listed(runs: Runs) -> None:
    whole, torn, gone = runs.make(), runs.make(), runs.make()
    text = (torn.dir / "plan.json").read_text()
    (torn.dir / "plan.json").write_text(text[: len(text) // 2])
    (gone.dir / "run.json").write_text("")
    with pytest.raises(RunError, match=r"plan\.json cannot be read"):
        start_script(torn.dir, QUICK)
    with pytest.raises(RunError, match=r"plan\.json cannot be read"):
        _ = torn.config
    assert [run.id for run in list_runs(runs.root)] == [torn.id, whole.id, gone.dir.name]


def test_a_script_edited_by_hand_runs_unchanged_and_its_sha256_is_noted(runs: Runs) -> None:
    run = runs.start(code={"20": "raise ValueError"})
    assert run.wait(LIMIT_SECONDS) == "failed"
    edited = run.script.replace("raise ValueError", "pass")
    (run.dir / "train.py").write_text(edited)
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert read_json(run.dir / "run.json")["script_sha256"] == sha256(edited)
    assert run.script == edited


def test_a_script_edited_by_hand_is_not_overwritten_after_it_ran(runs: Runs) -> None:
    run = runs.start(code={"20": "raise ValueError"})
    assert run.wait(LIMIT_SECONDS) == "failed"
    edited = run.script.replace("raise ValueError", "pass")
    (run.dir / "train.py").write_text(edited)
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    with pytest.raises(RunError, match=r"edited by hand.*Put the original back"):
        run.resume(epochs=9)
    assert run.script == edited


def test_a_finished_run_resumes_only_for_more_epochs(runs: Runs) -> None:
    run = runs.start()
    assert run.wait(LIMIT_SECONDS) == "finished"
    before = {path.name: path.read_bytes() for path in run.dir.glob("*.*")}
    finished, fewer = "has finished all its epochs", "counts from its beginning"
    for epochs, message in ((None, finished), (2, finished), (1, fewer)):
        with pytest.raises(RunError, match=message):
            run.resume(epochs)
    with pytest.raises(RunError, match="whole number"):
        run.resume(epochs=True)
    (run.dir / "train.py").write_text(run.script + "\n")
    with pytest.raises(RunError, match=r"edited by hand.*Put the original back"):
        run.resume(epochs=3)
    after = {path.name: path.read_bytes() for path in run.dir.glob("*.*")}
    assert after == {**before, "train.py": before["train.py"] + b"\n"}
    assert run.status == "finished"


@pytest.mark.parametrize(
    ("machine", "fields", "workers", "message"),
    [
        (LAPTOP, {}, True, r"workers must be a whole number; received True\. Give 2\."),
        (
            LAPTOP,
            {"strategy": "mirrored"},
            2,
            r"uses Mirrored, which has no synchronous workers.*Resume it",
        ),
        (
            LAPTOP,
            {"strategy": "parameter_server"},
            3,
            r"uses ParameterServer, which has no synchronous workers.*Resume it without",
        ),
        (LAPTOP, {}, 3, r"global_batch_size must be a multiple of the 3 replicas; got 128"),
        (LAPTOP, {}, 0, r"workers must be a number above 0; got 0"),
        (FOUR_GPUS, {}, 4, r"With 4 workers, replicas per worker would change from 2 to 1.*Start"),
    ],
)
def test_an_impossible_number_of_workers_is_refused_and_changes_nothing(
    machine: Devices, fields: dict[str, str], workers: int, message: str, runs: Runs
) -> None:
    config = RunConfig(**{"strategy": "multi_worker_mirrored", **fields})
    run = write_run(runs.root, "run", config, machine).run
    before = {path.name: path.read_bytes() for path in run.dir.glob("*.*")}
    with pytest.raises((RunError, PlanError), match=message):
        run.resume(workers=workers)
    assert {path.name: path.read_bytes() for path in run.dir.glob("*.*")} == before


def test_another_number_of_workers_does_not_overwrite_a_script_edited_by_hand(runs: Runs) -> None:
    run = write_run(runs.root, "run", RunConfig(strategy="multi_worker_mirrored")).run
    (run.dir / "train.py").write_text(f"{run.script}\n")
    with pytest.raises(RunError, match=r"edited by hand.*Put the original back, or change EPOCHS"):
        run.resume(workers=4)


@pytest.mark.slow
def test_a_run_started_from_an_edited_script_is_never_overwritten(runs: Runs) -> None:
    plan = make_plan(RunConfig(epochs=1, synthetic_examples=512), MACHINE)
    script = render_script(plan).replace("    model.save(", '    print("mine")\n    model.save(')
    run = start_run(plan, runs.root, MACHINE, "mine", script=script)
    runs.made.append(run)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    assert run.script == script
    assert "mine\n" in (run.dir / "worker-0" / "log.txt").read_text()
    assert run.result()["script_sha256"] == sha256(script)
    with pytest.raises(RunError, match=r"edited by hand.*Put the original back"):
        run.resume(epochs=2)


@pytest.mark.slow
def test_a_real_run_finishes_and_resumes_for_more_epochs(runs: Runs) -> None:
    config = RunConfig(epochs=1, synthetic_examples=512, strategy="mirrored", name='"quoted"')
    run = start_run(config, runs.root, devices=MACHINE)
    runs.made.append(run)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    first = run.script
    plan = run.plan
    assert run.name == '"quoted"'
    assert plan.to_json() == read_json(run.dir / "plan.json")
    replan(run, config=replace(run.config, name="x" * 5000))  # from an earlier release
    resumed: Run = run.resume(epochs=2)
    assert resumed.wait(LIMIT_SECONDS) == "finished", run.failure
    assert (run.dir / "train-1.py").read_text() == first
    assert (run.config.epochs, run.config.name) == (2, "x" * 200)
    assert run.steps()["step"].tolist() == list(range(1, 2 * plan.steps_per_epoch + 1))
    assert run.missing == []
    assert run.epochs()["epoch"].tolist() == [1, 2]
    assert run.result()["examples_per_second"] > 0
    code = f"from workbench import open_run; open_run({str(run.dir)!r}).load_model().summary()"
    run_code(code)
