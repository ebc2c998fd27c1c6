"""The places where a run's tasks run: this machine, or an engine with more machines, as a job.

The package needs the standard library only, because a run's supervisor imports it.
"""

from __future__ import annotations

from .engine import Engine, JobStatus, LauncherError, Reach
from .kubernetes import Kubernetes
from .ray_cluster import Ray
from .slurm import Slurm

LOCAL = "local"
ENGINES: dict[str, Engine] = {"kubernetes": Kubernetes(), "ray": Ray(), "slurm": Slurm()}
"""The engines other than this machine, by their names in a config."""

__all__ = ["ENGINES", "LOCAL", "Engine", "JobStatus", "LauncherError", "Reach"]
