"""Watching over a run: its supervisor, its tasks, and why it ended as it did."""
