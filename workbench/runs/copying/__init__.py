"""Copies of a run: in its archive, in a zip file, and brought back from either."""
