"""The errors that stop the making of an environment."""

from __future__ import annotations


class MakingError(RuntimeError):
    """An environment could not be made: the rule, the value received, and the fix."""

    def __init__(self, rule: str, got: str, fix: str) -> None:
        """Keep the three parts apart for a form, and join them for a person."""
        super().__init__(f"{rule}; got {got}. {fix}")
        self.rule = rule
        self.got = got
        self.fix = fix


class CancelledError(Exception):
    """The caller cancelled the making of an environment; no part of the environment remains."""
