"""A meeting of a cluster's tasks without TensorFlow, which shows the tasks that do not answer.

TensorFlow waits for an unreachable task, for minutes or for ever, and does not name the task. In a
meeting, each task listens at its own address and calls all other tasks until they have answered. It
sends its identity, the hash of its cluster, and the time of its clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbench.config import Problem

from .cluster import Cluster, Identity, TFConfigError, split

RETRY_SECONDS = 0.25
CALL_SECONDS = 3.0
LONGEST_LINE = 4096
CLOCK_SECONDS = 1.0
"""The largest difference between clocks that is not reported."""


@dataclass(frozen=True)
class Answer:
    """The result of calling one task."""

    task: Identity
    address: str
    problem: str = ""
    """The problem and the fix; empty if the right task answered."""
    round_trip_seconds: float | None = None
    clock_ahead_seconds: float | None = None
    """The time by which its clock is ahead of this machine's, exact to half a round trip."""

    @property
    def clock_differs(self) -> bool:
        """Whether the times of the two clocks cannot be compared to the second."""
        return abs(self.clock_ahead_seconds or 0.0) > CLOCK_SECONDS


@dataclass
class Meeting:
    """The knowledge of a task about all other tasks."""

    task: Identity
    answers: dict[Identity, Answer] = field(default_factory=dict)
    called_by: set[Identity] = field(default_factory=set)

    @property
    def met(self) -> list[Answer]:
        """The answers of tasks that answered correctly."""
        return [answer for answer in self.answers.values() if not answer.problem]

    @property
    def missing(self) -> list[Answer]:
        """The results for called tasks that did not answer, or answered wrongly."""
        return [answer for answer in self.answers.values() if answer.problem]


def meet(
    cluster: Cluster,
    task: Identity,
    seconds: float,
    on_change: Callable[[Meeting], None] = lambda meeting: None,
    stop: Callable[[], bool] = lambda: False,
) -> Meeting:
    """Meet all other tasks, and return when all have met or the time has passed.

    Each other task has to do the same.

    Args:
        cluster: all tasks.
        task: the task of this process; during the meeting it listens at its address.
        seconds: the time to wait for the other tasks.
        on_change: called after the first result for a task, and whenever the task's problem
            changes.
        stop: called several times a second; if it returns true, the meeting ends early.

    Raises:
        TFConfigError: this machine cannot listen at the task's own address.
    """
    return asyncio.run(_Host(cluster, task, on_change).meet(seconds, stop))


class _Host:
    def __init__(
        self, cluster: Cluster, task: Identity, on_change: Callable[[Meeting], None]
    ) -> None:
        self._cluster, self._task, self._on_change = cluster, task, on_change
        # Evaluators have no address: they call others, and no task calls them.
        self._others = [t for t in cluster.tasks if t.type in cluster.addresses and t != task]
        self._listens = task.type in cluster.addresses
        self._meeting = Meeting(task)

    async def meet(self, seconds: float, stop: Callable[[], bool]) -> Meeting:
        until = time.monotonic() + seconds
        server = await self._listen()
        try:
            calls = [asyncio.create_task(self._call_until_met(each)) for each in self._others]
            while time.monotonic() < until and not stop() and not self._all_met():
                await asyncio.sleep(RETRY_SECONDS / 2)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            for other in self._others:
                unanswered = Answer(other, self._cluster.address(other), _why(TimeoutError()))
                self._meeting.answers.setdefault(other, unanswered)
        finally:
            if server is not None:
                server.close()
        return self._meeting

    def _all_met(self) -> bool:
        """Return whether all other tasks have answered and have called.

        This task has to listen until all have called, so that each call gets an answer.
        """
        called = not self._listens or self._meeting.called_by.issuperset(self._others)
        return called and len(self._meeting.met) == len(self._others)

    async def _listen(self) -> asyncio.Server | None:
        if not self._listens:
            return None
        host, port = split(self._cluster.address(self._task))
        try:
            try:
                return await asyncio.start_server(self._answer, host, port)
            except OSError as error:
                # With address translation, the address does not belong to this machine.
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EINVAL):
                    raise
                return await asyncio.start_server(self._answer, None, port)
        except OSError as error:
            raise TFConfigError(
                [
                    Problem(
                        f"the address of {self._task}",
                        "one at which this machine can listen",
                        f"{self._cluster.address(self._task)} ({error.strerror or error})",
                        "Choose a free port above 1023, or end the program that uses this one.",
                    )
                ]
            ) from error

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError):
            async with asyncio.timeout(CALL_SECONDS):
                line = await reader.readline()
            caller = json.loads(line[:LONGEST_LINE])
            writer.write(self._card())
            await writer.drain()
            if caller.get("cluster") == self._cluster.sha256:
                self._meeting.called_by.add(Identity(caller["type"], caller["index"]))
        writer.close()

    def _card(self) -> bytes:
        card = {
            "type": self._task.type,
            "index": self._task.index,
            "cluster": self._cluster.sha256,
            "time": time.time(),
        }
        return json.dumps(card).encode() + b"\n"

    async def _call_until_met(self, other: Identity) -> None:
        while True:
            answer = await self._call(other)
            before = self._meeting.answers.get(other)
            self._meeting.answers[other] = answer
            if before is None or before.problem != answer.problem:
                self._on_change(self._meeting)
            if not answer.problem:
                return
            await asyncio.sleep(RETRY_SECONDS)

    async def _call(self, other: Identity) -> Answer:
        address = self._cluster.address(other)
        began, sent = time.monotonic(), time.time()
        try:
            # Python 3.11's wait_for can lose a cancellation: python/cpython#86296.
            async with asyncio.timeout(CALL_SECONDS):
                card = await self._exchange(*split(address))
        except (OSError, ValueError) as error:
            return Answer(other, address, _why(error))
        took = time.monotonic() - began
        problem = self._wrong(other, card)
        return Answer(other, address, problem, took, card["time"] - sent - took / 2)

    async def _exchange(self, host: str, port: int) -> dict[str, Any]:
        reader, writer = await asyncio.open_connection(host, port, limit=LONGEST_LINE)
        try:
            writer.write(self._card())
            await writer.drain()
            card = json.loads(await reader.readline())
            if not isinstance(card, dict) or not {"type", "index", "cluster", "time"} <= {*card}:
                raise ValueError("no card")
            return card
        finally:
            writer.close()

    def _wrong(self, other: Identity, card: dict[str, Any]) -> str:
        identity = Identity(card["type"], card["index"])
        if identity != other:
            return (
                f"{identity} answers there. Give each task its own type and index, and the "
                "addresses in the same order on all hosts."
            )
        if card["cluster"] != self._cluster.sha256:
            return "it was given another cluster. Give all tasks the same addresses."
        return ""


def _why(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there. Start that task's check, or fix the port."
    if isinstance(error, TimeoutError):
        return (
            "no answer: the host is down, or a firewall blocks that port. Open the port between "
            "the hosts."
        )
    if isinstance(error, ValueError | ConnectionResetError):
        return "another program listens there. Choose another port, or end that program."
    return f"it cannot be reached: {getattr(error, 'strerror', None) or error}. Fix the address."
