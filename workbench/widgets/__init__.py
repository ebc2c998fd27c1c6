"""The widgets of the workbench: views that change a config and start a run."""

from .workbench import Workbench, follow

__all__ = ["Workbench", "follow"]
