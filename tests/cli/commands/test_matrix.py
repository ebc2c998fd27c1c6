"""`workbench matrix` as a user types it."""

import pytest

from tests.cli.terminal import Terminal, last_json
from tests.experiments.written import write_comparison, write_matrix
from workbench.experiments import Cell

CELLS = [
    Cell("one_device", "custom", "pass", max_loss_difference=0.0, max_weight_difference=0.0),
    Cell("mirrored", "fit", "fail", "loss differs by 2.5e-01, first at step 1", "3.15.1",
         max_loss_difference=0.25),
    Cell("tpu", "custom", "unavailable", "no TPU here"),
    Cell("default", "fit", "stopped"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(terminal: Terminal) -> str:
    """The name of a matrix that was stopped."""
    return write_matrix(terminal.runs, "matrix-20260101-000000-abcd", CELLS).folder.name


def test_an_earlier_matrix_is_printed_with_the_command_that_continues_it(
    terminal: Terminal, folder: str
) -> None:
    done = terminal.type("matrix", folder)
    assert done.returncode == 1
    _, one, two, tpu, rest, _, counted, runs, more = done.stdout.splitlines()
    assert one.split()[:5] == ["OneDevice", "custom", "pass", "0", "0"]
    assert one.endswith("too few steps for a speed")
    assert "fail     " in two
    assert "2.5e-01" in two
    assert tpu.endswith("no TPU here")
    assert "not done" in rest
    assert counted.startswith("1 fail, 1 not done, 1 pass, 1 unavailable; 50 steps each, compared")
    assert runs == f"Runs and certificates: {terminal.runs / folder}"
    assert more == f"Continue with: workbench matrix {terminal.runs / folder} --resume"


def test_json_has_a_cell_for_each_strategy_and_loop(terminal: Terminal, folder: str) -> None:
    result = last_json(terminal.type("matrix", folder, "--json"))
    assert (result["steps"], result["data"]) == (50, "synthetic")
    assert result["folder"] == str(terminal.runs / folder)
    assert [cell["status"] for cell in result["cells"]] == [cell.status for cell in CELLS]


def test_a_name_of_no_matrix_is_refused(terminal: Terminal) -> None:
    rates = {"OneDevice": (1000.0,), "Mirrored x 2": (1000.0,)}
    speeds = write_comparison(terminal.runs, rates)
    for name in ("none", speeds.folder.name):
        done = terminal.type("matrix", name)
        assert done.returncode == 1
        assert f"No matrix {name!r} in {terminal.runs}. Give the folder that" in done.stderr


@pytest.mark.parametrize("flags", [(), ("--repeats", "2"), ("--resume",)])
def test_compare_refuses_a_matrix(terminal: Terminal, folder: str, flags: tuple[str, ...]) -> None:
    done = terminal.type("compare", folder, *flags)
    assert done.returncode == 1
    assert f"{folder} is a matrix, which compares losses instead of speeds." in done.stderr
    assert f"Write: workbench matrix {folder}" in done.stderr


def test_flags_that_do_not_fit_together_are_refused(terminal: Terminal, folder: str) -> None:
    done = terminal.type("matrix", folder, "--steps", "3")
    assert done.returncode == 2
    assert "FOLDER must be given without flags of runs to train; got --steps." in done.stderr
    done = terminal.type("matrix", "--resume")
    assert done.returncode == 2
    assert "--resume must be given with the folder to continue; got no folder." in done.stderr
