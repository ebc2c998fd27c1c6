"""A terminal whose runs stop at the end of the tests."""

from collections.abc import Iterator

import pytest

from tests.cli.terminal import Terminal
from tests.forked import share
from tests.waiting import LIMIT_SECONDS
from workbench.runs import list_runs


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    made = Terminal(tmp_path_factory.mktemp("terminal"))
    yield made
    for run in list_runs(made.runs):
        run.stop()
        run.wait(LIMIT_SECONDS)


@pytest.fixture(scope="module")
def forking(terminal: Terminal) -> None:
    """Have the processes of the terminal's commands fork from the server of the tests."""
    share(terminal.state)
