"""Planning: `RunConfig` + `Devices` -> `Plan` with all numbers, or a `PlanError`.

A `PlanError` holds all problems. Its names load lazily, because a process that only reads plans
needs none of the planner.
"""

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..config import Problem
    from .launching import rehearsal_in_words, rehearsed
    from .plan import Plan
    from .planning import make_plan
    from .problems import PlanError

__all__ = [
    "Plan",
    "PlanError",
    "Problem",
    "make_plan",
    "rehearsal_in_words",
    "rehearsed",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Plan": ".plan",
        "PlanError": ".problems",
        "Problem": "..config",
        "make_plan": ".planning",
        "rehearsal_in_words": ".launching",
        "rehearsed": ".launching",
    },
)
