"""Planning: `RunConfig` + `Devices` -> `Plan` with all numbers, or a `PlanError`.

A `PlanError` holds all problems.
"""

from ..config import Problem
from .launching import rehearsal_in_words, rehearsed
from .plan import Plan, make_plan, who_trains
from .problems import PlanError

__all__ = [
    "Plan",
    "PlanError",
    "Problem",
    "make_plan",
    "rehearsal_in_words",
    "rehearsed",
    "who_trains",
]
