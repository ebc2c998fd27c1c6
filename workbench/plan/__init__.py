"""`RunConfig` + `Devices` -> `Plan`, every number resolved; or a `PlanError` with all problems."""

from ..config import Problem
from .launching import rehearsed
from .plan import Plan, make_plan, who_trains
from .problems import PlanError

__all__ = ["Plan", "PlanError", "Problem", "make_plan", "rehearsed", "who_trains"]
