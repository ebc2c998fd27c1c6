"""The only TensorFlow code: a file a catalogue entry, lifted whole into the generated script.

Those files import nothing of ours at run time. What another slot of the script provides is named
under `TYPE_CHECKING`, so that formatter, linter and type checker see real code.
What the run's interpreter does beside training is in `programs`.
"""
