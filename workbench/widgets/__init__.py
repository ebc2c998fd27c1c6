"""The workbench as widgets: views that change a config and start a run."""

from .workbench import Workbench, follow

__all__ = ["Workbench", "follow"]
