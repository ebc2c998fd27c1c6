"""A place for runs that are started as a person starts them."""

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_STATE", str(tmp_path_factory.mktemp("state")))
        patch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
        patch.delenv("TF_CONFIG", raising=False)
        yield tmp_path_factory.mktemp("runs")
