"""What a run is made of, in words, so that only runs that do the same work are ranked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.folder.files import sha256
from workbench.runs.folder.state import supervisor_events
from workbench.runs.processes.own_modules import newest_hash

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.plan.plan import OwnFunction

WORK = ("model", "data", "batch")
"""The values that make the work of a step. Runs are ranked only among those that share them."""


def made_of(run_dir: Path, plan: Plan) -> dict[str, str]:
    """Return the values that are equal in runs that train the same, by their names."""
    return {
        "data": _data(run_dir, plan),
        "model": _named(run_dir, plan.model, plan.own_model),
        "batch": batch_of(plan),
        "seed": str(plan.config.seed),
        "learning rate": str(plan.learning_rate),
        "precision": plan.config.precision,
        "XLA": "on" if plan.config.xla else "off",
    }


def batch_of(plan: Plan) -> str:
    """Return the examples of a step, in words: of all replicas, or of each worker by itself."""
    whole = plan.global_batch_size
    return f"{whole:,}" if whole else f"{plan.per_replica_batch_size:,} per worker"


def _data(run_dir: Path, plan: Plan) -> str:
    """Return the data and what decides them besides the seed, in words."""
    config = plan.config
    if plan.data == "synthetic":
        return (
            f"{plan.data} with {config.synthetic_examples:,} examples of "
            f"{config.synthetic_features:,} features and noise {config.synthetic_noise:g}"
        )
    named = _named(run_dir, plan.data, plan.own_data)
    return named if plan.own_data is None else f"{named} with {plan.num_train_examples:,} examples"


def _named(run_dir: Path, name: str, own: OwnFunction | None) -> str:
    """Return the name of data or of a model; of the user's own function also its source's hash."""
    if own is None:
        return name
    if own.source is not None:
        found: str | None = sha256(own.source)
    else:
        found = newest_hash(supervisor_events(run_dir), own.module or "")
    return f"{Path(name).name} (sha256 {found[:8]})" if found else name
