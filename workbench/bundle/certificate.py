"""The facts on which a run's losses depend, and the certificate of them in a bundle."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

from workbench.bundle.contents import Facts
from workbench.experiments.agreement import Agreement, Proof, trains, version_of_keras
from workbench.runs import RunError
from workbench.runs.folder.files import CERTIFICATE, json_text, read_json, sha256, write_text
from workbench.runs.programs.run import run_program

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
    versions = {**result["versions"], **version_of_keras(run)}
    return Facts(own["data_sha256"], versions, result["environment"])


def saved_certificate(run: Run) -> dict[str, Any]:
    """Return the certificate of exactly this script; empty if there is none.

    Raises:
        RunError: it cannot be read.
    """
    path = run.dir / CERTIFICATE
    certificate = read_json(path) if path.exists() else {}
    return certificate if certificate.get("script_sha256") == sha256(run.script) else {}


def own_certificate(run: Run, facts: Facts) -> dict[str, Any]:
    """Return a certificate by the run's own check; empty if the check does not pass.

    The check needs no other run: every step is recorded, and the loss falls if there are enough
    steps to see it. The certificate is kept in the run's folder, so that a second bundle has the
    same bytes.
    """
    if trains(run):
        return {}
    found = Agreement(len(run.steps(["step"])), run.config.precision)
    proof = Proof(run, None, found, **dataclasses.asdict(facts))
    certificate = proof.certificate(None)
    if not (run.dir / CERTIFICATE).exists():
        with contextlib.suppress(RunError):  # a read-only folder is checked again
            write_text(run.dir / CERTIFICATE, json_text(certificate))
    return certificate


def in_words(run: Run, certificate: dict[str, Any]) -> str:
    """Return what the certificate in a bundle states, or why there is none."""
    if certificate:
        return f"{CERTIFICATE} states: {certificate.get('claim', 'no claim')}."
    return (
        f"There is no certificate: the run's own check did not pass, because {trains(run)}. "
        "`workbench matrix` compares the strategies on this machine, with certificates."
    )
