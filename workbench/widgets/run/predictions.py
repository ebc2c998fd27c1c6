"""The trained model's answers on test images, and its accuracy in each class."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw
import numpy as np

from workbench import units
from workbench.runs import RunError
from workbench.runs.folder.state import LIVE
from workbench.runs.programs.evaluation import saved_evaluation, weights_in_words
from workbench.widgets.kernel.background import run_in_background, waiting
from workbench.widgets.parts import markup
from workbench.widgets.parts.agreeing import Agreeing
from workbench.widgets.parts.page_parts import NO_WIDTH, button, html, row, set_visible, styled
from workbench.widgets.pictures.png import data_uri, png_of

from .confusion import confusion_view

if TYPE_CHECKING:
    from workbench.runs import Run

NO_IMAGES = (
    "These examples cannot be shown as images: an image has the shape (height, width), (height, "
    "width, 1), (height, width, 3) or (height, width, 4)."
)
ALL, WRONG, RIGHT = "all", "wrong", "right"


class Predictions:
    """A page that shows the evaluation of the opened run, made on request."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._evaluation: dict[str, Any] | None = None
        self._evaluate = button(
            "Evaluate", "Evaluate the trained model on the test examples", self._on_evaluate
        )
        self._state = html(description="State of the evaluation")
        self._agreeing = Agreeing(self._say)
        self._classes = html(description="Accuracy by class", visible=False)
        self._confusion = html(description="Confusion matrix", visible=False)
        by_class = styled(ipw.Box, "wb-by-class", children=[self._classes, self._confusion])
        self._which = styled(
            ipw.ToggleButtons, "wb-nolabel", style=NO_WIDTH, visible=False,
            options=[("All saved", ALL), ("Wrong", WRONG), ("Correct", RIGHT)],
            description="Which images",
        )  # fmt: skip
        self._which.observe(lambda _: self._show_images(), "value")
        self._images = html(description="Test images with the model's answers", visible=False)
        title = html(markup.heading("Predictions"), description="Section")
        parts = [
            *(title, row(self._evaluate, self._state), self._agreeing.box, by_class),
            *(self._which, self._images),
        ]
        self.box = styled(ipw.VBox, "wb-section", children=parts)
        self.show(None, "")

    def show(self, run: Run | None, status: str) -> None:
        """Follow the opened run: show its evaluation, or offer one if the run is over."""
        if run is None or status in LIVE:
            self._run = None
            self._agreeing.clear()
            self._evaluate.disabled = True
            self._show_evaluation(None)
            self._state.value = markup.quiet("The model can be evaluated when the run has ended.")
            return
        if self._run is not None and run.id == self._run.id:
            return
        self._run = run
        self._agreeing.clear()
        self._show_evaluation(None)
        try:
            step = run.evaluated_step
        except RunError as error:
            self._evaluate.disabled = True
            self._state.value = markup.quiet(str(error))
            return
        self._evaluate.disabled = False
        weights = weights_in_words(step)
        self._state.value = markup.quiet(f"Not evaluated yet. Evaluate tests {weights}.")
        if saved_evaluation(run.dir, step) is not None:
            self._read(run)

    def _on_evaluate(self, _: Any) -> None:
        if self._run is not None:
            self._agreeing.before(self._run, partial(self._begin, self._run))

    def _begin(self, run: Run) -> None:
        self._evaluate.disabled = True
        self._state.value = markup.quiet("Evaluating the model; this takes seconds ...")
        run_in_background(waiting()(run.evaluate), lambda _: self._read(run), self._failed)

    def _say(self, level: str, text: str) -> None:
        self._state.value = markup.notice(level, text) if level == "error" else markup.quiet(text)

    def _read(self, run: Run) -> None:
        self._evaluate.disabled = False
        if self._run is not run:
            return
        try:
            evaluation = json.loads((run.dir / "evaluation.json").read_text(encoding="utf-8"))
            self._show_evaluation(evaluation)
        except (OSError, ValueError, KeyError) as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self._evaluate.disabled = False
        self._state.value = markup.notice("error", f"The model could not be evaluated: {error}")

    def _show_evaluation(self, evaluation: dict[str, Any] | None) -> None:
        self._evaluation = evaluation
        for part in (self._classes, self._confusion, self._which, self._images):
            set_visible(part, visible=evaluation is not None)
        if evaluation is None:
            return
        accuracy = units.percent(evaluation.get("test_accuracy"))
        loss = units.number(evaluation.get("test_loss"))
        step = evaluation.get("checkpoint_step")
        weights = "" if step is None else f", with {weights_in_words(step)}"
        self._state.value = markup.quiet(f"Test accuracy {accuracy}, test loss {loss}{weights}.")
        if not evaluation["classes"]:
            self._classes.value = markup.quiet(
                "This model does not predict classes, so there is no accuracy by class."
            )
            for part in (self._confusion, self._which, self._images):
                set_visible(part, visible=False)
            return
        self._classes.value = _class_table(evaluation["classes"])
        self._confusion.value = confusion_view(evaluation)
        self._show_images()

    def _show_images(self) -> None:
        if self._run is None or self._evaluation is None:
            return
        with np.load(self._run.dir / "predictions.npz", allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        there = "images" in arrays
        set_visible(self._which, visible=there)
        names = _names(self._evaluation)
        self._images.value = (
            _figures(arrays, names, self._which.value) if there else markup.quiet(NO_IMAGES)
        )


def _names(evaluation: dict[str, Any]) -> list[str]:
    """Return the class names by class number. Earlier releases kept only those with examples."""
    if "confusion" in evaluation:
        return list(evaluation["confusion"]["names"])
    return [row["name"] for row in evaluation["classes"]]


def _class_table(classes: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td>{markup.text(row['name'])}</td>"
        f'<td class="wb-number">{row["examples"]:,}</td>'
        f'<td class="wb-number">{units.percent(row["accuracy"])}</td>'
        f'<td><span class="wb-share"><span style="width:{(row["accuracy"] or 0):.1%}"></span>'
        "</span></td></tr>"
        for row in classes
    )
    head = '<th>Class</th><th class="wb-number">Examples</th><th class="wb-number">Correct</th>'
    share = '<th><span class="wb-hidden">Share that is correct</span></th>'
    caption = '<caption class="wb-hidden">Accuracy by class</caption>'
    return (
        markup.heading("Accuracy by class", 3)
        + f'<table class="wb-table wb-narrow">{caption}<thead><tr>{head}{share}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _figures(arrays: dict[str, Any], names: list[str], which: str) -> str:
    right = arrays["answers"] == arrays["labels"]
    wanted = {ALL: np.full(len(right), True), RIGHT: right, WRONG: ~right}[which]
    shown = "".join(_figure(arrays, names, at) for at in np.flatnonzero(wanted).tolist())
    about = f"{wanted.sum()} test images. The saved images include the most confident mistakes."
    return f'{markup.quiet(about)}<div class="wb-images">{shown}</div>'


def _figure(arrays: dict[str, Any], names: list[str], at: int) -> str:
    label, answer = (int(arrays[name][at]) for name in ("labels", "answers"))
    answer_name, label_name = (names[n] if n < len(names) else str(n) for n in (answer, label))
    sure = f"{float(arrays['confidence'][at]):.0%}"
    right = label == answer
    caption = f"{answer_name}, {sure}"
    caption += "" if right else f"; it is {label_name}"
    source = data_uri(png_of(arrays["images"][at]))
    mark = "right" if right else "wrong"
    alt = f"Test image of {markup.text(label_name)}"
    wrong = "" if right else "<b>Wrong:</b> "
    return (
        f'<figure class="wb-{mark}"><img alt="{alt}" src="{source}">'
        f"<figcaption>{wrong}{markup.text(caption)}</figcaption></figure>"
    )
