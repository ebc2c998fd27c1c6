"""`workbench find`: its output and its errors."""

from __future__ import annotations

import dataclasses
import math

import pytest

from tests.cli.terminal import Terminal, last_json
from workbench.cli.commands.find import batch_report, rate_report
from workbench.experiments.searching.results import FoundBatch, RateTest, Trial

FITTING = {"fits": True, "peak_mib": 1234.0, "step_seconds": 0.002}


def test_sizes_are_a_table_with_a_curve_and_the_answers_are_flags() -> None:
    trials = (
        Trial(1, 2, **FITTING, alone=False, examples_per_second=500.0),
        Trial(64, 128, **FITTING, examples_per_second=1000.0, examples_per_second_low=900.0,
              examples_per_second_high=1100.0),
        Trial(80, 160, fits=False, reason="it used 2,001 MiB"),
    )  # fmt: skip
    why = "80 per replica do not fit: it used 2,001 MiB."
    found = FoundBatch(trials, 64, 64, "memory", why, 2, 2000, 60.0)
    table, _, answers = batch_report(found).partition("\n\n")
    head, one, other, failing = table.splitlines()
    assert head.split()[:3] == ["PER", "REPLICA", "GLOBAL"]
    assert one.split() == ["1", "2", "~1,234", "2", "500", "#" * 15]
    assert other.split() == ["64", "128", "1,234", "2", "1,000", "900", "to", "1,100", "#" * 30]
    assert failing.split() == ["80", "160", "does", "not", "fit"]
    assert why in answers
    assert "The memory limit was 2,000 MiB." in answers
    assert answers.count("--per-replica-batch-size 64") == 2


def test_other_runs_during_a_search_are_named() -> None:
    found = FoundBatch(
        (), None, None, "stopped", "The search was stopped.", 1, None, 1.0, ("run-1",)
    )
    assert "run-1 trained on the same devices meanwhile." in batch_report(found)


def rates(**fields: object) -> RateTest:
    many = [1e-5 * 1.1**at for at in range(100)]
    losses = [1.0 - at / 200 for at in range(100)]
    usual = {"rates": many, "losses": [*losses[:-1], None], "smoothed": losses[:-1],
             "suggestion": 0.02, "learning_rate": 0.01, "minimum_rate": 0.1, "reason": "It falls.",
             "ended": "diverged", "steps": 150, "optimizer": "adam", "seconds": 9.0}  # fmt: skip
    return RateTest(**{**usual, **fields})  # type: ignore[arg-type]


def test_rates_are_a_table_with_a_curve_and_the_answer_is_a_flag() -> None:
    report = rate_report(rates())
    assert 20 <= len(report.partition("\n\n")[0].splitlines()) <= 31
    assert "The loss diverged at 0.13." in report
    assert report.endswith("Use it:  --learning-rate 0.01")


def test_a_compiled_optimizer_gets_its_rate_in_the_users_code() -> None:
    assert rate_report(rates(optimizer="compiled")).endswith("learning_rate=0.02")


def test_a_curve_without_a_result_gives_no_flag() -> None:
    nothing = rates(suggestion=None, learning_rate=None, reason="It never fell.", ended="highest")
    assert rate_report(nothing).endswith("It never fell.")
    stopped = rates(rates=[], losses=[], smoothed=[], suggestion=None, learning_rate=None)
    assert "It falls." in rate_report(dataclasses.replace(stopped, ended="stopped"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["batch-size", "--strategy", "parameter_server"], "a synchronous one"),
        (["batch-size", "--memory-limit", "-1"], "memory_limit must be MiB above 0; got -1"),
        (["learning-rate", "--steps", "3"], "steps must be at least 50"),
        (["batchsize"], "Did you mean batch-size?"),
        ([], "required: WHAT"),
    ],
)
def test_impossible_searches_are_refused(
    arguments: list[str], message: str, terminal: Terminal
) -> None:
    done = terminal.type("find", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_too_little_memory_is_a_failure(terminal: Terminal) -> None:
    done = terminal.type("find", "batch-size", "--memory-limit", 50)
    assert done.returncode == 1
    assert "Allow more memory" in done.stderr


@pytest.mark.slow
def test_a_search_ends_with_a_line_of_json(terminal: Terminal) -> None:
    # Odd sizes leave one example over: too few for a last batch of two replicas.
    few = ("--synthetic-examples", 19, "--replicas", 2, "--last-batch", "keep", "--loop", "custom")
    done = terminal.type("find", "batch-size", *few, "--json")
    assert done.returncode == 0, done.stderr
    result = last_json(done)
    assert (result["ended"], result["largest_per_replica_batch_size"]) == ("data", 8)
    assert [each["per_replica_batch_size"] for each in result["trials"]] == [2, 4, 8]
    assert [each["global_batch_size"] for each in result["trials"]] == [4, 8, 16]
    assert all(math.isfinite(each["examples_per_second"]) for each in result["trials"])
    assert "sizes tried" in done.stderr
    assert not terminal.runs.exists()
