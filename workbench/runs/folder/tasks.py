"""The tasks of a run: one process each, with a TF_CONFIG that names the others."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .files import RunError, read_json

ONE_TASK = ("worker-0",)
LEAST = {"num_replicas_in_sync": 1, "steps_per_epoch": 1, "epochs": 0, "total_steps": 0}
"""The counts in a plan.json, and the smallest allowed value of each."""
NAME = re.compile(r"[a-z_]+-\d+", re.ASCII)
"""The form of a task's name, which is also the name of its folder."""
HOST = "localhost"
CHIEF = "chief-0"
EVALUATOR = "evaluator-0"
SHARE_PORTS = {"TF_GRPC_REUSE_PORT": "1"}
"""Lets TensorFlow's server listen at a port bound with SO_REUSEPORT (grpc_server_lib.cc)."""


class NoAddressError(OSError):
    """There is no free port for a task."""


def tasks_of(plan: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tasks of a plan.json; the first leads: it records epochs and keeps saved files.

    A name is a type of `TF_CONFIG` and a number, such as `worker-0`. It names a folder in the run's
    folder, so it is never a path.

    Raises:
        RunError: the tasks are not a list of names.
    """
    tasks = plan.get("tasks") or ONE_TASK
    if not isinstance(tasks, list | tuple) or not all(map(_is_name, tasks)):
        raise RunError(
            f"plan.json has {tasks!r} as tasks, instead of a list of names such as worker-0. "
            "Restore the file from a copy, or open the run with the release that wrote it."
        )
    return tuple(tasks)


def restarts_alone(task: str, tasks: Sequence[str]) -> bool:
    """Return whether the others go on while a task that was killed starts again.

    A chief waits for its workers, and an evaluator only reads checkpoints.
    """
    return tasks[0].startswith("chief-") and task.startswith(("worker-", "evaluator-"))


def _is_name(task: object) -> bool:
    return isinstance(task, str) and NAME.fullmatch(task) is not None


def read_numbers(run_dir: Path) -> dict[str, Any]:
    """Read a run's plan.json, and check its counts of replicas, steps and epochs.

    Raises:
        RunError: the file cannot be read, or a count is missing, not an integer or too small.
    """
    path = run_dir / "plan.json"
    plan = read_json(path)
    for name, least in LEAST.items():
        if type(plan.get(name)) is not int or plan[name] < least:
            raise RunError(
                f"{path} has {plan.get(name)!r} as {name}, instead of a whole number from {least}. "
                "Restore the file from a copy, or open the run with the release that wrote it."
            )
    return plan


def leader_of(run_dir: Path) -> str:
    """Return the task of a run that records the epochs and the end of the run."""
    return tasks_of(read_json(run_dir / "plan.json"))[0]


def workers_of(plan: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tasks of a plan.json whose steps are recorded: the workers."""
    return tuple(task for task in tasks_of(plan) if type_of(task) == "worker")


def type_of(task: str) -> str:
    """Return the type of a task: worker, chief, ps or evaluator."""
    return task.rpartition("-")[0]


def tf_configs(tasks: Sequence[str], addresses: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the TF_CONFIG of each task; an evaluator is not part of its own cluster."""
    cluster: dict[str, list[str]] = {}
    for task in tasks:
        if type_of(task) != "evaluator":
            cluster.setdefault(type_of(task), []).append(addresses[task])
    return {
        task: {
            "cluster": cluster,
            "task": {"type": type_of(task), "index": int(task.rpartition("-")[2])},
        }
        for task in tasks
    }


def hold_addresses(tasks: Sequence[str], held: ExitStack) -> dict[str, str]:
    """Return an address of this machine for each task; its port is bound until `held` is closed.

    A task may take seconds until it listens. During this time no other process gets its port, but
    the task's own server can share it; see `SHARE_PORTS`.

    Raises:
        NoAddressError: there is no free port.
    """
    ports = []
    try:
        for _ in tasks:
            holder = held.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            holder.bind(("", 0))
            ports.append(holder.getsockname()[1])
    except OSError as error:
        why = f"{len(ports)} of {len(tasks)} found; {error.strerror}"
        raise NoAddressError(error.errno, why) from error
    return {task: f"{HOST}:{port}" for task, port in zip(tasks, ports, strict=True)}


def environments(tasks: Sequence[str], held: ExitStack) -> dict[str, dict[str, str]]:
    """Return the environment variables of each task; none if there is only one task.

    The ports in them stay bound until `held` is closed; see `hold_addresses`.

    Raises:
        NoAddressError: there is no free port.
    """
    if len(tasks) == 1:
        return {tasks[0]: {}}
    configs = tf_configs(tasks, hold_addresses(tasks, held))
    return {
        task: {"TF_CONFIG": json.dumps(config), **SHARE_PORTS} for task, config in configs.items()
    }
