"""Questions, checks and messages before a run is started."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from workbench.catalog import STRATEGIES
from workbench.config import Problem, RunConfig
from workbench.devices import Devices, detect
from workbench.devices.nvidia import driver_gpus
from workbench.fields import is_own
from workbench.plan import PlanError, make_plan
from workbench.plan.advice import advice
from workbench.plan.keras import needs_legacy_keras
from workbench.runs.processes.forks import loaded_ahead
from workbench.runs.programs.detection import detect_devices
from workbench.runs.programs.inspection import inspect_model
from workbench.runs.programs.own_data import inspect_data

if TYPE_CHECKING:
    from workbench.plan import Plan


def devices_for(config: RunConfig) -> Devices:
    """Return the devices for a config.

    TensorFlow is asked only if the quick check leaves a question open, because it takes seconds.
    """
    quick = detect(config.interpreter, import_tensorflow=False)
    accelerated = quick.gpus or quick.tpu_chips
    settled = quick.tensorflow_version is not None and not accelerated
    return quick if settled else detect_devices(config.interpreter)


def ahead(config: RunConfig) -> AbstractContextManager[None]:
    """Load TensorFlow once, ahead, for a command with several processes that need it in turn."""
    legacy = needs_legacy_keras(config)
    return loaded_ahead(config.interpreter, legacy=legacy, start=config.start)


def ahead_of_a_run(config: RunConfig) -> AbstractContextManager[None]:
    """Do the same if the trainer is not the only process of a run that needs TensorFlow.

    Others list the GPUs, and inspect custom data or a custom model.
    """
    asked = driver_gpus() or is_own(config.data) or is_own(config.model or "")
    return ahead(config) if asked else nullcontext()


def checked(config: RunConfig, devices: Devices) -> Plan:
    """Return the plan of a run, and print which parts of the machine cannot be used.

    A custom model is built once, in a separate process, before its run is made. This takes seconds.

    Raises:
        PlanError: the run cannot be started; all problems are reported together.
    """
    problems, plan = check_tensorflow(devices), None
    try:
        plan = make_plan(config, devices, inspect_data(config))
    except PlanError as error:
        problems += error.problems
    if problems or plan is None:
        raise PlanError(problems)
    for warning in advice(plan, devices).values():
        print(f"Note: {warning}", file=sys.stderr)
    if plan.own_model is not None:
        inspect_model(plan)
    return plan


def check_tensorflow(devices: Devices) -> list[Problem]:
    """Return the problem if TensorFlow is missing; else print which devices cannot be used."""
    if devices.tensorflow_version is None:
        rule = "a Python that can import TensorFlow"
        fix = " ".join(devices.problems)
        return [Problem("interpreter", rule, devices.interpreter, fix)]
    for sentence in devices.problems:
        print(f"Note: {sentence}", file=sys.stderr)
    return []


def print_notes(plan: Plan) -> None:
    """Print the strategy's warning and the plan's notes before the start of the run."""
    for sentence in filter(None, (STRATEGIES[plan.strategy].warning, *plan.notes)):
        print(f"Note: {sentence}", file=sys.stderr, flush=True)
