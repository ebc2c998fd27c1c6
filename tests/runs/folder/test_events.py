"""Event files have complete lines, even after a full disk and a torn end."""

import subprocess
import sys
from pathlib import Path

from workbench.runs.folder.events import EventLog, EventTail, read_events


def names(path: Path) -> list[str]:
    return [event["event"] for event in read_events(path)]


def test_events_wait_in_order_until_they_can_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "away"
    log = EventLog(folder / "events.jsonl")
    assert not log.write("first")
    assert not log.write("second")
    folder.mkdir()
    assert log.write("third")
    assert names(folder / "events.jsonl") == ["first", "second", "third"]


def test_a_line_cut_short_by_a_full_disk_is_removed(tmp_path: Path) -> None:
    code = """
import resource, sys
from pathlib import Path
from workbench.runs.folder.events import EventLog
log = EventLog(Path(sys.argv[1]))
log.write("first")
size = Path(sys.argv[1]).stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, resource.RLIM_INFINITY))
assert not log.write("second", text="x" * 100)
assert Path(sys.argv[1]).stat().st_size == size
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert log.flush()
"""
    path = tmp_path / "events.jsonl"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert names(path) == ["first", "second"]


def test_a_torn_end_does_not_spoil_the_next_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"event": "first"}\n{"event": "to')
    assert names(path) == ["first"]
    EventLog(path).write("second")
    assert names(path) == ["first", "second"]


def test_lines_that_are_not_events_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'[]\n\xff\xfe\n{"no": 1}\n\n{"event": "first"}\n')
    assert names(path) == ["first"]
    assert read_events(tmp_path / "none") == []


def test_a_tail_returns_each_complete_line_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    tail = EventTail(path)
    assert tail.poll() == []
    path.write_text('{"event": "first"}\n{"eve')
    assert [event["event"] for event in tail.poll()] == ["first"]
    assert tail.poll() == []
    with path.open("a") as file:
        file.write('nt": "second"}\n')
    assert [event["event"] for event in tail.poll()] == ["second"]
    assert EventTail(path, skip_present=True).poll() == []
