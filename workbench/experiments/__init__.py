"""Comparisons of runs: which trains fastest, and do all strategies train the same model?

Each name is imported at its first use: a page or a command needs only a part of this room.
"""

from typing import TYPE_CHECKING

from workbench.lazy import lazy_names

if TYPE_CHECKING:
    from .cells import Cell
    from .comparing.advice import Advice, recommend
    from .comparing.figures import curves_figure, speed_figure
    from .comparing.rows import Group, Row, Table
    from .comparing.table import group_runs, make_table, with_distinct_labels
    from .matrix import Matrix, matrix_of, newest_matrix, start_matrix
    from .queueing.comparison import Comparison, UnreadableComparison, groups_of, list_comparisons
    from .queueing.grid import AXES, Candidate, candidates
    from .queueing.start import start_comparison
    from .scaling import Scaling, should_scale
    from .searching.batch_finder import find_batch_size
    from .searching.rate_test import find_learning_rate

_HOMES = {
    "AXES": ".queueing.grid",
    "Advice": ".comparing.advice",
    "Candidate": ".queueing.grid",
    "Cell": ".cells",
    "Comparison": ".queueing.comparison",
    "Group": ".comparing.rows",
    "Matrix": ".matrix",
    "Row": ".comparing.rows",
    "Scaling": ".scaling",
    "Table": ".comparing.rows",
    "UnreadableComparison": ".queueing.comparison",
    "candidates": ".queueing.grid",
    "curves_figure": ".comparing.figures",
    "find_batch_size": ".searching.batch_finder",
    "find_learning_rate": ".searching.rate_test",
    "group_runs": ".comparing.table",
    "groups_of": ".queueing.comparison",
    "list_comparisons": ".queueing.comparison",
    "make_table": ".comparing.table",
    "matrix_of": ".matrix",
    "newest_matrix": ".matrix",
    "recommend": ".comparing.advice",
    "should_scale": ".scaling",
    "speed_figure": ".comparing.figures",
    "start_comparison": ".queueing.start",
    "start_matrix": ".matrix",
    "with_distinct_labels": ".comparing.table",
}

__all__ = [
    "AXES",
    "Advice",
    "Candidate",
    "Cell",
    "Comparison",
    "Group",
    "Matrix",
    "Row",
    "Scaling",
    "Table",
    "UnreadableComparison",
    "candidates",
    "curves_figure",
    "find_batch_size",
    "find_learning_rate",
    "group_runs",
    "groups_of",
    "list_comparisons",
    "make_table",
    "matrix_of",
    "newest_matrix",
    "recommend",
    "should_scale",
    "speed_figure",
    "start_comparison",
    "start_matrix",
    "with_distinct_labels",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
