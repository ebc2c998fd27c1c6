"""The command `workbench`."""

from .main import main

__all__ = ["main"]
