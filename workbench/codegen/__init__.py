"""`Plan` -> script: complete functions, lifted from the engine's files, fill the slots."""

from .notebook import render_notebook
from .script import needs_starter, render_model, render_script

__all__ = ["needs_starter", "render_model", "render_notebook", "render_script"]
