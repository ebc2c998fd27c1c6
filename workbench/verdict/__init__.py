"""The parts of a step's time, and one change that may save time."""

from .recorded import WorkerSpeed, worker_speeds
from .trial import Trial, try_out
from .verdict import SECONDS, Verdict, judge, saved_verdict

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
