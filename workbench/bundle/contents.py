"""The contents of a replay bundle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.runs.folder.files import CERTIFICATE, KEPT_CODE

if TYPE_CHECKING:
    from workbench.config import RunConfig

BUNDLE_VERSION = 4
FIRST_STEP_IN = {1: 0, 2: 1, 3: 1, 4: 1}
"""The number of a run's first step in `losses.csv`, for each version that can be read."""
MANIFEST, CONFIG, SCRIPT = "manifest.json", "config.json", "train.py"
REQUIREMENTS, LOSSES = "requirements.txt", "losses.csv"
MOST_BYTES = {
    MANIFEST: 2**20,
    CONFIG: 2**20,
    SCRIPT: 2**22,
    REQUIREMENTS: 2**20,
    LOSSES: 2**27,
    CERTIFICATE: 2**20,
}
"""The largest size in bytes of each file that can be in a bundle, in the order of the files.

The losses of millions of steps fit.
"""
OPTIONAL = (LOSSES, CERTIFICATE)
_OWN_FILE = re.compile(re.escape(f"{KEPT_CODE}/") + r"[^/\\]+\.py")
_MOST_BYTES_OF_OWN = 2**20


def most_bytes(name: str) -> int | None:
    """Return the largest size of a file of a bundle; None if no bundle has a file of this name.

    Besides the files above, a bundle can have the user's own files that the script imports.
    """
    own = _MOST_BYTES_OF_OWN if _OWN_FILE.fullmatch(name) else None
    return MOST_BYTES.get(name, own)


@dataclass(frozen=True)
class Facts:
    """The facts on which a run's losses depend, in addition to its script."""

    data_sha256: str
    """The hash by the program `certify` of all examples and labels for training and tests."""
    versions: dict[str, str]
    """The versions of python, tensorflow, numpy, and keras or tf-keras."""
    environment: dict[str, str]
    """The environment variables that were set and that change how numbers are computed."""


@dataclass(frozen=True)
class Manifest:
    """The facts about a run that its bundle records."""

    run: str
    name: str
    created: float
    """The time when the run was created, in seconds since 1970."""
    workbench: str
    """The release of the workbench that wrote the bundle."""
    precision: str
    together: bool
    """Whether the run is synchronous; if not, there are no losses to compare."""
    replica_devices: list[str]
    virtual: bool
    cpu: str | None
    data_sha256: str
    versions: dict[str, str]
    environment: dict[str, str]
    modules: list[str]
    """The modules that the script imports and no package provides.

    The user has to copy them by hand.
    """
    certificate: str
    """What the certificate states, or why there is none; empty in bundles before version 3."""
    files: dict[str, str]
    """The sha256 of each other file of the bundle."""
    version: int = BUNDLE_VERSION


@dataclass(frozen=True)
class Bundle:
    """A bundle in memory; only its zip file is on disk."""

    manifest: Manifest
    config: RunConfig
    """The run's config with the devices that it had, without fields that fit only its machine."""
    script: str
    requirements: str
    losses: str
    """CSV with the columns step and loss; empty if the run is not synchronous.

    The steps count from 1; in a bundle of version 1, from 0.
    """
    certificate: dict[str, Any] = field(default_factory=dict)
    """The certificate of the run; empty if there is none. `Manifest.certificate` has the reason."""
    own_code: Mapping[str, str] = field(default_factory=dict)
    """The texts of the user's own files that the script imports, by file name."""

    @property
    def script_sha256(self) -> str:
        """The sha256 of the script."""
        return self.manifest.files[SCRIPT]
