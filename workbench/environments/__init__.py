"""Environments for runs: TensorFlow in a separate folder, next to the kernel's packages.

`make_environment()` makes an environment, or finds an existing one, and returns its interpreter.
The kernel's packages do not change, and no kernel has to be restarted.
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
