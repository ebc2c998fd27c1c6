"""The lines of a report, from which the tests of the benchmarks read the verdicts."""

import pytest

from tests.benchmarks.report import ALWAYS_MISSED, Limit


def test_a_line_has_the_median_its_spread_and_the_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert Limit("wait", "s", at_most=2).judge([1.0, 4.0, 1.5])
    assert capsys.readouterr().out == "wait: 1.5 s [1, 4]; at most 2: reached\n"


@pytest.mark.parametrize("always", [True, False])
def test_only_a_limit_that_every_run_must_reach_is_marked(
    always: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not Limit("passes", "of 14", at_least=12, always=always).judge([11])
    line = capsys.readouterr().out.rstrip()
    assert line.endswith(": MISSED")
    assert line.endswith(ALWAYS_MISSED) is always
