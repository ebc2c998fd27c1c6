"""The real TensorBoard on a folder, with the same requests as its page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import LIMIT_SECONDS

# As if TensorFlow were not installed. Its import would take seconds, and TensorBoard's own reader
# checks each record.
MAIN = """
import sys
sys.modules["tensorflow"] = None
from tensorboard.main import run_main
run_main()
"""


class TensorBoard:
    """A server that has read all records."""

    def __init__(self, address: str) -> None:
        self._address = address

    def ask(self, route: str, **query: str) -> Any:
        """Return the answer of `/data/ROUTE`."""
        url = f"{self._address}data/{route}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=LIMIT_SECONDS) as answer:
            return json.load(answer)

    def post(self, route: str, values: dict[str, Any]) -> Any:
        """Return the answer to a request in JSON."""
        request = urllib.request.Request(
            f"{self._address}data/{route}",
            json.dumps(values).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=LIMIT_SECONDS) as answer:
            return json.load(answer)


@contextmanager
def tensorboard(folder: Path) -> Iterator[TensorBoard]:
    """Serve a folder at a free port of this machine, only for this machine."""
    flags = ["--logdir", str(folder), "--host", "127.0.0.1", "--port", "0"]
    flags += ["--load_fast", "false", "--reload_interval", "0"]  # reads once, before it answers
    server = subprocess.Popen(
        [sys.executable, "-c", MAIN, *flags],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stderr is not None
        output = []
        for line in server.stderr:
            output.append(line)
            if found := re.search(r"http://127\S+", line):
                yield TensorBoard(found[0])
                return
        raise AssertionError("".join(output))
    finally:
        server.terminate()
        server.communicate(timeout=LIMIT_SECONDS)
