"""A folder for runs that start in the same way as runs of a user."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import LIMIT_SECONDS
from workbench.runs import list_runs


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_STATE", str(tmp_path_factory.mktemp("state")))
        patch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
        patch.delenv("TF_CONFIG", raising=False)
        folder = tmp_path_factory.mktemp("runs")
        yield folder
        for run in list_runs(folder):
            if run.alive:
                run.stop()
                run.wait(LIMIT_SECONDS)
