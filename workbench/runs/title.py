"""The title of a run: the name that a person would give it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench import catalog
from workbench.config import USUAL, RunConfig
from workbench.runs.folder.files import RunError
from workbench.runs.folder.plan import read_plan


def title_of(run_dir: Path, name: str, created: float, *, dated: bool = False) -> str:
    """Return a run's own name, else its model, strategy, unusual settings and start in local time.

    An example is `CNN, Mirrored x 2, learning rate 0.01, 06:13`. A run without a name is titled by
    its id if its plan or its start is not known.

    Args:
        run_dir: the folder of the run.
        name: the name that the user gave it; may be empty.
        created: its start in seconds since 1970; 0: unknown.
        dated: whether the date is always in the title, as in a text that is read on other days.
    """
    if name:
        return name
    try:
        plan = read_plan(run_dir)
    except RunError:
        return run_dir.name
    if not created:
        return run_dir.name
    model, started = catalog.short_label_of("model", plan.model), start_of(created, dated=dated)
    return ", ".join((model, plan.in_short, *unusual_settings(plan.config), started))


def unusual_settings(config: RunConfig) -> Iterator[str]:
    """Yield the settings of a config that differ from the usual ones, in words.

    Left out are the settings that every list of runs shows beside the title: data, loop and batch.
    """
    for name, in_words in _SETTINGS.items():
        value = getattr(config, name)
        if value is not None and value != getattr(USUAL, name):
            yield in_words(value)


_SETTINGS: Mapping[str, Callable[[Any], str]] = {
    "optimizer": lambda name: catalog.label_of("optimizer", name),
    "learning_rate": lambda rate: f"learning rate {rate:g}",
    "precision": str,
    "xla": lambda _: "XLA",
    "seed": lambda seed: f"seed {seed}",
}


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
