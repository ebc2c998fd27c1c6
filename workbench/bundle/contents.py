"""What a replay bundle holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.config import RunConfig

BUNDLE_VERSION = 1
MANIFEST, CONFIG, SCRIPT = "manifest.json", "config.json", "train.py"
REQUIREMENTS, LOSSES, CERTIFICATE = "requirements.txt", "losses.csv", "certificate.json"
MOST_BYTES = {
    MANIFEST: 2**20,
    CONFIG: 2**20,
    SCRIPT: 2**22,
    REQUIREMENTS: 2**20,
    LOSSES: 2**27,
    CERTIFICATE: 2**20,
}
"""Each file that can be in a bundle, in this order, and how large it can be: losses of millions of
steps fit."""
OPTIONAL = (LOSSES, CERTIFICATE)


@dataclass(frozen=True)
class Facts:
    """What a run's losses depend on beside its script."""

    data_sha256: str
    """Of all examples and labels to train and test on, as the program `certify` hashes them."""
    versions: dict[str, str]
    """Of python, tensorflow, numpy, and keras or tf-keras."""
    environment: dict[str, str]
    """The variables that change how numbers are computed, where they were set."""


@dataclass(frozen=True)
class Manifest:
    """What a bundle tells of its run."""

    run: str
    name: str
    created: float
    """When the run began, in seconds since 1970."""
    workbench: str
    """The release that wrote the bundle."""
    precision: str
    together: bool
    """Whether all replicas took a step together; else there are no losses to compare."""
    replica_devices: list[str]
    virtual: bool
    cpu: str | None
    data_sha256: str
    versions: dict[str, str]
    environment: dict[str, str]
    modules: list[str]
    """What the script imports that no package provides: it has to be taken along by hand."""
    files: dict[str, str]
    """The sha256 of each other file of the bundle."""
    version: int = BUNDLE_VERSION


@dataclass(frozen=True)
class Bundle:
    """A bundle as it was read; nothing of it is on disk but the zip file."""

    manifest: Manifest
    config: RunConfig
    """What the run asked for, on the devices it had, without what belongs to its machine."""
    script: str
    requirements: str
    losses: str
    """CSV with the columns step and loss; empty where workers did not step together."""
    certificate: dict[str, Any] = field(default_factory=dict)
    """Empty where there is none."""

    @property
    def script_sha256(self) -> str:
        """Of its script."""
        return self.manifest.files[SCRIPT]
