"""The supervision of a run: its supervisor, its tasks, and the reason of its end."""
