"""Copies of a run: in its archive, in a zip file, and restored from either."""
