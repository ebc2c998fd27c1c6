"""The server's messages about a run, as files that the tests of both languages read.

`python -m tests.server.messages` in the project's folder writes them again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.widgets.folders import records, write_run, write_steps
from workbench.feed import Message, RunFeed, parts_of
from workbench.runs import Run
from workbench.runs.records.live import Window
from workbench.server.channels import RunsChannel
from workbench.server.folder import RunsFolder
from workbench.server.frames import packed
from workbench.server.series import series_of

FOLDER = Path(__file__).parents[1] / "fixtures" / "messages"
RUN_ID, RUNS, FEED, AT_SECONDS = "20261101-120000-abcd", "/somewhere/runs", "0123abcd", 1001.5
STEPS, MORE, BROKEN = 100, 20, 110


def all_frames() -> dict[str, bytes]:
    """Return the frames of a run that continues, and of a list with this run, by file name."""
    with tempfile.TemporaryDirectory() as root, patch("time.time", lambda: AT_SECONDS):
        run = write_run(Path(root), steps=STEPS, name="The <b>same</b> run")
        names = {str(run.dir.parent.resolve()): RUNS, str(run.dir.parent): RUNS, run.id: RUN_ID}
        frames, folder = _of_a_run(run, names), RunsFolder(run.dir.parent.resolve())
        frames |= {"rows.json": _rows(run, names), "series.bin": series_of(folder, [run.id])}
    return {name: f if isinstance(f, bytes) else f.encode() for name, f in frames.items()}


def _of_a_run(run: Run, names: dict[str, str]) -> dict[str, str | bytes]:
    """Return the frames of a run; `names` has a fixed value for each value that changes."""
    feed = RunFeed(run)
    feed.news(parts_of(run, run.summary))
    whole = feed.whole()
    names = {**names, whole.content["feed"]: FEED}
    frames = {"whole.bin": _frame(whole, names)}
    rows = records(MORE, loss=0.5)
    rows[BROKEN - STEPS - 1, 1, 0] = np.nan
    write_steps(run.dir / "worker-0", STEPS, rows)
    news = feed.news(None)
    assert news is not None
    frames["news.bin"] = _frame(news, names)
    frames["window.bin"] = _frame(feed.closer("a-1", Window(10, 19, 100)), names)
    frames["ended.json"] = _frame(feed.end("The run was deleted."), names)
    return frames


def _frame(message: Message, names: dict[str, str]) -> str | bytes:
    address = {"channel": "run", "folder": "", "run": RUN_ID}
    return packed({**address, "message": _named(message.content, names)}, message.buffers)


def _rows(run: Run, names: dict[str, str]) -> str | bytes:
    frames: list[str | bytes] = []
    channel = RunsChannel(RunsFolder(run.dir.parent.resolve()), "")
    channel.poll()
    channel.greet(frames.append)
    return packed(_named(json.loads(frames[0]), names))


def _named(content: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    text = json.dumps(content)
    for found, name in names.items():
        text = text.replace(json.dumps(found)[1:-1], name)
    return dict(json.loads(text))


def main() -> None:
    """Write the files again."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, frame in all_frames().items():
        (FOLDER / name).write_bytes(frame)


if __name__ == "__main__":
    main()
