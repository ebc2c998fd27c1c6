"""The version of the workbench."""

__version__ = "0.1.0"
