"""What keeps an environment from being made."""

from __future__ import annotations


class MakingError(RuntimeError):
    """An environment that was not made: the rule, what was met, the change that mends it."""

    def __init__(self, rule: str, got: str, fix: str) -> None:
        """Keep the three parts apart for a form, and join them for a person."""
        super().__init__(f"{rule}; received {got}. {fix}")
        self.rule = rule
        self.got = got
        self.fix = fix


class CancelledError(Exception):
    """Someone asked that it be given up; nothing is left of it."""
