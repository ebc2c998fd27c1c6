"""The parts of a step's time, and one change that may save time."""

from .trial import Trial, try_out
from .verdict import SECONDS, Verdict, judge, saved_verdict
from .worker_speeds import WorkerSpeed, worker_speeds

__all__ = [
    "SECONDS",
    "Trial",
    "Verdict",
    "WorkerSpeed",
    "judge",
    "saved_verdict",
    "try_out",
    "worker_speeds",
]
