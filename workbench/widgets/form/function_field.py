"""The fields of model, data and train step: a row of the catalogue, or a custom function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import ipywidgets as ipw

from workbench.catalog import DATA, MODELS, Choice
from workbench.config import ConfigError
from workbench.fields import FIELDS
from workbench.runs import RunError
from workbench.widgets.parts.page_parts import ANY_WIDTH, set_visible, styled

from .fields import Field, UnreadableError, name_box
from .notebook_function import NotebookFunction, TypedFunctions

USUAL = ""
HERE = "function of the notebook"
OWN = "own function"


class FunctionField(Field):
    """A choice: a row of the catalogue, the `usual` one if there is one, or a custom function.

    A function of the notebook is offered by its name, or its name is typed. Its newest version is
    used.
    """

    def __init__(
        self,
        name: str,
        rows: Mapping[str, Choice],
        *,
        example: str,
        usual: tuple[str, str] | None = None,
        function: NotebookFunction | None = None,
        runs_dir: str | Path | None = None,
    ) -> None:
        """`usual` is the label of the empty choice, and its help.

        `runs_dir` is the folder of runs, which keeps the texts of functions whose names are typed.
        """
        self._rows, self._usual, self._function = rows, usual, function
        label = FIELDS[name].label
        self._typed = TypedFunctions(name, runs_dir)
        options = [] if function is None else [(f"{function.name}()", HERE)]
        options += [] if usual is None else [(usual[0], USUAL)]
        options += [(row.label, key) for key, row in rows.items()]
        options += [("Your own function ...", OWN)]
        control = styled(ipw.Dropdown, options=options, description=label, style=ANY_WIDTH)
        self._own = name_box(
            f"Your function for {label.lower()}", placeholder=example, visible=False
        )
        super().__init__(name, label, control, "")
        self._parts = [control, self._help, self._own]
        self._own.observe(self._on_value, "value")
        self._explain()

    @property
    def of_notebook(self) -> bool:
        """Whether the field's value is a function of the notebook, whose cell may run again."""
        typed = str(self._own.value.strip())
        return self.control.value == HERE or (self.control.value == OWN and typed.isidentifier())

    def read(self) -> str | None:
        function = self._function
        if self.control.value == HERE and function is not None:
            return _address(lambda: function)
        if self.control.value != OWN:
            return self.control.value or None
        typed = str(self._own.value.strip())
        if not typed:
            raise UnreadableError(
                "a function of the notebook, module:function or file.py:function",
                "nothing",
                f"Type the name, or choose a {self.name} from the list.",
            )
        return _address(lambda: self._typed.named(typed)) if typed.isidentifier() else typed

    def write(self, value: str | None) -> None:
        if self._function is not None and self._function.kept(value):
            self.control.value = HERE
            return
        known = value is None or value in self._rows
        if not known:
            self._own.value = self._typed.name_of(value) or value
        self.control.value = (value or USUAL) if known else OWN

    def _on_value(self, change: object) -> None:
        self._explain()
        super()._on_value(change)

    def _explain(self) -> None:
        chosen = self.control.value
        set_visible(self._own, visible=chosen == OWN)
        row = self._rows.get(chosen)
        others = {
            OWN: f"{FIELDS[self.name].help} For a function of the notebook, its name is enough.",
            HERE: "Your function from the notebook. To change it, run its cell again.",
            USUAL: self._usual[1] if self._usual else "",
        }
        self.show_help(row.help if row else others[chosen])


def model_field(
    function: NotebookFunction | None = None, runs_dir: str | Path | None = None
) -> FunctionField:
    """Return the field of the model."""
    usual = "Default for the data", "The default model for the chosen data."
    example = "build_model or my_models.py:build_model"
    return FunctionField(
        "model", MODELS, example=example, usual=usual, function=function, runs_dir=runs_dir
    )


def data_field(
    function: NotebookFunction | None = None, runs_dir: str | Path | None = None
) -> FunctionField:
    """Return the field of the data."""
    example = "load_data or my_data.py:load_data"
    return FunctionField("data", DATA, example=example, function=function, runs_dir=runs_dir)


def step_field(
    function: NotebookFunction | None = None, runs_dir: str | Path | None = None
) -> FunctionField:
    """Return the field of the custom loop's train step."""
    usual = "Default step", "Forward pass, gradients, update: see the script."
    example = "train_step or my_steps.py:train_step"
    return FunctionField(
        "step", {}, example=example, usual=usual, function=function, runs_dir=runs_dir
    )


def _address(find: Callable[[], NotebookFunction]) -> str:
    try:
        return find().address()
    except ConfigError as error:
        rule = error.problems[0].rule
        got = "; ".join(problem.got for problem in error.problems)
        fix = " ".join(dict.fromkeys(problem.fix for problem in error.problems))
        raise UnreadableError(rule, got, fix) from error
    except RunError as error:
        rule = "a function that can be saved in the folder of runs"
        fix = "Pass Workbench a runs_dir that is writable."
        raise UnreadableError(rule, str(error), fix) from error
