"""The facts on which a run's losses depend, found by the run's own interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.runs.programs.run import run_program

from .contents import Facts

if TYPE_CHECKING:
    from workbench.runs import Run


def facts_of(run: Run) -> Facts:
    """Return the facts of a run, after making its data again to hash it.

    This takes the seconds that TensorFlow needs to load.

    Raises:
        RunError: the program fails.
    """
    result = run_program(run.dir, "certify")
    (own,) = result["runs"].values()
    versions = {**result["versions"], **_keras(run)}
    return Facts(own["data_sha256"], versions, result["environment"])


def _keras(run: Run) -> dict[str, str]:
    devices, legacy = run.devices, run.plan.legacy_keras
    if devices is None:
        return {}
    version = devices.tf_keras_version if legacy else devices.keras_version
    return {"tf-keras" if legacy else "keras": version} if version else {}
