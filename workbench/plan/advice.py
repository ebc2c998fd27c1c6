"""Warnings about values that can be trained but are probably not meant, each for its field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .launching import is_local

if TYPE_CHECKING:
    from workbench.devices import Devices

    from .plan import Plan

MOST_PER_CORE = 4
"""The most virtual replicas for each CPU core that bring no warning."""
MOST_STEPS = 30_000_000
FAST_STEPS_PER_SECOND = 1000
"""A rate that small models reach on a CPU."""

_SECRET = re.compile(
    r"(?<![\w$-])(\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\w*)=(?![\s;]|\"?\$|$)", re.IGNORECASE
)
"""The name of a secret to which the shell assigns a value that is no variable."""


def advice(plan: Plan, devices: Devices) -> dict[str, str]:
    """Return the warnings about a valid plan, by the names of config fields."""
    found = {
        "replicas": _many_replicas(plan, devices),
        "epochs": _long(plan),
        "job_setup": _secrets(plan.config.job_setup),
    }
    return {name: text for name, text in found.items() if text}


def _secrets(job_setup: str) -> str:
    names = ", ".join(dict.fromkeys(_SECRET.findall(job_setup)))
    if not names:
        return ""
    return (
        f"The value of {names} is written to the run's folder and its exports. Put it into a file "
        "that only you can read, and write source ~/.secrets here. Or export it before you start "
        "the workbench: Slurm passes your environment on to the job (--export)."
    )


def _many_replicas(plan: Plan, devices: Devices) -> str:
    on_cpu = all(name.startswith("CPU") for name in plan.physical_devices)
    count, cores = plan.num_replicas_in_sync, devices.cpu_cores
    if not (plan.virtual and on_cpu and is_local(plan.config)) or count <= MOST_PER_CORE * cores:
        return ""
    return (
        f"{count:,} virtual replicas share {cores} CPU cores. They train no faster than {cores} "
        "replicas, and each holds its own copy of the model."
    )


def _long(plan: Plan) -> str:
    if plan.total_steps <= MOST_STEPS:
        return ""
    rate = FAST_STEPS_PER_SECOND
    return (
        f"{plan.config.epochs:,} epochs are {plan.total_steps:,} steps. Even at {rate:,} steps per "
        f"second this takes {plan.total_steps / rate / 3600:,.0f} hours."
    )
