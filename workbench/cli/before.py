"""What is asked, checked and said before a run is started."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from workbench.catalog import STRATEGIES
from workbench.config import Problem, RunConfig
from workbench.devices import Devices, detect
from workbench.plan import PlanError, make_plan
from workbench.runs.programs.inspection import inspect_model
from workbench.runs.programs.own_data import look

if TYPE_CHECKING:
    from workbench.plan import Plan


def devices_for(config: RunConfig) -> Devices:
    """Ask TensorFlow, which takes seconds, only where the quick look leaves something open."""
    quick = detect(config.interpreter, import_tensorflow=False)
    accelerated = quick.gpus or quick.tpu_chips
    settled = quick.tensorflow_version is not None and not accelerated
    return quick if settled else detect(config.interpreter)


def checked(config: RunConfig, devices: Devices) -> Plan:
    """Say what of the machine cannot be used, and raise all that is against this run at once.

    A model of one's own is built once, apart, before a run is made for it; that takes seconds.
    """
    problems, plan = check_tensorflow(devices), None
    try:
        plan = make_plan(config, devices, look(config))
    except PlanError as error:
        problems += error.problems
    if problems or plan is None:
        raise PlanError(problems)
    if plan.own_model is not None:
        inspect_model(plan)
    return plan


def check_tensorflow(devices: Devices) -> list[Problem]:
    """Return what is against training there; else say what of the machine cannot be used."""
    if devices.tensorflow_version is None:
        rule = "a Python that can import TensorFlow"
        fix = " ".join(devices.problems)
        return [Problem("interpreter", rule, devices.interpreter, fix)]
    for sentence in devices.problems:
        print(f"Note: {sentence}", file=sys.stderr)
    return []


def tell_before(plan: Plan) -> None:
    """Say what is to be known before the start, beside what is printed of the run."""
    for sentence in filter(None, (STRATEGIES[plan.strategy].warning, *plan.notes)):
        print(f"Note: {sentence}", file=sys.stderr, flush=True)
