"""The memory that plans count, against the memory that real runs take."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS
from workbench.config import RunConfig
from workbench.plan import PlanError, make_plan
from workbench.runs import start_run

pytestmark = pytest.mark.slow

MLP = {"strategy": "default", "synthetic_examples": 2_000_000}
CNN = {"data": "fashion_mnist", "steps_per_epoch": 1, "per_replica_batch_size": 2_000}


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("global_batch_size", {**MLP, "global_batch_size": 2_000_000}),
        ("global_batch_size", {**MLP, "global_batch_size": 2_000_000, "pipeline": "indexed"}),
        ("synthetic_examples", {**MLP, "steps_per_epoch": 3}),
        ("synthetic_examples", {**MLP, "pipeline": "numpy", "steps_per_epoch": 3}),
        ("per_replica_batch_size", {**CNN, "last_batch": "repeat"}),
        ("per_replica_batch_size", {**CNN, "last_batch": "repeat", "pipeline": "indexed"}),
        ("replicas", {"replicas": 16, "per_replica_batch_size": 8, "steps_per_epoch": 2}),
    ],
)
def test_the_memory_in_which_a_run_trained_is_planned_for_it_and_not_for_much_more(
    field: str, fields: dict[str, Any], tmp_path: Path
) -> None:
    config = RunConfig(**fields, epochs=1, start_now=True)
    run = start_run(config, tmp_path, LAPTOP)
    assert run.wait(LIMIT_SECONDS) == "finished"
    (peak_bytes,) = run.peak_bytes.values()
    machine = dataclasses.replace(LAPTOP, memory_bytes=peak_bytes)
    assert make_plan(config, machine)
    with pytest.raises(PlanError, match=field):
        make_plan(dataclasses.replace(config, **{field: 5 * fields[field]}), machine)
