"""The TensorFlow code of runs: a file for each part of a script, with a function for each kind.

Of the functions `NAME__KIND`, a script gets one, as `NAME`, with the functions of the file that it
calls. So these files have only functions, imports and a docstring at their top level.

At run time these files import nothing of the workbench. Names that another slot of the script
provides are imported under `TYPE_CHECKING`, so formatter, linter and type checker see real code.
The programs that the run's interpreter executes besides training are in `programs`.
"""
