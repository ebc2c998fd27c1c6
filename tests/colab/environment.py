"""An environment with the versions that Colab's CPU runtime has."""

from pathlib import Path

from tests import virtualenvs
from tests.colab.lists import versions

NEEDED = ("tensorflow", "tf_keras", "ipykernel")
"""The packages that a run needs in addition to the dependencies of the wheel."""
TESTS = ("pytest>=9", "pytest-timeout", "ruff")


def make(folder: Path, *packages: str) -> Path:
    """Make it in a folder with these packages too, or find it there; return its interpreter.

    Raises:
        RuntimeError: it cannot be installed; the message has uv's output.
    """
    listed = versions("cpu").items()
    pins = "\n".join(f"{name}=={version}" for name, version in listed if "pytest" not in name)
    return virtualenvs.make(folder, pins, [*packages, *NEEDED, *TESTS])
