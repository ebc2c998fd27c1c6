"""The logs of a run's tasks: their last lines, as plain text."""

from __future__ import annotations

import re
from pathlib import Path

TAIL_BYTES = 64 * 1024
LINE_CHARACTERS = 2000
_ESCAPE = re.compile(  # an unfinished code ends with its line
    r"\x1b\[[0-?]*[ -/]*[@-~]?"  # colours, the cursor
    r"|\x1b[\]PX^_][^\x07\x1b\r]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OF_TENSORFLOW = re.compile(
    r"(?:(?P<short>[IWEF])\d{4} \d\d:\d\d"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: (?P<long>[IWEF]) "
    r"|WARNING: All log messages before absl"
    r"|To enable the following instructions: )"
)
_AT_START = re.compile(
    r"cuInit|cudart_stub|cuda_diagnostics|Could not load dynamic library|Cannot dlopen"
    r"|Unable to register cu\w+ (?:factory|FACTORY)"
)
"""Errors of TensorFlow's start on a machine without a GPU, which have no consequence."""
_OF_MEMORY = re.compile(r"memory|alloc", re.IGNORECASE)
_SIGNAL_REPORT = re.compile(r"preemption_notifier\.cc.* SIGTERM caught")


def log_tail(path: Path, lines: int, since: int = 0) -> str:
    """Return the last lines of a log from byte `since` on; empty if there is no log.

    The lines are plain text, as a terminal would have left them. Escape codes and control
    characters are removed. Only the last state of a rewritten line is kept. A long line is cut, and
    shows how much of it is left out. If the work of the task is over, TensorFlow's last lines about
    the signal that ends the task are left out. The text is not escaped for a page.
    """
    try:
        with path.open("rb") as file:
            start = max(since, file.seek(0, 2) - max(TAIL_BYTES, 400 * lines))
            file.seek(max(since, start - 1))
            content = file.read()
    except FileNotFoundError:
        return ""
    begun = start > since and content[:1] != b"\n"
    first, *rest = content.decode("utf-8", "replace").split("\n")
    shown = [_shown(first, begun=begun), *map(_shown, rest)]
    over = any(line.startswith(("finished ", "stopped ")) for line in shown)
    while shown and (not shown[-1].strip() or (over and _SIGNAL_REPORT.search(shown[-1]))):
        shown.pop()
    return "\n".join(shown[-lines:])


def is_from_tensorflow(line: str) -> bool:
    """Return whether a line of a log is one of TensorFlow's own reports on its work."""
    return _OF_TENSORFLOW.match(line) is not None


def is_error_of_tensorflow(line: str) -> bool:
    """Return whether a line is TensorFlow's report of an error or of a lack of memory."""
    found = _OF_TENSORFLOW.match(line)
    return found is not None and not _is_usual(line) and bool(found["short"] or found["long"])


def folded(log: str, lines: int) -> str:
    """Return the last lines of a log, with one line for each stretch of TensorFlow's usual reports.

    Reports of errors and of memory stay, except those of each start without a GPU.
    """
    shown: list[str] = []
    left_out = 0
    for line in log.splitlines():
        if _is_usual(line):
            left_out += 1
        elif line.strip() or not left_out:
            shown += _left_out(left_out)
            left_out = 0
            shown.append(line)
    return "\n".join((shown + _left_out(left_out))[-lines:])


def _left_out(count: int) -> list[str]:
    return [f"[{count} line{'s' * (count != 1)} of TensorFlow left out]"] if count else []


def _is_usual(line: str) -> bool:
    found = _OF_TENSORFLOW.match(line)
    if found is None:
        return False
    level = found["short"] or found["long"] or "I"
    return (
        level == "I"
        or _AT_START.search(line) is not None
        or (level == "W" and _OF_MEMORY.search(line) is None)
    )


def _shown(line: str, *, begun: bool = False) -> str:
    """Return a line's last state as plain text, cut if long; if `begun`, its start is missing."""
    states = [_CONTROL.sub("", state) for state in _ESCAPE.sub("", line).split("\r")]
    text = next((state for state in reversed(states) if state), "")
    if begun and text == states[0]:
        return f"[the line's beginning is left out] {text[-LINE_CHARACTERS:]}"
    left_out = len(text) - LINE_CHARACTERS
    if left_out <= 0:
        return text
    half = LINE_CHARACTERS // 2
    return f"{text[:half]} [{left_out:,} characters left out] {text[-half:]}"
