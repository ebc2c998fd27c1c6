"""Make every view and open a recorded run, with warnings as errors; used by test_two_ipywidgets.

It runs in an environment without TensorFlow, which may have another version of ipywidgets.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import IPython.display
import ipywidgets as ipw
import matplotlib.backends.backend_agg
import matplotlib.figure
import pandas as pd
import plotly.graph_objects as go

from tests.waiting import LIMIT_SECONDS
from tests.widgets.folders import write_run
from workbench import RunConfig, Workbench
from workbench.feed import RunFeed, parts_of
from workbench.widgets.run.plain_view import PLOTLY_MIME, PlainView
from workbench.widgets.run.predictions import Predictions
from workbench.widgets.run.xray_view import Xray

NAMED = (ipw.Button, ipw.Dropdown, ipw.Text, ipw.Checkbox, ipw.RadioButtons, ipw.ToggleButtons,
         ipw.HTML)  # fmt: skip
CRASHES: list[str] = []


def main() -> None:
    """Print the version of ipywidgets and the number of widgets."""
    warnings.simplefilter("error")
    # Raised by add_traits of ipywidgets 7.7, which every anywidget calls.
    warnings.filterwarnings(
        "ignore", "Deprecated in traitlets 4.1", DeprecationWarning, r"ipywidgets\.widgets\.widget"
    )
    threading.excepthook = lambda args: CRASHES.append(
        f"{args.exc_type.__name__}: {args.exc_value}"
    )
    with tempfile.TemporaryDirectory() as folder:
        views = make_views(Path(folder))
        made = [thing for thing in gc.get_objects() if isinstance(thing, ipw.Widget)]
        del views
        assert not CRASHES, CRASHES
        assert "tensorflow" not in sys.modules
        assert importlib.util.find_spec("tensorflow") is None or "--any" in sys.argv
        assert nameless(made) == [], nameless(made)
        assert sliders(made) == []
        assert missing_titles(made) == []
        assert any(type(widget).__name__ == "RunWidget" for widget in made)
        summary = {"ipywidgets": ipw.__version__, "widgets": len(made)}
        sys.stdout.write(json.dumps(summary) + "\n")


def make_views(root: Path) -> list[Any]:
    """Make a workbench with a finished run, a form for each kind of data, and all other views."""
    run = write_run(root / "runs")
    workbench = Workbench(runs_dir=root / "runs")
    workbench.open(run)
    assert workbench._run.wait(LIMIT_SECONDS)
    plain = PlainView(lambda *_: None)
    feed = RunFeed(run)
    summary = run.summary
    assert feed.news(parts_of(run, summary)) is not None
    plain.show(summary, feed)
    assert "step 156 of 156" in plain._head.value, plain._head.value
    assert set(plain._figure.outputs[0]["data"]) >= {PLOTLY_MIME, "image/png"}
    workbench._ipython_display_()
    figure = workbench.figure()
    assert len(figure.data[0].x) == 156, figure.data[0].x
    fashion = Workbench(RunConfig(data="fashion_mnist"), root / "none")
    predictions = Predictions()
    predictions.show(run, "finished")
    xray = Xray()
    xray.show(run, "finished")
    following = workbench.follow()
    following._ipython_display_()
    return [workbench, fashion, predictions, xray, following, plain]


def nameless(made: list[Any]) -> list[str]:
    """Return the kinds of widgets that have no name for a screen reader."""
    return [
        type(widget).__name__
        for widget in made
        if isinstance(widget, NAMED) and not (widget.description or getattr(widget, "tooltip", ""))
    ]


def sliders(made: list[Any]) -> list[str]:
    """Return the kinds of controls that fail accessibility checks."""
    names = [type(widget).__name__ for widget in made]
    return [name for name in names if name.endswith("Slider") or name == "Play"]


def missing_titles(made: list[Any]) -> list[str]:
    """Return tabs and folds whose titles a page of ipywidgets 8, such as Colab's, cannot read."""
    return [
        f"{type(widget).__name__}: {widget.get_state().get('titles')}"
        for widget in made
        if isinstance(widget, (ipw.Tab, ipw.Accordion))
        and list(widget.get_state().get("titles", ())) != titles(widget)
    ]


def titles(widget: Any) -> list[str | None]:
    """Return the titles that the kernel has."""
    return [widget.get_title(index) for index in range(len(widget.children))]


_ = (IPython.display, matplotlib.backends.backend_agg, matplotlib.figure, pd, go)

if __name__ == "__main__":
    main()
