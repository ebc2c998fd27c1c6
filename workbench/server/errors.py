"""The reason that a page receives if a request cannot be done."""

from __future__ import annotations

from typing import Any


class RequestError(Exception):
    """An error for a request that cannot be done: an HTTP status and a three-part error text."""

    def __init__(self, status: int, message: str, more: dict[str, Any] | None = None) -> None:
        """`more` has further keys of the answer, in addition to the message."""
        super().__init__(message)
        self.status, self.message = status, message
        self.more = more or {}

    def to_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"message": self.message, **self.more}
