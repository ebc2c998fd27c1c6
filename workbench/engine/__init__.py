"""The TensorFlow code of runs: one file per catalogue entry, copied whole into generated scripts.

At run time these files import nothing of the workbench. Names that another slot of the script
provides are imported under `TYPE_CHECKING`, so formatter, linter and type checker see real code.
The programs that the run's interpreter executes besides training are in `programs`.
"""
