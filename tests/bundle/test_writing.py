"""The contents of a bundle, and the runs without a bundle."""

import importlib.metadata
import platform
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.bundle.bundles import VERSIONS, bundle_of, certified_run, texts_in
from tests.codegen.golden import OWN_MODEL
from tests.machines import LAPTOP
from tests.runs.run_folders import replan
from tests.widgets.folders import CONFIG, records, write_run, write_steps
from workbench.bundle import read_bundle, write_bundle
from workbench.bundle.certificate import in_words, own_certificate, saved_certificate
from workbench.bundle.contents import Facts
from workbench.runs import Run, RunError
from workbench.runs.folder.files import json_text
from workbench.runs.programs.run import run_program


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return certified_run(tmp_path_factory.mktemp("runs"), name="<first>")


def test_a_bundle_holds_all_that_a_replay_and_its_check_need(run: Run, tmp_path: Path) -> None:
    path = bundle_of(run, tmp_path / "bundle.zip")
    assert list(texts_in(path)) == [
        *("manifest.json", "config.json", "train.py"),
        *("requirements.txt", "losses.csv", "certificate.json"),
    ]
    bundle = read_bundle(path)
    assert bundle.script == run.script
    assert bundle.config == CONFIG
    assert bundle.certificate["data_sha256"] == bundle.manifest.data_sha256 == "ab" * 32
    assert bundle.manifest.versions == VERSIONS
    assert bundle.manifest.environment == {"OMP_NUM_THREADS": "1"}
    assert (bundle.manifest.run, bundle.manifest.name) == (run.id, "<first>")
    assert bundle.losses.splitlines()[:2] == ["step,loss", "1,1.5"]
    assert bundle.losses.splitlines()[-1].startswith("156,")
    assert len(bundle.losses.splitlines()) == 1 + 156


def test_the_same_run_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    one, other = (bundle_of(run, tmp_path / name).read_bytes() for name in ("1.zip", "2.zip"))
    assert one == other


def test_the_own_files_that_the_script_imports_are_in_the_bundle(tmp_path: Path) -> None:
    config = replace(CONFIG, model=f"{OWN_MODEL}:build_model")
    run = certified_run(tmp_path / "runs", config=config)
    path = bundle_of(run, tmp_path / "b.zip")
    assert list(texts_in(path))[-1] == "own_code/own_model.py"
    bundle = read_bundle(path)
    assert bundle.own_code == {"own_model.py": OWN_MODEL.read_text()}
    assert bundle.manifest.modules == []


def test_the_exact_versions_of_all_needed_packages_are_pinned(run: Run, tmp_path: Path) -> None:
    lines = read_bundle(bundle_of(run, tmp_path / "b.zip")).requirements.splitlines()
    assert lines[0].startswith(f"# Python {platform.python_version()}: ")
    pins = dict(line.split("==") for line in lines[1:])
    assert {"tensorflow", "keras", "numpy", "protobuf", "h5py"} <= pins.keys()
    assert all(importlib.metadata.version(name) == pins[name] for name in pins)
    assert not {"jupyterlab", "pytest", "plotly"} & pins.keys()


def test_a_module_that_no_package_provides_is_named(run: Run) -> None:
    result = run_program(run.dir, "pins", "tf_keras", "my_models")
    assert result["modules"] == ["my_models"]
    assert "tf-keras" in result["packages"]


def test_fields_that_fit_only_this_machine_are_left_out(tmp_path: Path) -> None:
    run = certified_run(tmp_path / "runs")
    here = {"interpreter": "/no/such", "archive": "/mnt", "start_now": True}
    replan(run, config=replace(run.config, launcher="slurm", partition="gpu", **here))
    config = read_bundle(bundle_of(run, tmp_path / "b.zip")).config
    assert (config.interpreter, config.archive, config.start_now) == (None, None, False)
    assert (config.launcher, config.partition) == ("local", None)


def test_the_devices_that_the_run_had_are_named(tmp_path: Path) -> None:
    run = certified_run(tmp_path / "runs")
    here = {"python_version": platform.python_version()}
    here |= {f"{n}_version": importlib.metadata.version(n) for n in ("tensorflow", "keras")}
    (run.dir / "devices.json").write_text(json_text({**LAPTOP.to_json(), **here}))
    assert read_bundle(bundle_of(run, tmp_path / "b.zip")).config.devices == ("CPU:0",)


def test_versions_that_the_run_did_not_have_are_not_pinned(tmp_path: Path) -> None:
    run = certified_run(tmp_path / "runs")
    there = {**LAPTOP.to_json(), "tensorflow_version": "2.20.0"}
    (run.dir / "devices.json").write_text(json_text(there))
    with pytest.raises(
        RunError, match=r"has changed since the run: .*tensorflow 2\.20\.0 then, .*Install"
    ):
        write_bundle(run, tmp_path / "b.zip")
    assert not list(tmp_path.glob("*.zip"))


def test_only_a_finished_run_is_bundled_and_nothing_is_overwritten(
    run: Run, tmp_path: Path
) -> None:
    stopped = write_run(tmp_path / "runs", state="stopped")
    with pytest.raises(
        RunError, match=r"is stopped. Only a finished run can be bundled.*Wait until it"
    ):
        write_bundle(stopped, tmp_path / "b.zip")
    (tmp_path / "b.zip").touch()
    with pytest.raises(RunError, match="never overwrites"):
        write_bundle(run, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == b""


FACTS = Facts("cd" * 32, VERSIONS, {})


def test_a_run_without_a_certificate_gets_one_by_its_own_check(tmp_path: Path) -> None:
    run = falling_run(tmp_path)
    certificate = own_certificate(run, FACTS)
    assert certificate["claim"] == (
        "Mirrored, custom loop, trains, every step recorded; it was compared with no other run"
    )
    assert (certificate["standard"], certificate["tolerance"]) == (None, None)
    assert certificate["data_sha256"] == FACTS.data_sha256
    assert saved_certificate(run) == certificate
    path = bundle_of(run, tmp_path / "b.zip")
    assert read_bundle(path).certificate == certificate
    words = f"certificate.json states: {certificate['claim']}."
    assert read_bundle(path).manifest.certificate == words


def test_a_run_whose_loss_does_not_fall_gets_no_certificate_and_the_reason_in_words(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path)
    assert own_certificate(run, FACTS) == {}
    assert not (run.dir / "certificate.json").exists()
    words = in_words(run, {})
    assert words.startswith(
        "There is no certificate: the run's own check did not pass, because loss went from 1.5000 "
        "to 1.5000."
    )


def test_a_certificate_of_an_earlier_script_stays_in_the_folder_of_the_run(tmp_path: Path) -> None:
    run = falling_run(tmp_path)
    stale = json_text({"script_sha256": "another"})
    (run.dir / "certificate.json").write_text(stale)
    assert saved_certificate(run) == {}
    assert own_certificate(run, FACTS)["run"] == run.id
    assert (run.dir / "certificate.json").read_text() == stale


def falling_run(root: Path) -> Run:
    """Return a finished run whose loss falls."""
    run = write_run(root, steps=0)
    rows = records(156)
    rows[:, :, 0] *= np.linspace(2.0, 1.0, 156)[:, None]
    write_steps(run.dir / "worker-0", 0, rows)
    return run
