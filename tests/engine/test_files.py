"""The examples that TensorFlow really gives to each worker, under every policy of sharding."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.tasks import OBSERVER, run_workers
from tests.engine.training import write_run
from tests.forked import ROOT, run_program
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

SHARES = Path(__file__).parent / "shares.py"
EXAMPLES, BATCH, FILES = 67, 8, 8
STEPS = EXAMPLES // BATCH  # of an epoch; 3 examples remain
TAKEN, START = 3 * STEPS, STEPS + 3  # steps to compare; the first step of a resumed run
BASE = {"synthetic_examples": EXAMPLES, "global_batch_size": BATCH, "epochs": 3}
OWN_FILE = Path(__file__).parent / "own_records.py"
OWN = {"data": f"{OWN_FILE}:records", "model": f"{OWN_FILE}:build_model"}
ALONE = {
    "mirrored": RunConfig(**BASE, pipeline="files"),
    "mirrored_file": RunConfig(**BASE, pipeline="files", auto_shard="file"),
    "default": RunConfig(**BASE, pipeline="files", strategy="default"),
    "usual": RunConfig(**BASE),
    "own": RunConfig(**BASE, **OWN),
}
POLICIES = ("auto", "data", "file", "off")
WORKERS = {**BASE, "strategy": "multi_worker_mirrored"}
TOGETHER = {
    **{f"files_{p}": RunConfig(**WORKERS, pipeline="files", auto_shard=p) for p in POLICIES},
    **{f"usual_{p}": RunConfig(**WORKERS, auto_shard=p) for p in POLICIES if p != "file"},
    **{f"own_{p}": RunConfig(**WORKERS, **OWN, auto_shard=p) for p in POLICIES},
    "uneven": RunConfig(**WORKERS, pipeline="files", data_files=3),
    "repeat": RunConfig(**WORKERS, pipeline="files", last_batch="repeat"),
}
Rows = np.ndarray[Any, Any]
Received = Mapping[str, list[Rows]]
"""An array [step, example] for each worker, by the name of the script and its first step."""


def take_batches(root: Path, configs: Mapping[str, RunConfig], workers: int) -> Received:
    """Take batches of every script in each worker, from the first step and from START."""
    scripts = [
        write_run(root, name, config).run.dir / "train.py" for name, config in configs.items()
    ]
    out = root / "out"
    starts = [f"{script}@{start}" for script in scripts for start in (0, START)]
    command = [SHARES, out, TAKEN, *starts]
    cache = {"XDG_CACHE_HOME": f"{root}/cache"}
    if workers == 1:
        run_program(command, environment=cache)
    else:
        run_workers(command, ROOT, workers, environment=cache)
    return {
        f"{name}@{start}": [
            np.load(out / f"worker-{n}" / f"{name}@{start}.npy") for n in range(workers)
        ]
        for name in configs
        for start in (0, START)
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module", autouse=True)
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The examples that the data function of a user reads, written to the files in turn."""
    folder = tmp_path_factory.mktemp("records")
    program = Path(__file__).parent / "write_records.py"
    run_program([program, folder, EXAMPLES, FILES])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECORDS", str(folder))
        yield


@pytest.fixture(scope="module")
def two(root: Path) -> Received:
    return take_batches(root, TOGETHER, 2)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Received:
    return take_batches(tmp_path_factory.mktemp("one"), ALONE, 1)


def epoch(rows: Rows, number: int, steps: int = STEPS) -> list[int]:
    """Return the examples of an epoch in their order."""
    return rows[number * steps : (number + 1) * steps].ravel().tolist()


@pytest.mark.parametrize("number", range(3))
def test_each_example_of_an_epoch_comes_once(number: int, one: Received) -> None:
    (rows,) = one["mirrored@0"]
    assert len(set(epoch(rows, number))) == STEPS * BATCH


def test_every_epoch_has_its_own_order_which_all_strategies_in_one_process_share(
    one: Received,
) -> None:
    (rows,) = one["mirrored@0"]
    assert epoch(rows, 0) != epoch(rows, 1) != epoch(rows, 2)
    np.testing.assert_array_equal(rows, one["default@0"][0])
    assert (np.sort(rows) != np.sort(one["usual@0"][0])).any()


def test_auto_sharding_has_no_effect_in_one_process(one: Received) -> None:
    np.testing.assert_array_equal(one["mirrored@0"], one["mirrored_file@0"])


@pytest.mark.parametrize("name", TOGETHER)
def test_workers_that_start_at_a_later_step_receive_the_same_examples(
    name: str, two: Received
) -> None:
    for whole, later in zip(two[f"{name}@0"], two[f"{name}@{START}"], strict=True):
        np.testing.assert_array_equal(whole[START:], later[: TAKEN - START])


def test_a_process_alone_receives_the_same_examples(one: Received) -> None:
    for name in ALONE:
        np.testing.assert_array_equal(
            one[f"{name}@0"][0][START:], one[f"{name}@{START}"][0][: TAKEN - START]
        )


SHARED = [f"{kind}_{p}" for kind in ("files", "own") for p in ("auto", "file", "data")]
SHARED += ["usual_auto", "usual_data"]


@pytest.mark.parametrize("name", SHARED)
def test_shares_of_an_epoch_are_disjoint_and_together_complete(name: str, two: Received) -> None:
    for number in range(3):
        first, second = (epoch(rows, number) for rows in two[f"{name}@0"])
        assert len(first) == len(second) == STEPS * BATCH // 2
        assert len({*first, *second}) == STEPS * BATCH


@pytest.mark.parametrize("name", ["files_auto", "files_file", "own_file"])
def test_policy_file_gives_a_worker_only_examples_of_its_own_files(
    name: str, two: Received
) -> None:
    for worker, rows in enumerate(two[f"{name}@0"]):
        files = set((rows % FILES).ravel().tolist())  # the files took examples in turn
        assert files == set(range(worker, FILES, 2))


@pytest.mark.parametrize("name", ["files_data", "usual_auto", "usual_data", "own_data", "own_auto"])
def test_policy_data_gives_the_global_batches_of_one_process(
    name: str, two: Received, one: Received
) -> None:
    same = {"files": "mirrored", "usual": "usual", "own": "own"}[name.partition("_")[0]]
    (alone,) = one[f"{same}@0"]
    np.testing.assert_array_equal(np.concatenate(two[f"{name}@0"], axis=1), alone)


@pytest.mark.parametrize("name", ["files_off", "usual_off", "own_off"])
def test_policy_off_gives_every_worker_the_same_part_of_an_epoch(name: str, two: Received) -> None:
    first, second = two[f"{name}@0"]
    np.testing.assert_array_equal(first, second)
    assert len(set(epoch(first, 0))) == STEPS * BATCH // 2


def test_uneven_files_repeat_and_leave_out_as_many_examples_as_the_plan_says(two: Received) -> None:
    first, second = (Counter(epoch(rows, 0)) for rows in two["uneven@0"])
    assert len(first) == 32  # of the 45 in two files, so it leaves out 13
    assert len(second) == 22  # all of one file, so it repeats 10
    assert not first.keys() & second.keys()


def test_repeat_fills_the_last_batch_of_each_worker_with_its_own_examples(two: Received) -> None:
    shares = [Counter(epoch(rows, 0, STEPS + 1)) for rows in two["repeat@0"]]
    assert [len(share) for share in shares] == [34, 33]
    assert sorted(Counter(shares[0] + shares[1]).values()) == [1] * 62 + [2] * 5


def test_files_are_written_once_and_completely(root: Path, two: Received) -> None:
    assert two
    folders = list((root / "cache" / "tf-distribute-workbench").iterdir())
    held = {folder.name.rpartition("-")[2]: len(list(folder.iterdir())) for folder in folders}
    assert held == {"8": 8, "3": 3}


def test_a_script_that_cannot_write_its_cache_says_how_to_fix_it(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    script = write_run(tmp_path, "alone", ALONE["default"]).run.dir / "train.py"
    done = run_program([script], environment={"XDG_CACHE_HOME": str(taken)}, check=False)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"Needs to write {taken}/tf-distribute-workbench/")
    assert message.endswith("Make room there, or set XDG_CACHE_HOME to another folder.")


@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_workers_train_from_their_own_files(loop: str, root: Path, tmp_path: Path) -> None:
    config = RunConfig(**{**WORKERS, "epochs": 2}, pipeline="files", auto_shard="file", loop=loop)
    script = write_run(tmp_path, "trained", config).run.dir / "train.py"
    out = ["--run-dir", tmp_path / "out"]
    cache = {"XDG_CACHE_HOME": f"{root}/cache"}
    run_workers([OBSERVER, *out, script, *out], tmp_path, environment=cache)
    for worker in range(2):
        path = tmp_path / "out" / f"worker-{worker}" / "steps.f4"
        losses, _, examples = np.fromfile(path, "<f4").reshape(-1, 3).T
        assert examples.tolist() == [BATCH // 2] * 2 * STEPS
        assert np.isfinite(losses).all()
