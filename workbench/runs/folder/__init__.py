"""The files of a run folder: their content, and how they are written and read."""
