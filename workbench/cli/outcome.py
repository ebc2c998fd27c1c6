"""How a command ends: its exit status, or the error that it prints."""

OK, FAILED = 0, 1


class OutputError(Exception):
    """A file that is not written: the rule, what was met, the change that fixes it."""
