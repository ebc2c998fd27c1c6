"""Which task holds up the others when they fall silent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .crew import Member
    from .watchdog import Bounds


class CommonSilence:
    """Of tasks that step together, all fall silent when one does: the one that is behind."""

    def __init__(self, members: Sequence[Member], bounds: Bounds) -> None:
        self._members, self._bounds = members, bounds
        self._entered_at: float | None = None
        self._known: Member | None = None

    def blame(self, now: float) -> Member | None:
        """Return the one that is behind where they are silent, or one misses the first step."""
        self._known = self._behind(now)
        return self._known

    @property
    def seconds(self) -> float:
        """How long the named task has been silent."""
        return self._known.dog.silent_seconds if self._known else 0.0

    def _behind(self, now: float) -> Member | None:
        steps = [member.dog.entered_step() for member in self._members]
        silent = [member for member in self._members if member.dog.silent]
        if not silent and not self._first_step_waits(steps, now):
            return None
        if held := [member for member in self._members if member.process.suspended]:
            return held[0]
        known = self._known or (silent or self._members)[0]
        if steps[self._members.index(known)] == min(steps):
            return known
        return self._members[steps.index(min(steps))]

    def _first_step_waits(self, steps: Sequence[int], now: float) -> bool:
        """Return whether some have waited long for others to enter the first step with them."""
        if not min(steps) < 0 <= max(steps):
            self._entered_at = None
            return False
        if self._entered_at is None:
            self._entered_at = now
        return now - self._entered_at >= self._bounds.rendezvous_seconds


class LedSilence:
    """Of workers that a chief gives work: the one that keeps its work while others have gone on.

    Where all have been silent for about as long nobody can tell whom they wait for: their leader
    is named. A worker may be silent from its first call on.
    """

    def __init__(self, leader: Member, workers: Sequence[Member], bounds: Bounds) -> None:
        self._leader, self._workers, self._bounds = leader, workers, bounds
        self._known: Member | None = None

    def blame(self, now: float) -> Member | None:
        """Return the task to be named; None where all go on."""
        if self._known is not None:
            if self.seconds > 0.0:
                return self._known
            for member in self._workers:  # which had no work meanwhile, and have some again
                member.dog.begin(now)
        silent = [member for member in self._workers if member.dog.silent]
        self._known = self._longest_silent() if silent else None
        return self._known

    @property
    def seconds(self) -> float:
        """How long the named task has been silent; of the leader, how long all have been."""
        named = self._workers if self._known is self._leader else [self._known]
        return min(member.dog.silent_seconds for member in named if member is not None)

    def _longest_silent(self) -> Member | None:
        """Return it, or the leader where all are; None where it may be silent for longer yet."""
        for member in self._workers:
            if member.dog.silent and member.process.suspended:
                return member
        seconds = [member.dog.silent_seconds for member in self._workers]
        about_a_call = max(m.dog.limit_seconds for m in self._workers) / self._bounds.stall_factor
        if len(seconds) > 1 and max(seconds) - min(seconds) <= about_a_call:
            return self._leader
        longest = self._workers[seconds.index(max(seconds))]
        return longest if longest.dog.silent or not longest.dog.recorded else None
