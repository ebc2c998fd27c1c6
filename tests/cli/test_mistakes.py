"""Mistyped and impossible commands: all problems are reported together, and no run is made."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.engine.training import write_run
from tests.widgets.folders import write_run as write_folder
from workbench.config import RunConfig


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu"], "invalid choice rnu. Did you mean run?"),
        (["runs", "lst"], "invalid choice lst. Did you mean list?"),
        (["run", "--stratgy", "default"], "unknown argument --stratgy. Did you mean --strategy?"),
        (["run", "--strateg", "default"], "unknown argument --strateg. Did you mean --strategy?"),
        (["script", "more"], "unknown argument more."),
        (["runs", "show"], "the following arguments are required: RUN"),
        (["runs"], "the following arguments are required: ACTION"),
    ],
)
def test_an_unknown_command_suggests_the_nearest(
    arguments: list[str], message: str, terminal: Terminal
) -> None:
    done = terminal.type(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "--help" in done.stderr
    assert done.stdout == ""


def test_workbench_without_arguments_shows_the_first_minute(terminal: Terminal) -> None:
    done = terminal.type()
    assert done.returncode == 2
    assert "workbench run --preset mlp_synthetic" in done.stderr


def test_help_and_version_are_no_errors(terminal: Terminal) -> None:
    assert terminal.type("--version").stdout.startswith("workbench ")
    assert terminal.type("detect", "--help").returncode == 0


def test_a_rehearsal_says_first_what_it_changes(terminal: Terminal) -> None:
    flags = "--rehearse --strategy mirrored --epochs 0"
    done = terminal.type("run", *flags.split())
    assert done.returncode == 2
    note = done.stderr.partition("epochs must be a number above 0; got 0")[0]
    assert "strategy MultiWorkerMirrored instead of Mirrored, workers 2, restarts 100" in note


@pytest.mark.parametrize("command", ["run", "script"])
def test_all_problems_of_a_plan_are_reported_together(command: str, terminal: Terminal) -> None:
    flags = "--strategy mirorred --loop fti --data fashion --epochs 0 --learning-rate nan"
    done = terminal.type(command, *flags.split(), "--seed", -1)
    assert done.returncode == 2
    for message in (
        "; got mirorred. Did you mean mirrored?",
        "loop must be one of custom, fit; got fti. Did you mean fit?",
        "got fashion. Did you mean fashion_mnist?",
        "epochs must be a number above 0; got 0",
        "learning_rate must be a number above 0; got nan",
        "seed must be from 0 to 2147483647; got -1",
    ):
        assert message in done.stderr
    assert done.stdout == ""
    assert not terminal.runs.exists()


@pytest.mark.parametrize("command", ["run", "script", "compare"])
def test_sizes_that_fit_no_memory_are_refused_with_the_sizes_that_fit(
    command: str, terminal: Terminal
) -> None:
    flags = "--strategy default --last-batch repeat --steps-per-epoch 3"
    sizes = ["--global-batch-size", 10**12, "--synthetic-examples", 10**12]
    done = terminal.type(command, *flags.split(), *sizes)
    assert done.returncode == 2
    for field in ("global_batch_size", "synthetic_examples"):
        assert f"  {field} must be at most " in done.stderr
    assert done.stderr.count("got 1,000,000,000,000, which needs at least ") == 2
    assert done.stdout == ""
    assert not terminal.runs.exists()


def test_all_values_of_a_wrong_type_are_reported_together(terminal: Terminal) -> None:
    done = terminal.type("run", "--epochs", "five", "--learning-rate", "fast", "--seed", "1.5")
    assert done.returncode == 2
    assert "epochs must be a whole number; got 'five'" in done.stderr
    assert "learning_rate must be a number; got 'fast'" in done.stderr
    assert "seed must be a whole number; got '1.5'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--global-batch-size 63", "got 63. Set it to 62 or 64."),
        ("--global-batch-size 20000", "at most the 10,000 training examples"),
        ("--per-replica-batch-size -4", "per_replica_batch_size must be a number above 0; got -4"),
        ("--cross-device-ops nccl", "NCCL needs real GPUs"),
        ("--strategy one_device --replicas 2", "Set replicas to 1, or choose the strategy mirr"),
        ("--devices CPU:0,CPU:1", "set replicas to split it"),
        ("--strategy tpu", "no TPU here"),
        ("--loop fit --clip-norm 1", "Choose the loop custom"),
        ("--preset mlp_sythetic", "Did you mean mlp_synthetic?"),
        ("--model nowhere.py:build", "nowhere.py"),
        ("--interpreter /no/python", "/no/python"),
        ("--interpreter ~no.such.user/python", "Write the path in full, or set HOME."),
        ("--config no.json", "no.json"),
    ],
)
def test_an_impossible_plan_is_refused_with_a_fix(
    arguments: str, message: str, terminal: Terminal
) -> None:
    done = terminal.type("run", *arguments.split())
    assert done.returncode == 2
    assert "These settings do not work here:" in done.stderr
    assert message in done.stderr
    assert not terminal.runs.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"version": 2}', "version must be 1, the version that this release reads; got 2. Inst"),
        ('{"epoch": 1}', "epoch must be a field of a config; got an unknown name. Did you mean"),
        ('{"epochs": "5"}', "epochs must be a whole number; got '5'"),
        ("[]", "config must be a JSON object"),
        ('{"epochs": 5', "config must be a JSON file"),
    ],
)
def test_a_file_that_is_not_a_config_of_this_release_is_refused(
    content: str, message: str, terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(content)
    done = terminal.type("script", "--config", path)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "runs list --runs-dir ~no.such.user/runs",
        "runs pack {run} --output ~no.such.user/run.zip",
        "export {run} --output ~no.such.user/run.csv --format csv",
        "export {run} --output ~no.such.user/run.html --format html",
        "run --config ~no.such.user/bundle.zip",
        "compare {run} --html ~no.such.user/page.html",
        "run --archive ~no.such.user/copies",
    ],
)
def test_a_missing_home_folder_is_named(command: str, terminal: Terminal, tmp_path: Path) -> None:
    run = write_folder(tmp_path)
    done = terminal.type(*command.format(run=run.dir).split())
    assert done.returncode in (1, 2)
    assert "~no.such.user" in done.stderr
    assert not terminal.runs.exists()


def test_a_missing_run_is_named(terminal: Terminal) -> None:
    for action in (["show"], ["stop"], ["resume"], ["delete", "--yes"]):
        done = terminal.type("runs", *action, "20200101-000000-0000")
        assert done.returncode == 1
        assert "'20200101-000000-0000'" in done.stderr
    assert terminal.type("evaluate", "20200101-000000-0000").returncode == 1


def test_resuming_with_an_impossible_number_of_workers_gives_the_reason(terminal: Terminal) -> None:
    config = RunConfig(strategy="multi_worker_mirrored")
    run = write_run(terminal.runs, "two-workers", config).run
    done = terminal.type("runs", "resume", run.id, "--workers", 3)
    assert done.returncode == 2
    assert "global_batch_size must be a multiple of the 3 replicas; got 128" in done.stderr
    shutil.rmtree(terminal.runs)  # other tests here check that no run is made


def test_a_folder_of_runs_that_cannot_be_written_is_refused(terminal: Terminal) -> None:
    (terminal.folder / "file").touch()
    done = terminal.type("run", "--runs-dir", "file/runs")
    assert done.returncode == 1
    assert "cannot be written: " in done.stderr
    assert "choose another runs_dir" in done.stderr


@pytest.mark.parametrize("flags", [[], ["--detach"], ["--detach", "--json"]])
def test_warnings_are_printed_before_the_start(flags: list[str], terminal: Terminal) -> None:
    (terminal.folder / "file").touch()
    typed = "--strategy multi_worker_mirrored --pipeline numpy --runs-dir file/runs"
    done = terminal.type("run", *typed.split(), *flags)
    *notes, why_it_did_not_start = done.stderr.splitlines()
    assert "cannot be written: " in why_it_did_not_start
    assert [note.partition(": ")[0] for note in notes] == ["Note", "Note"]
    assert "listens on every network interface" in notes[0]
    assert "shuffles in a buffer" in notes[1]
    assert done.stdout == ""


@pytest.mark.slow
def test_a_custom_model_is_checked_before_a_run_is_made(terminal: Terminal) -> None:
    text = "import tensorflow as tf\n\n\ndef build():\n    return tf.constant(1)\n"
    (terminal.folder / "mine.py").write_text(text)
    done = terminal.type("run", "--model", "mine.py:build")
    assert done.returncode == 2
    assert "model must be a tf.keras.Model compiled with its loss" in done.stderr
    assert "build returned" in done.stderr
    done = terminal.type("run", "--model", "mine.py:biuld")
    assert done.returncode == 2
    assert "mine.py has build. Name one of them." in done.stderr
    assert not terminal.runs.exists()


@pytest.mark.parametrize("arguments", [["runs", "list"], ["script"]])
def test_json_and_text_contain_no_messages(arguments: list[str], terminal: Terminal) -> None:
    done = terminal.type(*arguments)
    assert done.returncode == 0
    assert done.stderr == ""
    if arguments == ["runs", "list"]:
        assert json.loads(terminal.type(*arguments, "--json").stdout) == []
