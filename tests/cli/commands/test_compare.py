"""`workbench compare` as a user types it."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, last_json
from tests.experiments.timed_runs import ONE, TWO, timed_run
from tests.waiting import LIMIT_SECONDS, until
from workbench.cli.commands.compare import _with_steps
from workbench.cli.flags import config_from
from workbench.cli.parser import make_parser
from workbench.experiments import list_comparisons

pytestmark = pytest.mark.usefixtures("forking")


@pytest.fixture(scope="module")
def runs(terminal: Terminal) -> list[Path]:
    """Three runs of OneDevice and two of Mirrored."""
    terminal.runs.mkdir(exist_ok=True)
    rates = ((ONE, 1000.0), (ONE, 1010.0), (ONE, 990.0), (TWO, 1500.0), (TWO, 1510.0))
    return [timed_run(terminal.runs, config, rate).dir for config, rate in rates]


def test_existing_runs_are_compared_in_a_table(terminal: Terminal, runs: list[Path]) -> None:
    done = terminal.type("compare", *(path.name for path in runs), "--target-accuracy", "0.8")
    assert done.returncode == 0, done.stderr
    head, one, two, _, advice, *_ = done.stdout.splitlines()
    assert re.split(r"  +", head.strip())[:3] == [
        *("BATCH", "EXAMPLES/S (95 %)", "SPEED-UP (95 %)"),
    ]
    assert re.match(r"OneDevice on 1 replica, custom +64 +1,000 \(975 to 1,02\d\) +baseline", one)
    assert re.match(r"Mirrored on 2 virtual replicas, custom +64 +1,505 +1\.51 +75% ", two)
    assert "an interval needs 3 finished runs, there are 2" in two
    assert advice.startswith(
        "Undecided: Mirrored on 2 virtual replicas, custom was the fastest, but"
    )
    assert advice.endswith("An interval needs 3 runs of each.")


def test_json_has_the_rows_and_the_advice(terminal: Terminal, runs: list[Path]) -> None:
    done = terminal.type("compare", *runs, "--baseline", "Mirrored on 2 virtual replicas, custom",
                         "--json")  # fmt: skip
    result = last_json(done)
    page = terminal.type("compare", *runs, "--html", "page.html")
    assert page.returncode == 0, page.stderr
    text = (terminal.folder / "page.html").read_text()
    assert "<h2>Comparison</h2><p>Undecided: Mirrored on 2 virtual replicas, custom was" in text
    assert (result["baseline"], result["advice"]["group"], result["folder"]) == (1, None, None)
    assert result["advice"]["undecided"]
    assert [row["batch"] for row in result["rows"]] == ["64", "64"]
    assert result["rows"][0]["speed_up"] == pytest.approx(1000 / 1505, rel=1e-3)


def test_impossible_comparisons_are_refused(terminal: Terminal, runs: list[Path]) -> None:
    for arguments, message in (
        (("nothing",), "No run 'nothing' in "),
        ((runs[0], "--baseline", "TPU"), "No row has the label 'TPU'. Choose the baseline from"),
        (
            (runs[0], "--resume"),
            "--resume only works with the folder of a comparison",
        ),
        (
            (runs[0], "--repeats", "6"),
            "--repeats only works with the folder of a comparison, not",
        ),
        (("--strategy", "one_device", "--repeats", "0"), "repeats must be 1 or more; received 0"),
    ):
        done = terminal.type("compare", *arguments)
        assert done.returncode == 1
        assert message in done.stderr
    for flags, message in (
        (("--global-batch-size", "-1"), "global_batch_size must be a number above 0; got -1"),
        (("--xla", "off", "both"), "xla must be true or false; got 'both'"),
        (("--strategy", "mirrored", "one_devise"), "got one_devise. Did you mean one_device?"),
    ):
        done = terminal.type("compare", *flags)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ("RUN", "--global-batch-size", "64", "--budget", "1"),
            "RUN must be given without flags of runs to train; got --global-batch-size, --budget. "
            "Leave these flags out, or leave RUN out to train.",
        ),
        (("RUN", "--epochs", "3"), "got --epochs. Leave these flags out"),
        (("RUN", "--strategy", "mirrored", "--resume"), "got --strategy. Leave these flags out"),
        (
            ("--resume", "--budget", "1"),
            "--resume must be given with the folder to continue; got no folder. Put the folder "
            "before it: FOLDER --resume",
        ),
    ],
)
def test_flags_that_would_be_ignored_are_refused_and_nothing_starts(
    flags: tuple[str, ...], message: str, terminal: Terminal, runs: list[Path]
) -> None:
    before = sorted(terminal.runs.iterdir())
    done = terminal.type("compare", *(runs[0] if flag == "RUN" else flag for flag in flags))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert sorted(terminal.runs.iterdir()) == before


@pytest.mark.parametrize(
    ("flags", "epochs", "steps_per_epoch"),
    [
        ((), 1, 3000),
        (("--target-accuracy", "0.9"), 5, 600),
        (("--target-accuracy", "0.9", "--epochs", "2"), 2, None),
    ],
)
def test_with_a_target_the_steps_are_spread_over_the_usual_epochs(
    flags: tuple[str, ...], epochs: int, steps_per_epoch: int | None
) -> None:
    arguments = make_parser().parse_args(["compare", *flags])
    config = _with_steps(config_from(arguments), arguments)
    assert (config.epochs, config.steps_per_epoch) == (epochs, steps_per_epoch)


@pytest.mark.slow
def test_ctrl_c_stops_with_the_results_so_far(terminal: Terminal) -> None:
    flags = ("--strategy", "one_device", "mirrored", "--repeats", "1", "--start-now")
    child = terminal.begin("compare", *flags, "--epochs", "1", "--steps-per-epoch", "4000000")
    (comparison,) = until(lambda: list_comparisons(terminal.runs))
    until(lambda: comparison.trials)
    run = comparison.run(comparison.trials[0])
    until(lambda: run.progress.step > 0)
    os.killpg(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=LIMIT_SECONDS)
    assert child.returncode == 1
    assert "1 of 1 stopped, not counted" in output
    assert f"Continue with: workbench compare {comparison.folder} --resume" in output
    asked = comparison.folder / "compare.json"
    assert [each["label"] for each in json.loads(asked.read_text())["candidates"]] == [
        "OneDevice",
        "Mirrored x 2",
    ]
    shown = terminal.type("compare", comparison.folder.name)
    assert shown.returncode == 1
    assert "1 of 1 stopped, not counted" in shown.stdout
