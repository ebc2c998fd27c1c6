"""A script of one task trains alone with any TF_CONFIG in its environment."""

import json
from pathlib import Path

import pytest

from tests.engine.training import write_run
from tests.forked import run_program
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

FOREIGN = json.dumps(
    {
        "cluster": {"worker": ["localhost:1", "localhost:2"], "ps": ["localhost:3"]},
        "task": {"type": "worker", "index": 1},
    }
)


@pytest.mark.parametrize(
    ("strategy", "tf_config"),
    [
        ("multi_worker_mirrored", "{"),
        ("multi_worker_mirrored", "[]"),
        ("multi_worker_mirrored", FOREIGN),
    ],
)
def test_a_tf_config_that_is_broken_or_of_other_tasks_changes_nothing(
    strategy: str, tf_config: str, root: Path
) -> None:
    workers = 1 if strategy == "multi_worker_mirrored" else None
    config = RunConfig(strategy=strategy, workers=workers, synthetic_examples=640, epochs=1)
    run = write_run(root, f"{strategy}-{len(tf_config)}", config).run
    command = [run.dir / "train.py", "--run-dir", "."]
    printed = run_program(command, run.dir, {"TF_CONFIG": tf_config}).stdout
    assert printed.startswith("start at step 0 of 10\nepoch 1: ")
    assert {path.name for path in run.dir.iterdir()} >= {"checkpoints", "model.keras"}
