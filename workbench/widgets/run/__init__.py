"""One run: its view, what can be done with it, and the list of all."""
