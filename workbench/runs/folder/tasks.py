"""The tasks of a run: one process each, with a TF_CONFIG that names the others."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

HOST = "localhost"
SHARE_PORTS = {"TF_GRPC_REUSE_PORT": "1"}
"""Lets TensorFlow's server listen at a port bound with SO_REUSEPORT (grpc_server_lib.cc)."""


class NoAddressError(OSError):
    """There is no free port for a task."""


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
