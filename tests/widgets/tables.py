"""Tables of HTML, read by the cell."""

from __future__ import annotations

import re


def rows_of(shown: str) -> list[list[str]]:
    """Return the text of each cell of each row below the head."""
    rows = re.findall(r"<tr>(.*?)</tr>", shown)[1:]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
