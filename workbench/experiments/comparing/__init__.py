"""Comparisons: candidates trained one after the other, measured, and set side by side."""
