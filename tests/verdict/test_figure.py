"""The figure shows every part of each step, and the unexplained rest."""

from tests.verdict.steps import broken_down
from workbench.verdict.figure import step_figure
from workbench.verdict.parts import PARTS


def test_a_bar_is_as_long_as_the_step() -> None:
    steps = {"before": broken_down({"input": 2e-3}), "after": broken_down({})}
    figure = step_figure(steps)
    assert [trace.name for trace in figure.data] == [*PARTS, "unexplained"]
    for label, found in steps.items():
        lengths = [
            dict(zip(trace.y, trace.x, strict=True)).get(label, 0.0) for trace in figure.data
        ]
        assert abs(sum(lengths) / 1000 - found.step.value) < 0.05 * found.step.value


def test_a_part_that_does_not_differ_from_zero_is_pale() -> None:
    figure = step_figure({"step": broken_down({"input": 2e-3})})
    pale = {trace.name: trace.marker.opacity for trace in figure.data if trace.y}
    assert pale["input"] == (1.0,)
    assert pale["communication"] == (0.35,)
