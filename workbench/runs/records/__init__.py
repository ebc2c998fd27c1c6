"""The records of a run, read from its folder into arrays, curves and frames."""
