"""Frames as files: the server sends the frames that the tests of the front end read."""

from __future__ import annotations

import pytest

from tests.server.messages import FOLDER, all_frames


@pytest.fixture(scope="module")
def frames() -> dict[str, bytes]:
    return all_frames()


def test_every_file_holds_a_frame_of_the_server(frames: dict[str, bytes]) -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(frames)


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir()))
def test_the_server_sends_the_frames_of_the_front_ends_tests(
    name: str, frames: dict[str, bytes]
) -> None:
    renew = "python -m tests.server.messages writes the files again"
    assert frames[name] == (FOLDER / name).read_bytes(), renew
