"""One run: its view, its actions, and the list of all runs."""
