"""The parts of a step's time, and one change that may save time."""

from .own_paces import OwnPace, own_paces
from .trial import Trial, try_out
from .verdict import SECONDS, Verdict, judge, kept_verdict

__all__ = [
    "SECONDS",
    "OwnPace",
    "Trial",
    "Verdict",
    "judge",
    "kept_verdict",
    "own_paces",
    "try_out",
]
