"""Environments for runs: TensorFlow in a folder of its own, beside the kernel's packages.

`make_environment()` makes one or finds it made, and returns its interpreter. Nothing of what the
kernel has is changed, and no kernel has to be restarted.
"""

from workbench.environments.builds import BUILDS, Build, fitting_build
from workbench.environments.errors import CancelledError, MakingError
from workbench.environments.make import Made, make_environment
from workbench.environments.progress import Progress

__all__ = [
    "BUILDS",
    "Build",
    "CancelledError",
    "Made",
    "MakingError",
    "Progress",
    "fitting_build",
    "make_environment",
]
