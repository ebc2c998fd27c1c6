"""Comparisons as processes: candidates that a queue trains in turn, and the list of comparisons."""
