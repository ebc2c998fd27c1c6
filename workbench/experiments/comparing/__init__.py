"""Groups of runs, measured and compared, with a recommendation."""
