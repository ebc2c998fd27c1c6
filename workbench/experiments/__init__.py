"""Comparisons of runs: which trains fastest, and do all strategies train the same model?"""

from workbench.experiments.comparing.advice import Advice, recommend
from workbench.experiments.comparing.comparison import (
    Comparison,
    list_comparisons,
    start_comparison,
)
from workbench.experiments.comparing.figures import curves_figure, speed_figure
from workbench.experiments.comparing.grid import AXES, Candidate, candidates
from workbench.experiments.comparing.table import (
    Group,
    Row,
    Table,
    group_runs,
    groups_of,
    make_table,
    with_distinct_labels,
)
from workbench.experiments.searching.batch_finder import find_batch_size
from workbench.experiments.searching.rate_test import find_learning_rate
from workbench.interval import Interval

from .matrix import Cell, Matrix, cells_of, run_matrix
from .scaling import Scaling, should_scale

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
    "with_distinct_labels",
]
