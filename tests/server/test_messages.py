"""Frames as files: what the server tells today is what the front end is tested with."""

from __future__ import annotations

import pytest

from tests.server.messages import FOLDER, told


@pytest.fixture(scope="module")
def frames() -> dict[str, bytes]:
    return told()


def test_every_file_is_told(frames: dict[str, bytes]) -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(frames)


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir()))
def test_the_server_tells_what_the_front_end_is_tested_with(
    name: str, frames: dict[str, bytes]
) -> None:
    renew = "python -m tests.server.messages writes the files again"
    assert frames[name] == (FOLDER / name).read_bytes(), renew
