"""A small disk that a test fills, where tests may mount one."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

KIB = 1024


class Disk:
    """A file system of 8 MiB on which ballast takes what room there is."""

    def __init__(self, at: Path) -> None:
        self.at, self.ballast = at, at / "ballast"
        at.mkdir()
        mount = ("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(at))
        subprocess.run(mount, check=True, capture_output=True)

    def leave(self, room_bytes: int) -> None:
        """Take all but this much of what is left."""
        with self.ballast.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4 * KIB))
            except OSError:
                file.truncate(max(0, file.tell() - room_bytes))

    def end(self) -> None:
        subprocess.run(("umount", "--lazy", str(self.at)), check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    try:
        made = Disk(tmp_path / "disk")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting is not allowed here")
    yield made
    made.end()
