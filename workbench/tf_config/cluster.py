"""A cluster of tasks with their addresses, as `TF_CONFIG` describes it, and checks of a cluster.

`tf.distribute.cluster_resolver.TFConfigClusterResolver` defines the format. `cluster` maps types of
tasks to lists of `host:port`, and `task` names one task by type and index.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.config import ConfigError, Problem, did_you_mean

TYPES = ("chief", "worker", "ps", "evaluator")
ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%\w]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})")
HIGHEST_PORT = 65_535
LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|\[::1\]")


class TFConfigError(ConfigError):
    """A TF_CONFIG with which TensorFlow would fail or wait for ever, with all its problems."""


@dataclass(frozen=True, order=True)
class Identity:
    """The identity of a task: `worker-1` is the second worker."""

    type: str
    index: int

    def __str__(self) -> str:
        return f"{self.type}-{self.index}"


@dataclass(frozen=True)
class Cluster:
    """The addresses of all tasks by type, without evaluators, which are not in the cluster."""

    addresses: Mapping[str, tuple[str, ...]]
    evaluators: int = 0

    @property
    def tasks(self) -> list[Identity]:
        """All tasks in the order of `TYPES`."""
        counts = {kind: len(each) for kind, each in self.addresses.items()}
        counts["evaluator"] = self.evaluators
        return [Identity(kind, at) for kind in TYPES for at in range(counts.get(kind, 0))]

    @property
    def sha256(self) -> str:
        """A hash of the addresses; it is equal in all tasks that received the same cluster."""
        text = json.dumps({kind: list(each) for kind, each in sorted(self.addresses.items())})
        return hashlib.sha256(text.encode()).hexdigest()

    def address(self, task: Identity) -> str:
        """Return the address of a task; evaluators have none."""
        return self.addresses[task.type][task.index]

    def tf_config(self, task: Identity) -> str:
        """Return the JSON text of TF_CONFIG for the environment of a task."""
        cluster = {kind: list(each) for kind, each in self.addresses.items()}
        config = {"cluster": cluster, "task": {"type": task.type, "index": task.index}}
        return json.dumps(config)


def make_cluster(addresses: Mapping[str, Sequence[str]], evaluators: int = 0) -> Cluster:
    """Return the cluster of these addresses, by type of task.

    Raises:
        TFConfigError: an address is invalid or occurs twice, or the types do not fit together.
    """
    given = {kind: tuple(each) for kind, each in addresses.items() if each}
    if problems := list(_problems(given)):
        raise TFConfigError(problems)
    ordered = {kind: given[kind] for kind in TYPES if kind in given}
    return Cluster(ordered, evaluators)


def read_tf_config(text: str) -> tuple[Cluster, Identity]:
    """Return the cluster of a TF_CONFIG, and the task for which the TF_CONFIG is.

    Raises:
        TFConfigError: TensorFlow could not use it, or would wait for a missing task.
    """
    try:
        values = json.loads(text)
    except ValueError as error:
        raise _no_object(f"text that is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise _no_object(json.dumps(values))
    cluster, task = values.get("cluster"), values.get("task")
    if problems := list(_shape_problems(cluster, task)):
        raise TFConfigError(problems)
    assert isinstance(cluster, dict)
    assert isinstance(task, dict)
    if problems := [*_problems(cluster), *_task_problems(cluster, task)]:
        raise TFConfigError(problems)
    identity = Identity(task["type"], int(task["index"]))
    evaluators = identity.index + 1 if identity.type == "evaluator" else 0
    return Cluster({kind: tuple(each) for kind, each in cluster.items()}, evaluators), identity


def resolve(cluster: Cluster) -> None:
    """Check that this machine can look up the hosts of all addresses.

    Raises:
        TFConfigError: this machine does not know some of the hosts.
    """
    problems = []
    for task in cluster.tasks:
        if task.type not in cluster.addresses:
            continue
        host, port = split(cluster.address(task))
        try:
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            problems.append(
                Problem(
                    f"the address of {task}",
                    "one that this machine can look up",
                    f"{cluster.address(task)} ({error.strerror or error})",
                    "Fix the name, or write the IP address instead.",
                )
            )
    if problems:
        raise TFConfigError(problems)


def split(address: str) -> tuple[str, int]:
    """Return the host and the port of an address; an IPv6 host has no brackets."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _no_object(got: str) -> TFConfigError:
    fix = 'Write it as {"cluster": {"worker": ["host:port", ...]}, "task": {...}}.'
    return TFConfigError([Problem("TF_CONFIG", "a JSON object", got, fix)])


def _shape_problems(cluster: Any, task: Any) -> Iterator[Problem]:
    if not isinstance(cluster, dict) or not all(
        isinstance(each, list) and all(isinstance(one, str) for one in each)
        for each in cluster.values()
    ):
        fix = 'Write it as {"worker": ["host:port", ...]}; "chief" and "ps" in the same way.'
        yield Problem("cluster", "lists of addresses by type of task", json.dumps(cluster), fix)
    if not isinstance(task, dict) or not _is_index(task.get("index")) or "type" not in task:
        fix = 'Write it as {"type": "worker", "index": 0}, different for each task.'
        yield Problem("task", "a type and an index from 0", json.dumps(task), fix)


def _is_index(value: Any) -> bool:
    # TensorFlow also accepts a number as text.
    return isinstance(value, int | str) and not isinstance(value, bool) and str(value).isdigit()


def _task_problems(cluster: Mapping[str, Sequence[str]], task: Mapping[str, Any]) -> list[Problem]:
    kind, index = task["type"], int(task["index"])
    if kind == "evaluator":
        return []
    if kind not in cluster:
        fix = did_you_mean(str(kind), cluster, "Name a type that the cluster has.")
        rule = f"one of {', '.join([*cluster, 'evaluator'])}"
        return [Problem("task.type", rule, json.dumps(kind), fix)]
    count = len(cluster[kind])
    if index < count:
        return []
    rule = f"from 0 to {count - 1}, as the cluster has {count} of type {kind}"
    fix = "Count from 0, or add the missing address."
    return [Problem("task.index", rule, str(index), fix)]


def _problems(cluster: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    for kind, addresses in cluster.items():
        if kind not in TYPES[:-1]:
            fix = did_you_mean(kind, TYPES[:-1], "Leave it out.")
            if kind == "evaluator":
                fix = "Leave it out: an evaluator knows the cluster but is not part of it."
            rule = f"made of {', '.join(TYPES[:-1])}"
            yield Problem("cluster", rule, kind, fix)
        yield from _address_problems(kind, addresses)
    yield from _duplicates([each for addresses in cluster.values() for each in addresses])
    yield from _role_problems({kind: len(each) for kind, each in cluster.items()})
    yield from _loopback_problems([each for addresses in cluster.values() for each in addresses])


def _address_problems(kind: str, addresses: Sequence[str]) -> Iterator[Problem]:
    for at, address in enumerate(addresses):
        match = ADDRESS.fullmatch(address)
        if not match or not 1 <= int(match["port"]) <= HIGHEST_PORT:
            rule = f"host:port, with a port from 1 to {HIGHEST_PORT:,}"
            fix = "Write it as node1.example:2222, an IPv6 address as [2001:db8::1]:2222."
            yield Problem(f"cluster.{kind}[{at}]", rule, json.dumps(address), fix)


def _duplicates(addresses: Sequence[str]) -> Iterator[Problem]:
    for address, times in Counter(addresses).items():
        if times > 1:
            rule = "addresses that all differ"
            fix = "Give each task of a host its own port."
            yield Problem("cluster", rule, f"{address} {times} times", fix)


def _role_problems(counts: Mapping[str, int]) -> Iterator[Problem]:
    if counts.get("chief", 0) > 1:
        fix = "Make the others workers."
        yield Problem("cluster.chief", "one address at most", str(counts["chief"]), fix)
    if counts.get("ps") and not counts.get("chief"):
        fix = "Add the address of the task that runs the training program."
        rule = "present if the cluster has ps, because it leads ParameterServer"
        yield Problem("cluster.chief", rule, "none", fix)
    if not counts.get("worker") and not counts.get("chief"):
        fix = "Add the address of each worker."
        yield Problem("cluster.worker", "at least one address", "none", fix)
    elif counts.get("ps") and not counts.get("worker"):
        fix = "Add the address of each worker."
        yield Problem("cluster.worker", "present if the cluster has ps", "none", fix)


def _loopback_problems(addresses: Sequence[str]) -> Iterator[Problem]:
    inward = [each for each in addresses if LOOPBACK.fullmatch(each.rpartition(":")[0])]
    if inward and len(inward) < len(addresses):
        rule = "addresses that every task can reach"
        got = f"{', '.join(inward)}, which means another machine on each host"
        fix = "Write the host's network name or network address instead."
        yield Problem("cluster", rule, got, fix)
