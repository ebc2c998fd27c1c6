"""The workbench as widgets: views that change a config and start a run."""

from .workbench import Workbench

__all__ = ["Workbench"]
