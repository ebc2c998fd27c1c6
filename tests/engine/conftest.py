"""A folder for runs that start in the same way as runs of a user."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forked
from tests.waiting import LIMIT_SECONDS
from workbench.runs import list_runs


@pytest.fixture(scope="module", autouse=True)
def like_the_server() -> Iterator[None]:
    """Have the processes of the product fork from the server in `tests.forked` if it runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_STATE", os.environ[forked.STATE])
        for name, value in forked.LOG_LEVEL.items():
            patch.setenv(name, value)
        patch.delenv("TF_CONFIG", raising=False)
        yield


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for runs, which fork from the server."""
    forked.load_ahead()
    folder = tmp_path_factory.mktemp("runs")
    yield folder
    for run in list_runs(folder):
        if run.alive:
            run.stop()
            run.wait(LIMIT_SECONDS)
