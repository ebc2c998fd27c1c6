"""The times of a step and of its parts, as a program."""
