"""The outcome of a command: its exit status, or the error that it prints."""

OK, FAILED = 0, 1


class OutputError(Exception):
    """A file cannot be written. The message gives the rule, the problem found and the fix."""
