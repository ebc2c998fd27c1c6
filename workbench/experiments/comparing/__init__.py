"""Comparisons: candidates are trained one after another, measured, and compared."""
