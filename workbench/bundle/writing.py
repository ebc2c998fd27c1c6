"""The writing of a replay bundle: the same run gives the same bytes."""

from __future__ import annotations

import dataclasses
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.codegen import render_script
from workbench.free_path import file_name, new_path
from workbench.plan import PlanError, make_plan
from workbench.plan.launching import for_anywhere
from workbench.runs import RunError
from workbench.runs.folder.files import CERTIFICATE, KEPT_CODE, full_path, json_text, sha256
from workbench.runs.folder.trust import kept_files
from workbench.runs.programs.run import run_program
from workbench.version import __version__

from .certificate import facts_of, in_words, own_certificate, saved_certificate
from .contents import (
    CONFIG,
    LOSSES,
    MANIFEST,
    MOST_BYTES,
    REQUIREMENTS,
    SCRIPT,
    Facts,
    Manifest,
)

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.runs import Run

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file: the earliest time that a zip file can store."""


def write_bundle(run: Run, path: str | os.PathLike[str] | None = None) -> Manifest:
    """Write the complete bundle of a finished run, and return the bundle's manifest.

    If the writing fails, no file remains. The run's interpreter reports the versions of the
    packages that the script imports. It also makes the data again to hash it, unless the run's
    certificate has the hash. That takes seconds.

    Args:
        run: a finished run.
        path: the file to write, which must not exist; None means `RUN-bundle.zip` in the working
            directory.

    Raises:
        RunError: the run is not finished, its interpreter has other versions now, a program fails,
            the path exists already, or the path cannot be written.
    """
    if run.status != "finished":
        raise RunError(
            f"{run.id} is {run.status}. Only a finished run can be bundled, because a bundle is "
            "checked by training all its steps again. Wait until it finishes, or resume it."
        )
    target = full_path(path or f"{file_name(run.id)}-bundle.zip")
    with new_path(target) as hidden:
        manifest, texts = _contents(run)
        _write_zip(hidden, {MANIFEST: json_text(dataclasses.asdict(manifest)), **texts})
    return manifest


def _contents(run: Run) -> tuple[Manifest, dict[str, str]]:
    plan, devices = run.plan, run.devices
    modules = ["tf_keras"] if plan.legacy_keras else []
    pins = run_program(run.dir, "pins", *modules)
    _check_versions(run, pins)
    kept = saved_certificate(run)
    facts = _certified(kept) if kept else facts_of(run)
    certificate = kept or own_certificate(run, facts)
    texts = {
        CONFIG: json_text(_portable(run).to_json()),
        SCRIPT: run.script,
        REQUIREMENTS: _requirements(pins),
    }
    texts |= {f"{KEPT_CODE}/{path.name}": _text_of(path) for path in kept_files(run.dir)}
    if plan.synchronous:
        losses = run.steps(["step", "loss"])
        texts[LOSSES] = losses.to_csv(index=False, na_rep="nan", lineterminator="\n")
    if certificate:
        texts[CERTIFICATE] = json_text(certificate)
    manifest = Manifest(
        run=run.id,
        name=run.name,
        created=run.created,
        workbench=__version__,
        precision=plan.config.precision,
        together=plan.synchronous,
        replica_devices=list(plan.replica_devices),
        virtual=plan.virtual,
        cpu=devices.cpu_model if devices else None,
        modules=pins["modules"],
        certificate=in_words(run, certificate),
        files={name: sha256(text) for name, text in texts.items()},
        **dataclasses.asdict(facts),
    )
    return manifest, texts


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path} cannot be bundled: {error}. Save your file as UTF-8.") from error


def _check_versions(run: Run, pins: Mapping[str, Any]) -> None:
    """Check that the versions to pin are the versions that the run had.

    Raises:
        RunError: a version has changed.
    """
    devices, packages = run.devices, pins["packages"]
    if devices is None:
        return
    had = {
        "python": devices.python_version,
        "tensorflow": devices.tensorflow_version,
        "keras": devices.keras_version,
    }
    have = {"python": pins["python"], **packages}
    changed = [
        f"{name} {had[name]} then, {have[name]} now"
        for name in had
        if had[name] and name in have and have[name] != had[name]
    ]
    if changed:
        raise RunError(
            f"{run.plan.interpreter} has changed since the run: {', '.join(changed)}. A bundle "
            "pins the versions that the run had. Install the earlier versions again, or train "
            "again and bundle the new run."
        )


def _certified(certificate: Mapping[str, Any]) -> Facts:
    return Facts(*(certificate[name] for name in ("data_sha256", "versions", "environment")))


def _portable(run: Run) -> RunConfig:
    """Return the config with the run's devices, without fields that fit only its machine.

    The config does not name the devices if naming them would make another script.
    """
    here = for_anywhere(run.config)
    devices, plan = run.devices, run.plan
    if devices is None or run.config.devices is not None:
        return here
    try:
        named = dataclasses.replace(here, devices=plan.physical_devices)
        same = render_script(make_plan(named, devices, plan.data_facts)) == run.script
    except PlanError:
        return here
    return named if same else here


def _requirements(pins: Mapping[str, Any]) -> str:
    lines = [f"# Python {pins['python']}: the script's packages with all their dependencies."]
    return "\n".join([*lines, *(f"{name}=={is_}" for name, is_ in pins["packages"].items())]) + "\n"


def _write_zip(path: Path, texts: Mapping[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as file:
        own = sorted(texts.keys() - MOST_BYTES.keys())
        for name in (*filter(texts.__contains__, MOST_BYTES), *own):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, texts[name].encode("utf-8"), compresslevel=9)
