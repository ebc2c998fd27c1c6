"""The files of a run's folder: what each holds, how it is written and read."""
