"""The staleness of the steps of asynchronous workers."""

from pathlib import Path

import numpy as np

from workbench.runs.records.staleness import FILE, read_staleness


def write(folder: Path, rows: list[list[float]]) -> None:
    """Append steps: number, time of reading the weights, time after their update."""
    folder.mkdir(exist_ok=True)
    with (folder / FILE).open("ab") as file:
        file.write(np.array(rows, "<f8").tobytes())


def test_staleness_counts_updates_by_others_during_a_step(tmp_path: Path) -> None:
    write(tmp_path / "worker-0", [[0, 10, 11], [1, 11, 14], [2, 20, 21]])
    write(tmp_path / "worker-1", [[0, 10.5, 12], [1, 12, 13]])
    write(tmp_path / "worker-2", [[0, 10, 20.5]])
    frame = read_staleness(tmp_path, ["worker-0", "worker-1", "worker-2"])
    assert list(frame) == ["worker", "step", "staleness"]
    assert frame.to_numpy().tolist() == [
        [0, 1, 0], [0, 2, 2], [0, 3, 1], [1, 1, 1], [1, 2, 0], [2, 1, 4],
    ]  # fmt: skip


def test_a_repeated_step_counts_once_and_torn_ends_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "worker-0", [[0, 1, 2], [1, 2, 3], [1, 12, 13], [2, 13, 14]])
    write(tmp_path / "worker-1", [[0, 1, 2.5], [0, 11, 12.5]])
    with (tmp_path / "worker-0" / FILE).open("ab") as file:
        file.write(b"torn")
    frame = read_staleness(tmp_path, ["worker-0", "worker-1"])
    assert frame.to_numpy().tolist() == [[0, 1, 0], [0, 2, 1], [0, 3, 0], [1, 1, 0]]


def test_without_records_there_are_no_rows(tmp_path: Path) -> None:
    assert read_staleness(tmp_path, ["worker-0", "worker-1"]).empty
