"""The comparison of a replay with its bundle's run, by records, hashes and versions."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.bundle.bundles import VERSIONS, bundle_of, certified_run, rewritten
from tests.widgets.folders import write_run
from workbench.bundle import Bundle, check_replay, read_bundle
from workbench.bundle.contents import Facts
from workbench.experiments.agreement import tolerance
from workbench.runs import Run, RunError
from workbench.runs.folder.files import json_text, sha256

FACTS = Facts("ab" * 32, VERSIONS, {"OMP_NUM_THREADS": "1"})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return certified_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def bundle(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return read_bundle(bundle_of(run, tmp_path_factory.mktemp("bundle") / "b.zip"))


def test_the_same_losses_on_the_same_data_agree(bundle: Bundle, run: Run) -> None:
    found = check_replay(bundle, run, FACTS)
    assert found.holds
    assert found.same_script
    assert found.same_data
    assert (found.agreement.steps, found.agreement.max_loss_difference) == (156, 0.0)
    assert (found.changed, found.environment) == ((), ())
    assert found.tolerance == tolerance("float32")
    assert found.to_json()["agrees"] is True


def test_different_versions_and_variables_are_named(bundle: Bundle, run: Run) -> None:
    here = Facts(FACTS.data_sha256, {**VERSIONS, "numpy": "2.1.3"}, {})
    found = check_replay(bundle, run, here)
    assert found.holds
    assert [(each.name, each.there, each.here) for each in found.changed] == [
        ("numpy", "2.4.6", "2.1.3")
    ]
    (variable,) = found.environment
    assert (variable.name, variable.there, variable.here) == ("OMP_NUM_THREADS", "1", None)


def test_losses_that_differ_by_more_than_rounding_do_not_agree(bundle: Bundle, run: Run) -> None:
    other = replace(bundle, losses=bundle.losses.replace("\n8,1.5\n", "\n8,1.75\n"))
    found = check_replay(other, run, FACTS)
    assert not found.holds
    assert found.agreement.reason == "loss differs by 2.5e-01, first at step 8"
    nearly = replace(bundle, losses=bundle.losses.replace("\n8,1.5\n", "\n8,1.5000001\n"))
    assert check_replay(nearly, run, FACTS).holds


def test_the_steps_of_a_bundle_of_version_1_count_from_0(
    bundle: Bundle, run: Run, tmp_path: Path
) -> None:
    head, *lines = bundle.losses.splitlines()
    counted = [line.split(",") for line in lines]
    from_0 = "\n".join([head, *(f"{int(step) - 1},{loss}" for step, loss in counted)])
    manifest = {**asdict(bundle.manifest), "version": 1}
    manifest["files"]["losses.csv"] = sha256(from_0)
    written = bundle_of(run, tmp_path / "now.zip")
    old = read_bundle(
        rewritten(written, tmp_path / "old.zip", losses=from_0, manifest=json_text(manifest))
    )
    assert check_replay(old, run, FACTS).agreement.max_loss_difference == 0.0
    other = replace(old, losses=from_0.replace("\n7,1.5\n", "\n7,1.75\n"))
    found = check_replay(other, run, FACTS)
    assert found.agreement.reason == "loss differs by 2.5e-01, first at step 8"


def test_different_data_and_different_steps_do_not_agree(bundle: Bundle, run: Run) -> None:
    found = check_replay(bundle, run, replace(FACTS, data_sha256="cd" * 32))
    assert not found.holds
    assert not found.same_data
    fewer = replace(bundle, losses="\n".join(bundle.losses.splitlines()[:-1]))
    found = check_replay(fewer, run, FACTS)
    assert found.agreement.reason == "156 steps recorded, the reference has 155"


def test_in_mixed_precision_only_equal_losses_agree(bundle: Bundle, run: Run) -> None:
    mixed = replace(bundle, manifest=replace(bundle.manifest, precision="mixed_bfloat16"))
    assert check_replay(mixed, run, FACTS).holds
    nearly = replace(mixed, losses=bundle.losses.replace("\n8,1.5\n", "\n8,1.5000001\n"))
    assert not check_replay(nearly, run, FACTS).holds


@pytest.mark.parametrize("losses", ["", "step,loss\n1,high\n", "loss\n1.0\n", "step,loss\n1,1,2\n"])
def test_unreadable_losses_are_an_error(losses: str, bundle: Bundle, run: Run) -> None:
    with pytest.raises(RunError, match=r"losses\.csv in the bundle of .*Take an undamaged copy"):
        check_replay(replace(bundle, losses=losses), run, FACTS)


def test_only_a_finished_replay_is_compared(bundle: Bundle, tmp_path: Path) -> None:
    stopped = write_run(tmp_path, state="stopped")
    with pytest.raises(RunError, match=r"is stopped, so it cannot be compared yet\. Wait for it"):
        check_replay(bundle, stopped, FACTS)
