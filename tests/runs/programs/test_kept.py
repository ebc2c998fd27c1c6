"""What was measured and kept comes back as it was, or with a word on why not."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from workbench.interval import Interval
from workbench.runs.folder.files import RunError
from workbench.runs.programs.kept import read_kept


@dataclass(frozen=True)
class Found:
    """Of all the kinds of fields that a measurement has."""

    step: Interval
    names: tuple[str, ...]
    high: float | None
    ratio: float


FOUND = Found(Interval(2.0, 1.0, math.inf), ("a", "b"), None, 1 / 3)


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    path.write_text(json.dumps({**asdict(FOUND), "sentence": "What follows from it."}))
    assert read_kept(path, Found) == FOUND


def test_nothing_kept_is_nothing(tmp_path: Path) -> None:
    assert read_kept(tmp_path / "found.json", Found) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "Invalid JSON"), ("{}", "step Field required"), (b"\xff", "Invalid JSON")],
)
def test_what_cannot_be_read_is_told_with_what_to_do(
    text: str | bytes, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "found.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RunError, match=f"read from .*found.json; received: {why}.* again"):
        read_kept(path, Found)
