"""Tests that locks end with their holders."""

import os
import subprocess
import sys
from pathlib import Path

from workbench import flock


def test_a_lock_is_held_until_its_last_holder_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    assert not flock.held(path)
    fd = flock.take(path)
    assert fd is not None
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(fd,)
    )
    os.close(fd)
    assert flock.held(path)
    assert flock.take(path, patience_seconds=0.0) is None
    child.kill()
    child.communicate()
    assert not flock.held(path)
    again = flock.take(path)
    assert again is not None
    os.close(again)


def test_a_new_lock_file_takes_the_place_of_a_removed_one(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    first = flock.take(path)
    assert first is not None
    path.unlink()
    second = flock.take(path)
    assert second is not None
    assert os.path.samestat(os.fstat(second), path.stat())
    os.close(first)
    os.close(second)
