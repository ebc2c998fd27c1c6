"""The commands and snippets of README and docs, run in order, and the JSON that they print.

`python -m tests.docs_blocks` runs `docs/reference/json.md` and writes its examples anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.runs import list_runs

ROOT = Path(__file__).parents[1]
JSON_PAGE = ROOT / "docs" / "reference" / "json.md"
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEWEST_RUN = re.compile(r"\bRUN\b")
OPEN = ("changes", "first_step", "whole")
"""Objects in JSON whose keys are not always the same."""


@dataclass(frozen=True)
class Done:
    """A block that was run: what it printed, and the example that follows it on the page."""

    text: str
    printed: str
    example: str | None


def run_blocks(page: str, folder: Path) -> Iterator[Done]:
    """Run all blocks of a page, in order, in one folder.

    `python file=NAME` is a file, `RUN` in a command is the newest run in the folder, and `make` is
    only asked for the commands that it would run. Blocks in `text` and `json` are not run.
    """
    blocks = BLOCK.findall(page)
    for number, (language, file, text) in enumerate(blocks):
        if file:
            (folder / file).write_text(text, encoding="utf-8")
        elif language == "python":
            yield Done(text, run([sys.executable, "-c", text], folder), None)
        elif text.startswith("make "):
            yield Done(text, run(["make", "-n", *text.split()[1:]], ROOT), None)
        elif language == "sh":
            after = blocks[number + 1] if number + 1 < len(blocks) else ("", "", "")
            printed = "".join(run_lines(text, folder))
            yield Done(text, printed, after[2] if after[0] == "json" else None)


def run_lines(text: str, folder: Path) -> Iterator[str]:
    """Run the commands of a block and yield what they print.

    A block that names a run has one command a line, because each line may make a new run.
    """
    for command in text.splitlines() if NEWEST_RUN.search(text) else [text]:
        yield run(["bash", "-euc", NEWEST_RUN.sub(lambda _: newest_run(folder), command)], folder)


def newest_run(folder: Path) -> str:
    """Return the id of the newest run."""
    return list_runs(folder / "runs")[0].id


def run(command: list[str], folder: Path) -> str:
    """Run a command with this environment's programs, and return what it prints.

    Raises:
        AssertionError: it failed; the message has its output.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "TF_CPP_MIN_LOG_LEVEL": "2", "WORKBENCH_RUNS": str(folder / "runs")}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def shape(value: Any) -> Any:
    """Return the keys of JSON, at all levels; of a list, those of its first entry."""
    if isinstance(value, dict):
        return {key: None if key in OPEN else shape(each) for key, each in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else None


def shortened(value: Any, folder: Path) -> Any:
    """Return JSON for a page: lists with one entry, numbers rounded, paths of anyone."""
    if isinstance(value, dict):
        return {key: shortened(each, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [shortened(each, folder) for each in value[:1]]
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, str):
        value = re.sub(r"^\S+/bin/python[\d.]*$", "/home/me/.venv/bin/python", value)
        return value.replace(str(folder), "/home/me/project")
    return value


def main() -> None:
    """Write the examples of the page of JSON anew."""
    page = JSON_PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for done in run_blocks(page, folder):
            if done.example is not None:
                values = shortened(json.loads(done.printed.splitlines()[-1]), folder)
                example = f"```sh\n{done.text}```\n\n```json\n"
                text = json.dumps(values, indent=2) + "\n"
                page = page.replace(f"{example}{done.example}```", f"{example}{text}```")
    JSON_PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
