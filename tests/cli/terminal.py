"""The command `workbench` as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.forked import LOG_LEVEL

COMMAND = str(Path(sys.executable).with_name("workbench"))
SMALL = ["--epochs", "1", "--synthetic-examples", "640", "--start-now"]
ENDLESS = ["--epochs", "100000", "--start-now"]


class Terminal:
    """A folder for commands, with its own runs and locks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.state = folder / "state"
        self.environment = {**os.environ, **LOG_LEVEL, "WORKBENCH_STATE": str(self.state)}
        self.environment.pop("WORKBENCH_RUNS", None)

    def type(self, *arguments: object, answer: str = "") -> subprocess.CompletedProcess[str]:
        """Run `workbench` with these arguments until it ends."""
        done = subprocess.run(
            [COMMAND, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            input=answer,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def begin(self, *arguments: object) -> subprocess.Popen[str]:
        """Start `workbench` with these arguments in a separate process group, as terminals do."""
        return subprocess.Popen(
            [COMMAND, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )


def last_json(done: subprocess.CompletedProcess[str]) -> Any:
    """Read the last printed line as JSON."""
    return json.loads(done.stdout.splitlines()[-1])
