"""Tasks meet over real sockets: tasks that answer, tasks that do not, and other programs."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.ports import free_ports
from tests.waiting import LIMIT_SECONDS
from workbench.tf_config import Cluster, Identity, Meeting, TFConfigError, make_cluster, meet

ONE, TWO = (Identity("worker", at) for at in range(2))


def cluster_of(count: int) -> Cluster:
    return make_cluster({"worker": [f"127.0.0.1:{port}" for port in free_ports(count)]})


def alone(cluster: Cluster, task: Identity) -> Meeting:
    """Meet until there is a result for another task."""
    changes: list[Meeting] = []
    return meet(cluster, task, LIMIT_SECONDS, changes.append, lambda: bool(changes))


@contextmanager
def listening(port: int, text: bytes) -> Iterator[None]:
    """Run another program at a port, which sends a text to the first caller."""
    with socket.create_server(("127.0.0.1", port)) as server, ThreadPoolExecutor(1) as pool:
        server.settimeout(LIMIT_SECONDS)

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(text)

        pool.submit(answer)
        yield


def test_all_tasks_meet_each_other() -> None:
    cluster = cluster_of(3)
    with ThreadPoolExecutor(3) as pool:
        meetings = list(pool.map(lambda task: meet(cluster, task, LIMIT_SECONDS), cluster.tasks))
    for meeting in meetings:
        others = {task for task in cluster.tasks if task != meeting.task}
        assert {answer.task for answer in meeting.met} == others
        assert meeting.called_by == others
        assert meeting.missing == []
        for answer in meeting.met:
            assert answer.round_trip_seconds is not None
            assert answer.round_trip_seconds > 0
            assert not answer.clock_differs


def test_a_task_that_does_not_listen_is_named() -> None:
    (missing,) = alone(cluster_of(2), ONE).missing
    assert missing.task == TWO
    assert missing.problem.startswith("nothing listens there.")


def test_another_program_at_the_port_is_reported() -> None:
    cluster = cluster_of(2)
    with listening(int(cluster.address(TWO).rpartition(":")[2]), b"SSH-2.0-other\r\n"):
        (missing,) = alone(cluster, ONE).missing
    assert missing.problem.startswith("another program listens there.")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ('"index": 2, "cluster": "{same}"', "worker-2 answers there."),
        ('"index": 1, "cluster": "other"', "it was given another cluster."),
    ],
)
def test_the_wrong_task_and_the_wrong_cluster_are_reported(fields: str, problem: str) -> None:
    cluster = cluster_of(2)
    card = f'{{"type": "worker", {fields.replace("{same}", cluster.sha256)}, "time": 0}}\n'
    with listening(int(cluster.address(TWO).rpartition(":")[2]), card.encode()):
        (missing,) = alone(cluster, ONE).missing
    assert missing.problem.startswith(problem)


def test_a_clock_that_differs_is_reported() -> None:
    cluster = cluster_of(2)
    card = f'{{"type": "worker", "index": 1, "cluster": "{cluster.sha256}", "time": 0}}\n'
    changes: list[Meeting] = []
    with listening(int(cluster.address(TWO).rpartition(":")[2]), card.encode()):
        meeting = meet(cluster, ONE, LIMIT_SECONDS, changes.append, lambda: bool(changes))
    (answer,) = meeting.met
    assert answer.clock_differs
    assert answer.clock_ahead_seconds is not None
    assert answer.clock_ahead_seconds < -1e9


def test_a_port_that_is_taken_is_reported_with_the_task() -> None:
    cluster = cluster_of(2)
    port = int(cluster.address(ONE).rpartition(":")[2])
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(TFConfigError, match="the address of worker-0 must be one at which this mac"),
    ):
        meet(cluster, ONE, LIMIT_SECONDS)


def test_an_evaluator_calls_and_waits_for_no_call() -> None:
    (port,) = free_ports(1)
    cluster = make_cluster({"worker": [f"127.0.0.1:{port}"]}, evaluators=1)
    card = f'{{"type": "worker", "index": 0, "cluster": "{cluster.sha256}", "time": 0}}\n'
    with listening(port, card.encode()):
        meeting = meet(cluster, Identity("evaluator", 0), LIMIT_SECONDS)
    assert [answer.task for answer in meeting.met] == [ONE]


def test_it_ends_if_a_call_fails_at_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[asyncio.Future[None]] = []

    async def open_connection(*address: object, **options: object) -> None:
        calls.append(asyncio.get_running_loop().create_future())
        await calls[-1]

    def stop() -> bool:
        for call in calls:
            call.set_exception(ConnectionRefusedError())
        return bool(calls)

    monkeypatch.setattr(asyncio, "open_connection", open_connection)
    assert meet(cluster_of(2), ONE, LIMIT_SECONDS, stop=stop).met == []


def test_a_call_still_open_at_the_end_counts_as_missing() -> None:
    (answer,) = meet(cluster_of(2), ONE, LIMIT_SECONDS, stop=lambda: True).missing
    assert (answer.task, answer.problem.split(":")[0]) == (TWO, "no answer")
