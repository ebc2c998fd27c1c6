"""Tests that all commands and snippets of the README run, in order, in one fresh folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.devices import tpu

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_block_runs(tmp_path: Path) -> None:
    blocks = BLOCK.findall(README)
    assert {language for language, _, _ in blocks} == {"sh", "python"}
    for language, file, text in blocks:
        if file:
            (tmp_path / file).write_text(text, encoding="utf-8")
        elif language == "python":
            run([sys.executable, "-c", text], tmp_path)
        elif text.startswith("make "):
            run(["make", "-n", *text.split()[1:]], ROOT)
        else:
            run(["bash", "-euc", text], tmp_path)


def test_places_to_which_it_sends_people_are_titles_of_the_page() -> None:
    files = [
        *(ROOT / "workbench" / "widgets").rglob("*.py"),
        *(ROOT / "extension/schema").iterdir(),
    ]
    pages = "".join(path.read_text() for path in files)
    named = {*re.findall(r"under \*([^*]+?)\*", README), *re.findall(r"tab \*\*(.+?)\*\*", README)}
    assert {"A closer look", "Deterministic operations", "Runs"} <= named
    headings = set(re.findall(r"^\*\*(.+?)\*\*", README, re.MULTILINE))
    missing = [each for each in named - headings if f'"{" ".join(each.split())}"' not in pages]
    assert missing == []


def test_hardware_that_was_run_is_not_said_to_be_untested() -> None:
    (run_on,) = re.findall(r"^\| Run on \| (.+) \|$", README, re.MULTILINE)
    assert "on an H100" in README
    assert "one H100" in run_on
    assert "GPUs and macOS" not in run_on


def test_chips_that_are_lent_singly_are_one_replica() -> None:
    named = re.findall(r"One (v\w+) or (v\w+) chip is one replica", README)
    assert named == [("v5e", "v6e")]
    assert {tpu.REPLICAS_PER_CHIP[kind] for kind in named[0]} == {1}


def test_all_linked_pictures_and_files_exist() -> None:
    names = re.findall(r"\]\(([^)#:]+)\)", README)
    assert [name for name in names if not (ROOT / name).exists()] == []
