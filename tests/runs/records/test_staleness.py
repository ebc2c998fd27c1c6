"""How stale the steps of workers were that wait for nobody."""

from pathlib import Path

import numpy as np

from workbench.runs.records.staleness import FILE, read_staleness


def write(folder: Path, rows: list[list[float]]) -> None:
    """Append steps: number, when it read the weights, when it had updated them."""
    folder.mkdir(exist_ok=True)
    with (folder / FILE).open("ab") as file:
        file.write(np.array(rows, "<f8").tobytes())


def test_a_step_is_as_stale_as_others_updated_the_weights_meanwhile(tmp_path: Path) -> None:
    write(tmp_path / "worker-0", [[0, 10, 11], [1, 11, 14], [2, 20, 21]])
    write(tmp_path / "worker-1", [[0, 10.5, 12], [1, 12, 13]])
    write(tmp_path / "worker-2", [[0, 10, 20.5]])
    frame = read_staleness(tmp_path, ["worker-0", "worker-1", "worker-2"])
    assert list(frame) == ["worker", "step", "staleness"]
    assert frame.to_numpy().tolist() == [
        [0, 0, 0], [0, 1, 2], [0, 2, 1], [1, 0, 1], [1, 1, 0], [2, 0, 4],
    ]  # fmt: skip


def test_a_step_done_again_counts_once_and_torn_ends_do_not(tmp_path: Path) -> None:
    write(tmp_path / "worker-0", [[0, 1, 2], [1, 2, 3], [1, 12, 13], [2, 13, 14]])
    write(tmp_path / "worker-1", [[0, 1, 2.5], [0, 11, 12.5]])
    with (tmp_path / "worker-0" / FILE).open("ab") as file:
        file.write(b"torn")
    frame = read_staleness(tmp_path, ["worker-0", "worker-1"])
    assert frame.to_numpy().tolist() == [[0, 0, 0], [0, 1, 1], [0, 2, 0], [1, 0, 0]]


def test_where_nothing_was_measured_there_is_nothing(tmp_path: Path) -> None:
    assert read_staleness(tmp_path, ["worker-0", "worker-1"]).empty
