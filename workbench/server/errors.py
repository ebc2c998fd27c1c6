"""Why a request is not done, as a page is told."""

from __future__ import annotations

from typing import Any


class RequestError(Exception):
    """A request that cannot be done: an HTTP status, and words with the three parts of an error."""

    def __init__(self, status: int, message: str, more: dict[str, Any] | None = None) -> None:
        """`more` goes with the message in the answer."""
        super().__init__(message)
        self.status, self.message = status, message
        self.more = more or {}

    def to_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"message": self.message, **self.more}
