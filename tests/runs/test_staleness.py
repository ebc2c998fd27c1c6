"""How stale the steps of workers were that wait for nobody."""

from pathlib import Path

import numpy as np

from workbench.runs.staleness import FILE, read_staleness


def write(folder: Path, rows: list[list[int]]) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / FILE).open("ab") as file:
        file.write(np.array(rows, "<i8").tobytes())


def test_each_step_of_each_worker_has_its_staleness(tmp_path: Path) -> None:
    write(tmp_path / "worker-0", [[0, 0], [1, 2]])
    write(tmp_path / "worker-1", [[0, 1]])
    frame = read_staleness(tmp_path, ["worker-0", "worker-1"])
    assert frame.to_numpy().tolist() == [[0, 0, 0], [0, 1, 2], [1, 0, 1]]
    assert list(frame) == ["worker", "step", "staleness"]


def test_a_step_done_again_counts_once_and_torn_ends_do_not(tmp_path: Path) -> None:
    write(tmp_path / "worker-0", [[0, 0], [1, 5], [1, 3], [2, 4]])
    with (tmp_path / "worker-0" / FILE).open("ab") as file:
        file.write(b"torn")
    frame = read_staleness(tmp_path, ["worker-0"])
    assert frame["staleness"].tolist() == [0, 3, 4]


def test_where_nothing_was_measured_there_is_nothing(tmp_path: Path) -> None:
    assert read_staleness(tmp_path, ["worker-0", "worker-1"]).empty
