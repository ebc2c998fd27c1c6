"""`workbench why` as text: the parts with bars, the suggestion with its commands, both sides."""

from pathlib import Path

import pytest

from tests.verdict.verdicts import timed_run, verdict_on
from tests.widgets.folders import write_run
from workbench.cli import main
from workbench.cli.commands.why import report, trial_report
from workbench.interval import Interval
from workbench.verdict import Trial
from workbench.verdict.causes import Suggestion
from workbench.verdict.parts import PARTS


def test_the_report_has_the_parts_the_sentence_and_the_commands(tmp_path: Path) -> None:
    run = timed_run(tmp_path)
    lines = report(verdict_on(run, {"host": 1e-3}), run).splitlines()
    assert lines[0].startswith(f"{run.id}: a step takes 2")
    assert lines[2].split() == ["PART", "TIME", "95", "%", "SHARE"]
    (host,) = (line for line in lines if line.startswith("host "))
    assert 9 <= host.count("█") <= 11
    assert any(line.startswith("  of which fixed") for line in lines)
    assert any("add up to the step" in line or "add up to it" in line for line in lines)
    assert lines[-3].startswith("Try steps_per_call empty. ")
    assert lines[-2].split()[:4] == ["workbench", "run", "--config", f"{run.dir}/suggested.json"]
    assert lines[-1].startswith(f"  workbench why {run.id} --apply")


def test_a_report_without_a_suggestion_ends_with_the_advice(tmp_path: Path) -> None:
    run = timed_run(tmp_path)
    verdict = verdict_on(run, {})
    assert verdict.suggestion is None
    assert report(verdict, run).splitlines()[-2:] == [verdict.sentence, verdict.advice]


def test_a_report_without_a_verdict_ends_with_the_command_that_measures_again(
    tmp_path: Path,
) -> None:
    run = timed_run(tmp_path)
    verdict = verdict_on(run, {"host": 1e-3}, 9e-3)
    assert report(verdict, run).splitlines()[-3:] == [
        verdict.sentence,
        verdict.advice,
        f"  workbench why {run.id} --seconds 20",
    ]
    values = verdict.to_json()
    assert (values["decided"], values["agrees"]) == (False, False)
    assert values["cause"] is values["suggestion"] is None


def test_the_shown_shares_add_up_to_the_step(tmp_path: Path) -> None:
    run = timed_run(tmp_path)
    found = verdict_on(run, {"host": 1e-3, "fixed": 9e-4})
    lines = [line for line in report(found, run).splitlines() if "%" in line and " s, " not in line]
    shares = [line.split("%")[0].split()[-1] for line in lines if line.startswith(tuple(PARTS))]
    assert sum(map(float, shares)) == pytest.approx(100, abs=0.2)
    parts = found.to_json()["breakdown"]["parts"]
    assert sum(part["share"] for part in parts) == pytest.approx(1)


def test_a_trial_ends_with_its_sentence() -> None:
    step = Interval(0.002, 0.0019, 0.0021)
    trial = Trial("a", "b", Suggestion({}, ""), step, step, Interval(1.5, 1.4, 1.6), 9)
    lines = trial_report(trial).splitlines()
    assert lines[1].split(maxsplit=2) == ["before", "a", "2 ms [1.9 ms, 2.1 ms]"]
    assert lines[-1] == "It helps: 1.50 times the examples per second, 95 % [1.40, 1.60]."


def test_a_run_that_recorded_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(write_run(tmp_path, steps=0).dir)]) == 1
    assert "has recorded no steps" in capsys.readouterr().err
