"""What a run recorded: read from its folder into arrays, curves and frames."""
