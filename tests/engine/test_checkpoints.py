"""A run resumes from its newest readable checkpoint, or gives the reason if there is none."""

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
    """Return a file of the last checkpoint; a slow machine saves more than one for each epoch."""
    found = folder.glob(f"ckpt-*.{kind}*")
    return max(found, key=lambda path: int(path.name.removeprefix("ckpt-").split(".")[0]))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scramble(path: Path) -> None:
    path.write_bytes(bytes(reversed(path.read_bytes())))


Damage = tuple[Callable[[Path], object], int]
FIRST: dict[str, Damage] = {
    "list of no text": (lambda folder: (folder / "checkpoint").write_bytes(b"\x8c\xff"), EPOCHS),
    "newest index scrambled": (lambda folder: scramble(newest(folder, "index")), EPOCHS - 1),
}
"""The damage to the folder of checkpoints, and the epoch from which the run then resumes."""
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


def resume_damaged(whole: Trained, root: Path, damages: dict[str, Damage]) -> dict[str, Trained]:
    """Copy a run once for each damage, damage the copies, resume them and return them."""
    written = dict[str, Trained]()
    for name, (damage, _) in damages.items():
        folder = shutil.copytree(whole.run.dir, root / name)
        damage(folder / "checkpoints")
        written[name] = Trained(Run(folder), whole.plan)
    train_written(root, written)
    return written


@pytest.fixture(scope="module")
def first(whole: Trained, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    return resume_damaged(whole, tmp_path_factory.mktemp("first"), {**FIRST, **NONE_LEFT})


@pytest.fixture(scope="module")
def others(whole: Trained, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    return resume_damaged(whole, tmp_path_factory.mktemp("others"), OTHERS)


def assert_resumes(resumed: Trained, whole: Trained, epoch: int) -> None:
    assert resumed.status == 0, resumed.log
    assert [event["step"] for event in resumed.events("start")] == [0, epoch * STEPS]
    np.testing.assert_array_equal(resumed.losses(), whole.losses())


@pytest.mark.promise
@pytest.mark.parametrize("name", FIRST)
def test_a_run_resumes_from_its_newest_whole_checkpoint_to_the_same_curve(
    name: str, first: dict[str, Trained], whole: Trained
) -> None:
    assert_resumes(first[name], whole, FIRST[name][1])


@pytest.mark.parametrize("name", OTHERS)
def test_a_run_resumes_to_the_same_curve_after_any_other_damage(
    name: str, others: dict[str, Trained], whole: Trained
) -> None:
    assert_resumes(others[name], whole, OTHERS[name][1])


@pytest.mark.promise
@pytest.mark.parametrize("name", NONE_LEFT)
def test_a_run_without_a_whole_checkpoint_refuses_to_resume_and_keeps_its_records(
    name: str, first: dict[str, Trained], whole: Trained
) -> None:
    trained = first[name]
    assert trained.status == 1
    folder = trained.run.dir / "checkpoints"
    assert trained.log.strip().splitlines()[-1] == (
        f"Needs a checkpoint to resume from; those that this run saved in {folder} are missing or "
        "damaged. Restore that folder from a copy, or start a new run."
    )
    np.testing.assert_array_equal(trained.losses(), whole.losses())


def test_an_xray_starts_at_the_newest_checkpoint_before_its_step_even_without_the_list(
    whole: Trained, tmp_path: Path
) -> None:
    folder = shutil.copytree(whole.run.dir, tmp_path / "listless")
    (folder / "checkpoints" / "checkpoint").unlink()
    broken = folder / "checkpoints" / f"ckpt-{EPOCHS + 1}"
    broken.with_suffix(".index").touch()
    xray = Run(folder).xray(STEPS + 5)
    assert isinstance(xray, StepXray)
    assert xray.started_at_step == STEPS
    assert xray.step == STEPS + 5
