"""The summary that a command prints at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tests.suite.session import Result, file_of

LONGEST = 5
LINE_LENGTH = 160


def summary(
    results: Sequence[Result], wall_seconds: Mapping[str, float], tensorflow_starts: int
) -> str:
    """Return the times, the failed tests, the flaky tests, and the counts in the last line.

    `wall_seconds` has the time of each stage of the command, in order. The summary also gives the
    sum of these times.
    """
    counts = sum((result.counts for result in results), Counter[str]())
    seconds = Counter[str]()
    for result in results:
        for test, each in result.seconds.items():
            seconds[file_of(test)] += each
    longest = ", ".join(f"{file} {clock(each)}" for file, each in seconds.most_common(LONGEST))
    times = {**wall_seconds, "in all": sum(wall_seconds.values())}
    return "\n".join(
        [
            "",
            "== Summary",
            *(f"{step:<8}{clock(each):>7}" for step, each in times.items()),
            f"Processes that imported TensorFlow: {tensorflow_starts}",
            f"Longest files (the sum of their tests): {longest or 'none'}",
            *lines("FAILED", (result.failed for result in results)),
            *lines("FLAKY", (result.flaky for result in results)),
            f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped",
        ]
    )


def lines(label: str, errors: Iterable[Mapping[str, str]]) -> list[str]:
    """Return a line for each test: the label, the test's name, and the first line of its error."""
    return [
        f"{label} {test}: {error}"[:LINE_LENGTH] for each in errors for test, error in each.items()
    ]


def clock(seconds: float) -> str:
    """Return a time in minutes and seconds, such as 2:05."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
