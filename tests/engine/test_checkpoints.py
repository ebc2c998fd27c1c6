"""A run goes on from its newest checkpoint that can be read, or says why from none."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together, train_written
from workbench.config import RunConfig
from workbench.runs import Run
from workbench.runs.programs.step_xray import StepXray

pytestmark = pytest.mark.slow

EPOCHS, STEPS = 3, 10
CONFIG = RunConfig(synthetic_examples=16 * STEPS, global_batch_size=16, epochs=EPOCHS)


def newest(folder: Path, kind: str) -> Path:
    (found,) = folder.glob(f"ckpt-{EPOCHS}.{kind}*")
    return found


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scramble(path: Path) -> None:
    path.write_bytes(bytes(reversed(path.read_bytes())))


Damage = tuple[Callable[[Path], object], int]
FIRST: dict[str, Damage] = {
    "list of no text": (lambda folder: (folder / "checkpoint").write_bytes(b"\x8c\xff"), EPOCHS),
    "newest index scrambled": (lambda folder: scramble(newest(folder, "index")), EPOCHS - 1),
}
"""What is done to the folder of checkpoints, and the epoch from which the run then goes on."""
OTHERS: dict[str, Damage] = {
    "list scrambled": (lambda folder: scramble(folder / "checkpoint"), EPOCHS),
    "list gone": (lambda folder: (folder / "checkpoint").unlink(), EPOCHS),
    "newest index empty": (lambda folder: newest(folder, "index").write_bytes(b""), EPOCHS - 1),
    "newest index gone": (lambda folder: newest(folder, "index").unlink(), EPOCHS - 1),
    "newest data cut": (lambda folder: cut(newest(folder, "data")), EPOCHS - 1),
    "newest data gone": (lambda folder: newest(folder, "data").unlink(), EPOCHS - 1),
}
NONE_LEFT: dict[str, Damage] = {
    "folder gone": (shutil.rmtree, 0),
    "all scrambled": (lambda folder: [scramble(path) for path in folder.glob("ckpt-*")], 0),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train_together(tmp_path_factory.mktemp("whole"), {"whole": CONFIG})["whole"]


def go_on(whole: Trained, root: Path, damages: dict[str, Damage]) -> dict[str, Trained]:
    """Copies of a run, each with its damage, gone on with."""
    written = dict[str, Trained]()
    for name, (damage, _) in damages.items():
        folder = shutil.copytree(whole.run.dir, root / name)
        damage(folder / "checkpoints")
        written[name] = Trained(Run(folder), whole.plan)
    train_written(root, written)
    return written


@pytest.fixture(scope="module")
def first(whole: Trained, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    return go_on(whole, tmp_path_factory.mktemp("first"), {**FIRST, **NONE_LEFT})


@pytest.fixture(scope="module")
def others(whole: Trained, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    return go_on(whole, tmp_path_factory.mktemp("others"), OTHERS)


def assert_goes_on(resumed: Trained, whole: Trained, epoch: int) -> None:
    assert resumed.status == 0, resumed.log
    assert [event["step"] for event in resumed.events("start")] == [0, epoch * STEPS]
    np.testing.assert_array_equal(resumed.losses(), whole.losses())


@pytest.mark.promise
@pytest.mark.parametrize("name", FIRST)
def test_it_goes_on_from_the_newest_that_is_whole_to_the_same_curve(
    name: str, first: dict[str, Trained], whole: Trained
) -> None:
    assert_goes_on(first[name], whole, FIRST[name][1])


@pytest.mark.parametrize("name", OTHERS)
def test_so_it_does_after_any_other_damage(
    name: str, others: dict[str, Trained], whole: Trained
) -> None:
    assert_goes_on(others[name], whole, OTHERS[name][1])


@pytest.mark.promise
@pytest.mark.parametrize("name", NONE_LEFT)
def test_with_none_it_refuses_and_keeps_what_was_recorded(
    name: str, first: dict[str, Trained], whole: Trained
) -> None:
    trained = first[name]
    assert trained.status == 1
    folder = trained.run.dir / "checkpoints"
    assert trained.log.strip().splitlines()[-1] == (
        f"Goes on from a checkpoint; those that this run saved in {folder} are gone or damaged. "
        "Put that folder back from a copy, or start a new run."
    )
    np.testing.assert_array_equal(trained.losses(), whole.losses())


def test_a_step_is_taken_apart_from_the_newest_before_it_whatever_the_list_says(
    whole: Trained, tmp_path: Path
) -> None:
    folder = shutil.copytree(whole.run.dir, tmp_path / "listless")
    (folder / "checkpoints" / "checkpoint").unlink()
    torn = folder / "checkpoints" / f"ckpt-{EPOCHS + 1}"
    torn.with_suffix(".index").touch()
    xray = Run(folder).xray(STEPS + 5)
    assert isinstance(xray, StepXray)
    assert xray.started_at_step == STEPS
    assert xray.step == STEPS + 5
