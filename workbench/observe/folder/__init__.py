"""What is written into the folder of a run."""
