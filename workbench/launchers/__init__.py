"""Where a run's tasks run: on this machine, or as a job of an engine that has more of them.

Standard library only: a run's supervisor imports it.
"""

from __future__ import annotations

from .engine import Engine, JobStatus, LauncherError, Reach
from .kubernetes import Kubernetes
from .ray_cluster import Ray
from .slurm import Slurm

LOCAL = "local"
ENGINES: dict[str, Engine] = {"kubernetes": Kubernetes(), "ray": Ray(), "slurm": Slurm()}
"""Those that are not local, by the name that a config has for them."""

__all__ = ["ENGINES", "LOCAL", "Engine", "JobStatus", "LauncherError", "Reach"]
