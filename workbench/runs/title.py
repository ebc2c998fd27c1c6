"""The title of a run: the name that a person would give it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench import catalog
from workbench.runs.folder.files import RunError, read_json
from workbench.runs.folder.tasks import workers_of


def title_of(run_dir: Path, name: str, created: float, *, dated: bool = False) -> str:
    """Return a run's own name, else its model, its strategy and its start, in local time.

    An example is `CNN, Mirrored x 2, 06:13`. A run without a name is titled by its id if its plan
    or its start is not known.

    Args:
        run_dir: the folder of the run.
        name: the name that the user gave it; may be empty.
        created: its start in seconds since 1970; 0: unknown.
        dated: whether the date is always in the title, as in a text that is read on other days.
    """
    if name:
        return name
    try:
        plan = read_json(run_dir / "plan.json")
        made_of = (catalog.short_label_of("model", plan["model"]), strategy_of(plan))
    except (RunError, LookupError, TypeError, AttributeError):
        return run_dir.name
    return ", ".join((*made_of, start_of(created, dated=dated))) if created else run_dir.name


def strategy_of(plan: Mapping[str, Any]) -> str:
    """Return the strategy of a plan.json with its replicas or workers, such as `Mirrored x 2`."""
    strategy = catalog.STRATEGIES[plan["strategy"]]
    if strategy.workers:
        return f"{strategy.label} x {len(workers_of(plan))}"
    several = strategy.mirrors or strategy.tpu
    return f"{strategy.label} x {plan['num_replicas_in_sync']}" if several else strategy.label


def start_of(created: float, *, dated: bool = False) -> str:
    """Return a start as `06:13`, with the date if it is not today's, and the year likewise."""
    start, now = time.localtime(created), time.localtime()
    if start.tm_year != now.tm_year:
        day = f"{start.tm_mday} {time.strftime('%b %Y', start)}, "
    elif dated or start.tm_yday != now.tm_yday:
        day = f"{start.tm_mday} {time.strftime('%b', start)}, "
    else:
        day = ""
    return f"{day}{time.strftime('%H:%M', start)}"
