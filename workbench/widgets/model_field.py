"""The field of the model: the data's usual one, another of the catalogue, or one's own function."""

from __future__ import annotations

import ipywidgets as ipw

from workbench.catalog import MODELS
from workbench.config import ConfigError
from workbench.field_help import FIELD_HELP
from workbench.runs import RunError

from .fields import Field, UnreadableError, name_box
from .notebook_function import NotebookFunction

USUAL = ""
HERE = "function of the notebook"
OWN = "own function"


class ModelField(Field):
    """A model of the catalogue, the data's usual one, or one's own function.

    A function of the notebook is offered by its name, and is what it is in the notebook now.
    """

    def __init__(self, function: NotebookFunction | None = None) -> None:
        self._function = function
        options = [] if function is None else [(f"{function.name}()", HERE)]
        options += [("The data's usual model", USUAL)]
        options += [(row.label, key) for key, row in MODELS.items()]
        options += [("Your own function ...", OWN)]
        control = ipw.Dropdown(
            options=options, description="Model", style={"description_width": "initial"}
        )
        self._own = name_box("Your function", "my_models.py:make_model")
        super().__init__("model", "Model", control, "")
        self.box.children = [control, self._help, self._own, self._problems]
        self._own.observe(self._on_value, "value")
        self._explain()

    def read(self) -> str | None:
        if self.control.value == HERE and self._function is not None:
            return _address(self._function)
        if self.control.value != OWN:
            return self.control.value or None
        typed = self._own.value.strip()
        if not typed:
            raise UnreadableError(
                "named as module:function or file.py:function",
                "nothing",
                "Type the name, or choose a model of the list.",
            )
        return str(typed)

    def write(self, value: str | None) -> None:
        if self._function is not None and self._function.kept(value):
            self.control.value = HERE
            return
        known = value is None or value in MODELS
        if not known:
            self._own.value = value
        self.control.value = (value or USUAL) if known else OWN

    def _on_value(self, change: object) -> None:
        self._explain()
        super()._on_value(change)

    def _explain(self) -> None:
        chosen = self.control.value
        self._own.layout.display = None if chosen == OWN else "none"
        row = MODELS.get(chosen)
        others = {
            OWN: FIELD_HELP["model"],
            HERE: "Your function as it is now: run its cell again to change it.",
            USUAL: "The model that the data is usually trained with.",
        }
        self.show_help(row.help if row else others[chosen])


def _address(function: NotebookFunction) -> str:
    try:
        return function.address()
    except ConfigError as error:
        rule = error.problems[0].rule
        got = "; ".join(problem.got for problem in error.problems)
        fix = " ".join(dict.fromkeys(problem.fix for problem in error.problems))
        raise UnreadableError(rule, got, fix) from error
    except RunError as error:
        rule = "kept beside the runs, in a folder that can be written"
        fix = "Give Workbench another runs_dir."
        raise UnreadableError(rule, str(error), fix) from error
