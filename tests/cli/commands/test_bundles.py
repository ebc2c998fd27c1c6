"""A run is written to one file, repeated elsewhere, and compared with its first result."""

from pathlib import Path
from typing import Any

import pytest

from tests.bundle.bundles import bundle_of, certified_run, config_text, rewritten
from tests.cli.terminal import SMALL, Terminal, last_json
from tests.codegen.golden import OWN_MODEL
from workbench.bundle import read_bundle
from workbench.runs import list_runs, open_run
from workbench.runs.folder.files import json_text


@pytest.fixture(scope="module")
def bundle(terminal: Terminal) -> Path:
    """The bundle of a run of five steps, whose folder has a certificate of another script."""
    run = last_json(terminal.type("run", *SMALL, "--json"))
    stale = {"script_sha256": "another", "data_sha256": "another"}
    (Path(run["dir"]) / "certificate.json").write_text(json_text(stale))
    done = terminal.type("bundle", run["run"], "-o", "b.zip", "--json")
    result: dict[str, Any] = last_json(done)
    assert result == {**result, "run": run["run"], "path": str(terminal.folder / "b.zip")}
    assert len(result["data_sha256"]) == 64
    assert "every step recorded; it was compared with no other run" in result["certificate"]
    return terminal.folder / "b.zip"


@pytest.mark.slow
def test_a_bundle_repeated_elsewhere_agrees_to_the_last_bit(
    bundle: Path, terminal: Terminal
) -> None:
    arguments = ("run", "--config", bundle, "--runs-dir", "elsewhere", "--start-now", "--json")
    done = terminal.type(*arguments)
    assert done.returncode == 0, done.stderr
    result = last_json(done)
    replay = result["replay"]
    assert result["status"] == "finished"
    assert result["script_sha256"] == read_bundle(bundle).script_sha256
    assert replay["same_script"]
    assert replay["same_data"]
    assert replay["agrees"]
    assert replay["agreement"]["steps"] == 5
    assert replay["agreement"]["max_loss_difference"] == 0.0
    assert {each["name"] for each in replay["versions"]} == {
        *("python", "tensorflow", "keras", "numpy"),
    }
    assert all(each["there"] == each["here"] for each in replay["versions"])
    assert "The replay agrees: the same data, and every step's loss within rounding." in done.stderr


@pytest.mark.slow
def test_an_edited_script_runs_only_if_it_is_trusted(bundle: Path, terminal: Terminal) -> None:
    opened = read_bundle(bundle)
    edited = rewritten(
        bundle,
        terminal.folder / "edited.zip",
        train=opened.script.replace("0.001", "0.002"),
        losses=opened.losses,
    )
    sha256 = read_bundle(edited).script_sha256
    before = len(list_runs(terminal.runs))
    done = terminal.type("run", "--config", edited, "--start-now")
    assert done.returncode == 1
    assert f"It has the sha256 {sha256}, from release" in done.stderr
    assert f"unzip -p {edited} train.py, then run it unchanged with --trust." in done.stderr
    assert len(list_runs(terminal.runs)) == before

    done = terminal.type("run", "--config", edited, "--start-now", "--trust")
    assert done.returncode == 1
    assert f"Running the bundle's own script unchanged, sha256 {sha256}." in done.stderr
    assert "script      same" in done.stdout
    assert "The replay does not agree: loss differs by" in done.stdout
    (run,) = list_runs(terminal.runs)[:1]
    assert open_run(run.dir).script == read_bundle(edited).script


@pytest.mark.slow
def test_a_bundle_with_a_persons_own_file_is_repeated_without_that_file(
    terminal: Terminal,
) -> None:
    own = terminal.folder / "mine.py"
    own.write_text(OWN_MODEL.read_text())
    run = last_json(terminal.type("run", *SMALL, "--model", "mine.py:build_model", "--json"))
    assert terminal.type("bundle", run["run"], "-o", "own.zip").returncode == 0
    own.unlink()
    done = terminal.type("run", "--config", "own.zip", "--start-now", "--trust", "--json")
    assert done.returncode == 0, done.stderr
    assert last_json(done)["replay"]["same_script"]
    assert last_json(done)["replay"]["agrees"]


def test_another_persons_functions_run_only_if_they_are_trusted(
    terminal: Terminal, tmp_path: Path
) -> None:
    run = certified_run(tmp_path / "runs")
    whole = bundle_of(run, tmp_path / "whole.zip")
    own = rewritten(whole, tmp_path / "own.zip", config=config_text(run, data="os:listdir"))
    done = terminal.type("run", "--config", own)
    assert done.returncode == 1
    assert "was not run, because it contains another person's functions." in done.stderr


def test_mistakes_are_reported(terminal: Terminal, tmp_path: Path) -> None:
    whole = bundle_of(certified_run(tmp_path / "runs"), tmp_path / "whole.zip")
    done = terminal.type("run", "--config", whole, "--detach")
    assert done.returncode == 1
    assert (
        "A replay is compared with the bundle when it ends, so --detach does not work here."
        in done.stderr
    )
    done = terminal.type("run", "--trust")
    assert done.returncode == 1
    assert "--trust only works with --config bundle.zip." in done.stderr
    done = terminal.type("run", "--config", "none.zip")
    assert done.returncode == 1
    assert "none.zip cannot be read: No such file or directory." in done.stderr
