"""A watched run: outside a terminal, each stage of its start has a line."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.training import write_run
from tests.runs.records.written_run import WrittenRun
from workbench.cli.watching import show, watch
from workbench.config import RunConfig


class Output(io.StringIO):
    """An output that is no terminal; a printed sentence has its effect on the run."""

    def __init__(self, effects: dict[str, Callable[[], None]]) -> None:
        super().__init__()
        self.effects = effects

    def write(self, text: str) -> int:
        self.effects.pop(text, lambda: None)()
        return super().write(text)


@pytest.fixture
def starting(tmp_path: Path) -> WrittenRun:
    """A living run whose process was started and has not imported TensorFlow."""
    writer = WrittenRun(write_run(tmp_path, "starting", RunConfig()).run)
    writer.alive()
    writer.state("starting", at=1)
    writer.silence("begun", at=1, how={"worker-0": "cold: as requested"})
    return writer


def test_the_card_of_a_run_on_an_engine_names_the_place_of_its_tasks(tmp_path: Path) -> None:
    config = RunConfig(launcher="slurm", nodes=2, gpus_per_task=1)
    there, here = (
        show(write_run(tmp_path, name, asked).run)
        for name, asked in (("there", config), ("here", RunConfig()))
    )
    assert "  runs on     Slurm, 2 nodes, 1 GPU per task\n" in there
    assert "runs on" not in here


def test_each_stage_of_the_start_is_printed_when_it_begins(starting: WrittenRun) -> None:
    def stop() -> None:
        starting.state("stopped", at=3)
        starting.dead()

    output = Output(
        {
            "Importing TensorFlow.": lambda: starting.event("imported", at=2),
            "Building the model.": stop,
        }
    )
    watch(starting.run, output)
    assert output.effects == {}
    assert "\nImporting TensorFlow.\nBuilding the model.\n" in output.getvalue()
    assert "status      stopped" in output.getvalue()
