"""Many runs side by side: which trains fastest, and do all strategies train the same model?"""

from workbench.interval import Interval

from .advice import Advice, recommend
from .batch_finder import find_batch_size
from .comparison import Comparison, list_comparisons, start_comparison
from .figures import curves_figure, speed_figure
from .grid import AXES, Candidate, candidates
from .matrix import Cell, Matrix, cells_of, run_matrix
from .rate_test import find_learning_rate
from .scaling import Scaling, should_scale
from .table import Group, Row, Table, group_runs, groups_of, make_table, told_apart

__all__ = [
    "AXES",
    "Advice",
    "Candidate",
    "Cell",
    "Comparison",
    "Group",
    "Interval",
    "Matrix",
    "Row",
    "Scaling",
    "Table",
    "candidates",
    "cells_of",
    "curves_figure",
    "find_batch_size",
    "find_learning_rate",
    "group_runs",
    "groups_of",
    "list_comparisons",
    "make_table",
    "recommend",
    "run_matrix",
    "should_scale",
    "speed_figure",
    "start_comparison",
    "told_apart",
]
