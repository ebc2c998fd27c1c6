"""A kept measurement is read back unchanged, or an error gives the reason."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from workbench.interval import Interval
from workbench.runs.folder.files import RunError
from workbench.runs.programs.measurement import read_measurement


@dataclass(frozen=True)
class Found:
    """A measurement with a field of each kind."""

    step: Interval
    names: tuple[str, ...]
    high: float | None
    ratio: float


FOUND = Found(Interval(2.0, 1.0, math.inf), ("a", "b"), None, 1 / 3)


def test_a_kept_measurement_is_read_back_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    path.write_text(json.dumps({**asdict(FOUND), "sentence": "What follows from it."}))
    assert read_measurement(path, Found) == FOUND


def test_a_missing_file_gives_none(tmp_path: Path) -> None:
    assert read_measurement(tmp_path / "found.json", Found) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "Invalid JSON"), ("{}", "step Field required"), (b"\xff", "Invalid JSON")],
)
def test_an_unreadable_measurement_is_reported_with_a_fix(
    text: str | bytes, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "found.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(
        RunError, match=f"measurement in .*found.json cannot be read: {why}.* again"
    ):
        read_measurement(path, Found)
