"""`Plan` -> script: fills the slots with whole functions lifted from the engine's files."""

from .notebook import render_notebook
from .script import render_script

__all__ = ["render_notebook", "render_script"]
